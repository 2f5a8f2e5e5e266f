import Foundation
import Messages
import Seismology
import SignalProcessing
import TestSupport
import Testing
import Values
import Vibration

@testable import Settings

/// What is made from the table agrees with the table, and with the snapshot.
@Suite struct TableTests {
    private static let package = Vectors.folder.deletingLastPathComponent().deletingLastPathComponent()

    @Test func keysAreUniqueAndInTheirChapters() {
        let keys = SettingsTable.settings.map(\.key)
        #expect(Set(keys).count == keys.count)
        for chapter in SettingsTable.chapters {
            for setting in chapter.settings { #expect(setting.key.hasPrefix(chapter.key + ".")) }
        }
        for setting in SettingsTable.settings { #expect(setting.help.hasSuffix(".") || setting.help.hasSuffix(").")) }
    }

    /// The default in the table, as text for people, decodes to the default of the snapshot, to the last bit.
    @Test(arguments: SettingsTable.settings.map(\.key))
    func theDefaultThatIsShownIsTheDefaultOfTheSnapshot(_ key: String) throws {
        let setting = try #require(SettingsTable.setting(key))
        let shown = try YAMLReader.read(Array(("v: " + setting.defaultText).utf8)).root["v"] ?? .null
        for (_, axis) in setting.concreteKeys {
            var configuration = Self.changed
            #expect(configuration != Configuration())
            var findings = Findings()
            setting.read(shown, "", axis, &configuration, &findings)
            #expect(findings.errors == [])
            #expect(setting.write(configuration, axis) == setting.write(Configuration(), axis))
            // The canonical form reads back to the same value too.
            var again = Self.changed
            setting.read(setting.standard, "", axis, &again, &findings)
            #expect(again == configuration && findings.errors == [])
        }
    }

    /// Every property of the snapshot has a row: a file that changes all of them leaves no default.
    @Test func everyPropertyOfTheSnapshotIsInTheTable() throws {
        let effective = Settings.effective(Self.changed)
        let standard = Settings.effective(Configuration())
        for key in SettingsTable.settings.flatMap({ $0.concreteKeys.map(\.key) }) {
            #expect(
                SettingsTree.value(at: key, in: effective) != SettingsTree.value(at: key, in: standard), "\(key)")
        }
        let loaded = try Settings.load(file: effective.json())
        #expect(loaded.configuration == Self.changed)
        #expect(loaded.effective == effective)
        #expect(Set(loaded.origins.keys).count == SettingsTable.concreteCount)
        let properties = Self.leaves(Self.changed)
        #expect(properties == SettingsTable.concreteCount, "\(properties) properties")
    }

    /// How many settings a snapshot has, by reflection: the properties that are not groups of others.
    private static func leaves(_ value: Any) -> Int {
        let mirror = Mirror(reflecting: value)
        let name = String(describing: type(of: value))
        let groups = ["Guard", "Event", "TLS", "HomeAssistant", "OpenEEW", "StationIdentity", "Output", "Network"]
        let isGroup =
            name.hasSuffix("Configuration") || name.hasSuffix("Settings") || groups.contains(name)
            || name == "PerAxis<AxisConfiguration>"
            || name == "PerAxis<Source>" || value is any DetectorSettings
        return isGroup ? mirror.children.reduce(0) { $0 + leaves($1.value) } : 1
    }

    /// Nothing is at its default.
    static let changed: Configuration = {
        var c = Configuration()
        (c.station.id, c.station.network, c.station.code, c.station.location) = ("a-1", "NZ", "WTMC", "10")
        (c.station.latitude, c.station.longitude, c.station.elevation) = (-42.5, 173, -1.25)
        (c.station.description, c.station.groups) = ("Under the \"stairs\", left", ["school"])
        (c.sensor.driver, c.sensor.rate, c.sensor.range) = (.simulate, 187.5, 39.2)
        (c.sensor.mounting.sources.x, c.sensor.mounting.sources.y) = (.init(axis: 2, sign: -1), .init(axis: 0, sign: 1))
        (c.sensor.mounting.sources.z, c.sensor.mounting.north) = (.init(axis: 1, sign: -1), 12.5)
        (c.sensor.mounting.rotation.y, c.sensor.mounting.level) = (2.5, true)
        (c.sensor.resample, c.sensor.selfTest, c.sensor.block) = (true, true, 0.1)
        (c.sensor.calibration.offset.z, c.sensor.calibration.matrix) = (-0.25, [1.01, 0, 0, 0.5, 1, 0, 0, 0, 0.99])
        (c.sensor.iio.device, c.sensor.iio.uri, c.sensor.iio.trigger) = ("adxl355", "ip:board", .hrtimer)
        (c.sensor.i2c.bus, c.sensor.i2c.address, c.sensor.i2c.chip) = (3, 0x1d, "adxl345")
        c.sensor.i2c.dataReady = "gpiochip0:17"
        (c.sensor.simulate.noise, c.sensor.simulate.scenario, c.sensor.simulate.seed) = (0.1, .tableKnock, 1 << 52)
        (c.sensor.simulate.amplitude, c.sensor.simulate.frequency) = (0.1, 0.3)
        (c.sensor.replay.file, c.sensor.replay.speed, c.sensor.replay.loop) = ("/r w.csv", 0, true)
        (c.sensor.replay.scale, c.sensor.replay.unit) = (PerAxis(1), .g)
        c.sensor.replay.scale?.y = -1e-7
        (c.conditioning.offset, c.conditioning.settle) = (.ema(.corner(0.1)), 0)
        c.axes.x.signal = .sine(amplitude: 0.1, frequency: 0.7)
        c.axes.y.signal = .step(amplitude: 1)
        c.axes.z.signal = .impulse(amplitude: 2)
        c.axes.x.filter = .shake(.bp2p5to5o3)
        c.axes.y.filter = .butterworth(.init(band: .highpass, corners: [0.1], order: 10, start: .steady))
        c.axes.z.filter = .chain([
            .none, .shake(.pass), .simple(.init(band: .highpass, corner: 5, adaptive: true)),
            .butterworth(.init(band: .bandstop, corners: [49.9, 50.1], order: 1, start: .zero)),
        ])
        for axis in 0..<3 {
            c.axes[axis].detection.window = axis == 0 ? .samples(1) : .seconds(0.7)
            c.axes[axis].detection.threshold = 0.1 * Double(axis)
            c.axes[axis].detection.hold = axis == 0 ? .seconds(1e-7) : .samples(65536)
        }
        (c.detection.level.enabled, c.detection.level.axes) = (false, .all)
        (c.detection.staLTA.enabled, c.detection.staLTA.method, c.detection.staLTA.signal) = (false, .classic, .each)
        (c.detection.staLTA.filter, c.detection.staLTA.sta, c.detection.staLTA.lta) = (nil, 0.5, 12.5)
        (c.detection.staLTA.on, c.detection.staLTA.off, c.detection.staLTA.minimumDuration) = (4, 0.5, 0.1)
        (c.detection.staLTA.maximumFrozen, c.detection.staLTA.guard.enabled) = (60, false)
        (c.detection.staLTA.guard.axes, c.detection.staLTA.guard.ratio) = (1, 1.5)
        (c.detection.staLTA.guard.clip, c.detection.staLTA.guard.jump) = (5, 1)
        (c.detection.peak.enabled, c.detection.peak.threshold, c.detection.peak.signal) = (true, 0, .v3)
        c.detection.peak.minimumSamples = 3
        (c.detection.movement.enabled, c.detection.movement.threshold) = (true, 1)
        c.detection.movement.lull = 0.7
        (c.detection.event.votes, c.detection.event.preEvent, c.detection.event.postEvent) = (2, 0, 0)
        (c.detection.event.maximum, c.detection.event.deadTime, c.detection.event.minimumIntensity) = (1, 0, 3.5)
        (c.classification.enabled, c.alarm.enabled, c.alarm.velocity, c.onsite.enabled) = (false, true, 0.1, false)
        c.alarm.probability = 0.95
        (c.alarm.network.enabled, c.alarm.network.intensity, c.alarm.network.stations) = (true, 4, 8)
        (c.alarm.gpio.line, c.alarm.gpio.button) = ("gpiochip0:17", "gpiochip4:22")
        (c.alarm.gpio.active, c.alarm.gpio.seconds) = (.low, 5)
        (c.intensity.scales, c.intensity.horizontal, c.intensity.window) = ([.wald99, .cwa, .jma], .vector, 7)
        (c.vibration.enabled, c.vibration.band, c.vibration.lower, c.vibration.upper) = (true, .own, 2, 30)
        (c.vibration.interval, c.vibration.weighting, c.vibration.warnShare) = (10, .bs6472, 0.5)
        (c.vibration.limit, c.vibration.utcOffset) = (VibrationLimit("bs7385-2:dwellings"), 1)
        (c.vibration.keepDays, c.vibration.modes, c.vibration.modesPeriod) = (30, true, 7200)
        c.vibration.modesTop = 12
        (c.intensity.jmaWindow, c.spectrum) = (30, .init(window: 5, lowest: 0.5))
        (c.trace.enabled, c.trace.rate, c.trace.block, c.trace.signals) = (false, 12.5, 2, [.rms, .raw])
        (c.trace.encoding, c.trace.onlyInEvents, c.trace.qos) = (.mseed3, true, 0)
        c.trace.filter = .recursive
        (c.waveform.enabled, c.waveform.encoding, c.waveform.chunk) = (false, .mseed3, 5)
        (c.mqtt.uris, c.mqtt.protocolVersion) = (["mqtts://a.b:8883", "mqtt://[::1]:1"], .v311)
        (c.mqtt.root, c.mqtt.username, c.mqtt.password, c.mqtt.passwordFile) = ("a/b", "u", "***", "/p")
        c.mqtt.clientID = "house-a-1"
        (c.mqtt.tls.caFile, c.mqtt.tls.certFile, c.mqtt.tls.keyFile) = ("/ca", "/c", "/k")
        (c.mqtt.tls.alpn, c.mqtt.tls.minimumVersion) = ("mqtt", .v13)
        (c.mqtt.tls.pskIdentity, c.mqtt.tls.pskFile) = ("board", "/psk")
        (c.mqtt.keepalive, c.mqtt.reconnectMinimum, c.mqtt.reconnectMaximum, c.mqtt.willDelay) = (5, 0.5, 60, 0)
        c.mqtt.maximumPacket = 9000
        (c.mqtt.homeAssistant.enabled, c.mqtt.homeAssistant.prefix) = (false, "house/ha")
        (c.mqtt.homeAssistant.birthTopic, c.mqtt.homeAssistant.birthPayload) = ("ha/birth", "up")
        (c.mqtt.homeAssistant.discovery, c.mqtt.homeAssistant.page) = (.components, "https://page/#/station/{id}")
        (c.mqtt.openEEW.enabled, c.mqtt.openEEW.topic, c.mqtt.openEEW.country) = (true, "here/traces", "mx")
        (c.storage.directory, c.storage.budget, c.storage.ringMinutes) = ("/srv/x", 1024, 0)
        (c.storage.keepEventsDays, c.storage.backfillRate) = (7, 200)
        (c.health.interval, c.log.level) = (10, .debug)
        for setting in SettingsTable.settings where setting.key.hasPrefix("detection.") {
            var findings = Findings()
            if setting.write(c, 0) == setting.standard { setting.read(other(setting), "", 0, &c, &findings) }
        }
        return c
    }()

    /// A value of a detector's setting that is not its default: one does not have to be written down here for each.
    private static func other(_ setting: StationSetting) -> Value {
        switch setting.standard {
        case .bool(let flag): return .bool(!flag)
        case .int(let number): return .double(0.9 * Double(number))
        case .double(let number): return .double(0.9 * number)
        case .string(let word):
            if case .array(let words)? = setting.valueSchema["enum"] {
                return words.first { $0 != .string(word) } ?? .null
            }
            return "none"
        default: return "axes"
        }
    }

    @Test func theAnnotatedDefaultIsTheStoredFileAndGivesTheDefaults() throws {
        let stored = try String(
            contentsOf: Self.package.appendingPathComponent("config/seismote.yaml"), encoding: .utf8)
        #expect(stored == DefaultFile.text, "make it again: seismote config default > config/seismote.yaml")
        let loaded = try load(DefaultFile.text)
        #expect(loaded.configuration == Configuration())
        for setting in SettingsTable.settings where !setting.takesNull {
            for (key, _) in setting.concreteKeys { #expect(loaded.origins[key] != nil, "\(key)") }
        }
        #expect(!DefaultFile.text.split(separator: "\n").contains { $0.hasSuffix(" ") || $0.count > 120 })
    }

    @Test func presetsAreTheStoredFilesAndValid() throws {
        let folder = Self.package.appendingPathComponent("config/presets")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(files == Preset.all.map { $0.name + ".yaml" }.sorted())
        for preset in Preset.all {
            let stored = try String(contentsOf: folder.appendingPathComponent(preset.name + ".yaml"), encoding: .utf8)
            #expect(stored == preset.text, "\(preset.name): config/presets and Sources/Core/Settings/Presets differ")
            let loaded = try load(nil, preset: preset.text)
            #expect((loaded.configuration == Configuration()) == (preset.name == "seismology"), "\(preset.name)")
        }
    }

    @Test func theManualHasEveryKey() {
        for setting in SettingsTable.settings { #expect(SettingsManual.text.contains("| `\(setting.key)` |")) }
    }

    // MARK: Schema

    /// What the decoder takes, beside what it refuses (`BadDocumentTests`). `deploy/checks/schema` sets `SEISMOTE_EXPORT` to
    /// a file, and has an evaluator of JSON Schema that is not ours judge the same documents.
    @Test func theDecoderTakesAndRefusesWhatTheSchemaIsHeldAgainst() throws {
        var documents = [DefaultFile.text, String(decoding: Settings.effective(Self.changed).json(), as: UTF8.self)]
        documents += Preset.all.map(\.text)
        documents += [
            "{}", "mqtt: {protocol: \"5\"}", "mqtt: {protocol: 3.1.1}", "trace: {qos: 1.0}", "axes: {all: {}, x: {}}",
            "axes: {x: {signal: {step: {}}}}", "axes: {x: {signal: {sine: {frequency_hz: 500 mHz}}}}",
            "axes: {x: {detection: {threshold: 0.05 m/s²}}}", "axes: {x: {detection: {threshold: .5e-2g}}}",
            "sensor: {mounting: {x: y, y: -x}}", "conditioning: {settle_s: null}", "conditioning: {settle_s: 2 min}",
            "sensor: {simulate: {noise: 30 ug}}", "health: {interval_s: 1 h}", "locked: [axes.x.filter, mqtt]",
            "conditioning: {offset: {mode: mean_first, seconds: 2 s}}", "conditioning: {offset: {mode: none}}",
        ]
        for text in documents { #expect(errors(text) == [], "\(text)") }
        guard let file = ProcessInfo.processInfo.environment["SEISMOTE_EXPORT"] else { return }
        let trees = try (documents + BadDocument.single.map(\.text)).map {
            String(decoding: try YAMLReader.read(Array($0.utf8)).root.json(), as: UTF8.self)
        }
        try Data((trees.joined(separator: "\n") + "\n").utf8).write(to: URL(fileURLWithPath: file))
    }

    /// Forms show titles in place of keys: one for each setting and each group, none twice in a group.
    @Test func everyGroupHasATitleAndNoTitleStandsTwiceInAGroup() throws {
        func title(_ schema: Value) -> String? { if case .string(let text)? = schema["title"] { text } else { nil } }
        func look(_ schema: Value, at path: String) {
            let target = schema["$ref"] == nil ? schema : SettingsSchema.value["$defs"]?["axis"] ?? schema
            guard case .object(let members)? = target["properties"] else { return }
            let titles = members.compactMap { title($0.value) }
            #expect(Set(titles).count == titles.count, "\(path)")
            for member in members where member.value["$ref"] == nil {
                #expect(title(member.value)?.isEmpty == false, "\(path).\(member.key)")
                look(member.value, at: "\(path).\(member.key)")
            }
        }
        look(SettingsSchema.value, at: "")
        look(try #require(SettingsSchema.value["$defs"]?["axis"]), at: "axes.all")
        #expect(SettingsSchema.value["$defs"]?["axis"]?["properties"]?["detection"]?["title"] == "Level detection")
    }

    @Test func theSchemaAnnotatesEverySetting() throws {
        for setting in SettingsTable.settings {
            let schema = SettingsSchema.annotated(setting)
            for keyword in ["title", "description", "default", "x-apply", "x-remote", "x-secret"] {
                #expect(schema[keyword] != nil, "\(setting.key)")
            }
        }
        let rate = SettingsSchema.value["properties"]?["trace"]?["properties"]?["rate_hz"]
        #expect(rate?["default"] == 20 && rate?["x-unit"] == "Hz" && rate?["x-apply"] == "live")
        #expect(rate?["title"] == "Trace rate" && rate?["x-advanced"] == nil)
        let qos = SettingsSchema.value["properties"]?["trace"]?["properties"]?["qos"]
        #expect(qos?["x-advanced"] == true)
        let password = SettingsSchema.value["properties"]?["mqtt"]?["properties"]?["password_file"]
        #expect(password?["x-remote"] == false)
    }
}
