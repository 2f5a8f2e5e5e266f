import Instruments
import Messages
import Seismology
import SignalProcessing
import Values
import Vibration

/// Rules between several settings; each is a function of its own and reports at the setting that would be changed to
/// mend it. What depends on the sample rate is checked against `sensor.rate_hz`, except that a recording has its own
/// rate: then the station checks when it is open.
enum CrossFieldRules {
    struct Rule: Sendable {
        /// Settings, or groups of them, that the rule looks at: while one of them has an error of its own, the rule
        /// has nothing to say.
        var uses: [String]
        var check: @Sendable (Configuration, inout Findings) -> Void
    }

    private static let rules: [Rule] = [
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver", "/conditioning/offset"], check: offsetCorner),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver"], check: filterCorners),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver"], check: testSignals),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver", "/sensor/simulate"], check: simulatedSine),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver"], check: windows),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver", "/spectrum/min_hz"], check: spectrumBand),
        Rule(
            uses: ["/sensor/rate_hz", "/sensor/driver", "/intensity/jma_window_s", "/spectrum/window_s"],
            check: transformWindows),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver", "/vibration"], check: vibration),
        Rule(uses: ["/sensor/mounting"], check: mounting),
        Rule(uses: ["/sensor/driver", "/sensor/replay/file"], check: replayFile),
        Rule(uses: ["/sensor/rate_hz", "/sensor/driver", "/trace/enabled", "/trace/rate_hz"], check: traceRate),
        Rule(uses: ["/trace/enabled", "/trace/rate_hz", "/trace/block_s"], check: traceBlock),
        Rule(uses: ["/waveform/enabled", "/waveform/encoding"], check: waveformCodes),
        Rule(uses: ["/alarm/network/enabled", "/station/latitude", "/station/longitude"], check: warning),
        Rule(uses: ["/mqtt/tls"], check: certificate),
        Rule(uses: ["/mqtt/home_assistant", "/mqtt/openeew", "/mqtt/root"], check: othersTopics),
        Rule(uses: ["/mqtt/reconnect"], check: reconnect),
    ]

    /// The errors of a snapshot.
    ///
    /// - Parameter known: errors that single settings have; these are at their defaults in the snapshot, and are not
    ///   judged a second time.
    static func errors(of configuration: Configuration, beside known: [CodedError]) -> [CodedError] {
        // A text that could not be read at all says nothing of any setting.
        if known.contains(where: { $0.path.isEmpty }) { return [] }
        let wrong = known.map(\.path)
        var findings = Findings()
        for rule in rules + DetectorRules.all {
            let isSettled = !rule.uses.contains { group in
                wrong.contains { JSONPointer.isPrefix(group, of: $0) || JSONPointer.isPrefix($0, of: group) }
            }
            if isSettled { rule.check(configuration, &findings) }
        }
        return findings.errors.filter { error in
            guard let (setting, key) = concrete(error.path) else { return true }
            return ![key, setting.key].contains { one in
                wrong.contains { JSONPointer.isPrefix(JSONPointer.of(key: one), of: $0) }
            }
        }
    }

    // MARK: Against the rate

    /// The rate when it is known from the settings.
    static func rate(_ c: Configuration) -> Double? {
        c.sensor.driver == .replay ? nil : c.sensor.rate
    }

    private static func belowNyquist(
        _ frequency: Double, _ what: String, _ path: String, _ rate: Double, named name: String = "sensor.rate_hz",
        _ findings: inout Findings
    ) {
        guard frequency >= rate / 2 else { return }
        findings.add(
            path, .crossField,
            "\(what) must be below half of the sample rate, and \(name) is \(shortText(rate)).",
            got: .shortest(frequency), allowed: "above 0, below \(shortText(rate / 2)) Hz")
    }

    private static func vibration(_ c: Configuration, _ findings: inout Findings) {
        let vibration = c.vibration
        if 3600 % vibration.interval != 0 {
            findings.add(
                "/vibration/interval_s", .crossField, "The interval must divide an hour.",
                got: .int(Int64(vibration.interval)), allowed: "such as 10, 20, 30, 60, 300, 600, 900, 1800, 3600 s")
        }
        if vibration.band == .own, vibration.upper <= vibration.lower {
            findings.add(
                "/vibration/upper_hz", .crossField, "The band does not rise.", got: .shortest(vibration.upper),
                allowed: "above vibration.lower_hz, which is \(shortText(vibration.lower)) Hz")
        }
        if 86_400 % vibration.modesPeriod != 0 {
            findings.add(
                "/vibration/modes_s", .crossField, "The period must divide a day.",
                got: .int(Int64(vibration.modesPeriod)), allowed: "such as 1800, 3600, 7200, 21600, 43200, 86400 s")
        }
        let needed = VibrationConfiguration.rateOfModes * vibration.modesTop
        if vibration.modes, let rate = rate(c), rate < needed * 0.995 {
            findings.add(
                "/vibration/modes_top_hz", .crossField,
                "Modes up to \(shortText(vibration.modesTop)) Hz need \(shortText(needed)) samples a second.",
                got: .shortest(vibration.modesTop), allowed: "at most \(shortText(rate / 2.5)) Hz")
        }
        guard vibration.enabled, let rate = rate(c) else { return }
        if rate < FrequencyWeighting.leastRate {
            findings.add(
                "/vibration/enabled", .crossField, VibrationError.weighting(rate: rate).message, got: .bool(true),
                allowed: "false at this rate")
        }
        let band = vibration.measurement.band
        if rate < band.rateNeeded * 0.995 {
            findings.add(
                vibration.band == .own ? "/vibration/upper_hz" : "/vibration/band", .crossField,
                VibrationError.band(band, rate: rate).message,
                got: vibration.band == .own ? .shortest(vibration.upper) : .string(vibration.band.rawValue),
                allowed: "a band up to \(shortText(0.4 * rate)) Hz")
        }
    }

    private static func warning(_ c: Configuration, _ findings: inout Findings) {
        guard c.alarm.network.enabled else { return }
        for (name, value) in [("latitude", c.station.latitude), ("longitude", c.station.longitude)] where value == nil {
            findings.add(
                "/alarm/network/enabled", .crossField,
                "The arrival of a wave can only be computed where station.\(name) is given.", got: .bool(true),
                allowed: "false without station.latitude and station.longitude")
            return
        }
    }

    private static func offsetCorner(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c) else { return }
        switch c.conditioning.offset {
        case .highpass(let corner, _), .ema(.corner(let corner)):
            belowNyquist(corner, "The corner", "/conditioning/offset/corner_hz", rate, &findings)
        default: break
        }
    }

    private static func filterCorners(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c) else { return }
        for axis in 0..<3 {
            check(c.axes[axis].filter, "/axes/\(SettingsTable.axisNames[axis])/filter", rate, &findings)
        }
    }

    /// The corners of a filter against a rate that has a name for the message.
    static func check(
        _ filter: FilterSpecification, _ path: String, _ rate: Double, named name: String = "sensor.rate_hz",
        _ findings: inout Findings
    ) {
        switch filter {
        case .none: break
        case .shake(let shake):
            belowNyquist(shake.highestCorner, "The filter's upper corner", path, rate, named: name, &findings)
        case .chain(let stages):
            for (i, stage) in stages.enumerated() { check(stage, "\(path)/chain/\(i)", rate, named: name, &findings) }
        default:
            for one in filter.facts?.frequencies ?? [] {
                belowNyquist(one.frequency, one.what, "\(path)/\(one.path)", rate, named: name, &findings)
            }
        }
    }

    private static func testSignals(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c) else { return }
        for axis in 0..<3 {
            guard case .sine(_, let frequency) = c.axes[axis].signal else { continue }
            let path = "/axes/\(SettingsTable.axisNames[axis])/signal/sine/frequency_hz"
            belowNyquist(frequency, "The sine's frequency", path, rate, &findings)
        }
    }

    private static func simulatedSine(_ c: Configuration, _ findings: inout Findings) {
        guard c.sensor.driver == .simulate, c.sensor.simulate.scenario == .sine else { return }
        belowNyquist(
            c.sensor.simulate.frequency, "The sine's frequency", "/sensor/simulate/frequency_hz", c.sensor.rate,
            &findings)
    }

    private static func windows(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c) else { return }
        let maximum = Codec<WindowLength>.maximumSamples
        for axis in 0..<3 {
            let path = "/axes/\(SettingsTable.axisNames[axis])/detection/"
            let detection = c.axes[axis].detection
            for (key, length) in [("window", detection.window), ("hold", detection.hold)] {
                let samples = length.samples(at: rate)
                guard samples > maximum else { continue }
                findings.add(
                    path + key, .crossField,
                    "This is \(samples) samples, because sensor.rate_hz is \(shortText(rate)).",
                    got: .int(Int64(samples)), allowed: "1…\(maximum) samples")
            }
        }
    }

    private static func spectrumBand(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c), c.spectrum.lowest >= 0.4 * rate else { return }
        findings.add(
            "/spectrum/min_hz", .crossField,
            "The spectrum ends at 0.4 of the sample rate, and sensor.rate_hz is \(shortText(rate)).",
            got: .shortest(c.spectrum.lowest), allowed: "below \(shortText(0.4 * rate)) Hz")
    }

    private static func transformWindows(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c) else { return }
        let maximum = Double(SpectrumConfiguration.longestWindow)
        for (path, window) in [
            ("/intensity/jma_window_s", c.intensity.jmaWindow), ("/spectrum/window_s", c.spectrum.window),
        ] where window * rate > maximum {
            findings.add(
                path, .crossField, "Too many samples, because sensor.rate_hz is \(shortText(rate)).",
                got: .shortest(window), allowed: "at most \(shortText(maximum / rate)) s")
        }
    }

    private static func traceRate(_ c: Configuration, _ findings: inout Findings) {
        guard let rate = rate(c), c.trace.enabled, c.trace.rate > rate else { return }
        findings.add(
            "/trace/rate_hz", .crossField,
            "Traces cannot be faster than the sensor, and sensor.rate_hz is \(shortText(rate)).",
            got: .shortest(c.trace.rate), allowed: "at most \(shortText(rate)) Hz")
    }

    // MARK: Among themselves

    private static func traceBlock(_ c: Configuration, _ findings: inout Findings) {
        guard c.trace.enabled, c.trace.block * c.trace.rate < 1 else { return }
        findings.add(
            "/trace/block_s", .crossField,
            "A block must hold at least one sample, and trace.rate_hz is \(shortText(c.trace.rate)).",
            got: .shortest(c.trace.block), allowed: "at least \(shortText(1 / c.trace.rate)) s")
    }

    private static func mounting(_ c: Configuration, _ findings: inout Findings) {
        let m = c.sensor.mounting.sources
        func add(_ message: String, allowed: String) {
            findings.add(
                "/sensor/mounting", .crossField, message,
                got: .object(
                    SettingsTable.axisNames.enumerated().map { i, name in
                        .init(name, Codec<MountingConfiguration.Source>.mountingSource.encode(m[i]))
                    }), allowed: allowed)
        }
        guard Set([m.x.axis, m.y.axis, m.z.axis]).count == 3 else {
            return add("Each axis of the sensor must be used once.", allowed: "x, y and z in any order")
        }
        // However it is turned, y follows x as z follows y; each change of a sign makes a mirror image.
        let isCyclic = (m.x.axis + 1) % 3 == m.y.axis
        guard m.x.sign * m.y.sign * m.z.sign * (isCyclic ? 1 : -1) < 0 else { return }
        add(
            "These axes are a mirror image, in which no sensor can be installed: change one sign, or swap two axes.",
            allowed: "the axes of a sensor that is turned, such as {x: +y, y: -x, z: +z}")
    }

    private static func replayFile(_ c: Configuration, _ findings: inout Findings) {
        guard c.sensor.driver == .replay, c.sensor.replay.file.isEmpty else { return }
        findings.add(
            "/sensor/replay/file", .crossField, "The driver replay needs a recording.", got: "",
            allowed: "the path of a CSV or miniSEED file")
    }

    /// The header of miniSEED 2 has 2, 5 and 2 bytes for them.
    private static func waveformCodes(_ c: Configuration, _ findings: inout Findings) {
        let isOfWaveforms = c.waveform.enabled && c.waveform.encoding == .mseed2
        guard isOfWaveforms || c.trace.enabled && c.trace.encoding == .mseed2 else { return }
        let key = isOfWaveforms ? "waveform.encoding" : "trace.encoding"
        let codes = [
            ("network", c.station.network, 2), ("code", c.station.code, 5), ("location", c.station.location, 2),
        ]
        for (name, code, limit) in codes where code.utf8.count > limit {
            findings.add(
                "/station/\(name)", .crossField, "Too long for miniSEED 2 (see \(key)).",
                got: .string(code), allowed: "at most \(limit) characters, or \(key): mseed3")
        }
    }

    private static func certificate(_ c: Configuration, _ findings: inout Findings) {
        let tls = c.mqtt.tls
        if tls.pskIdentity.isEmpty != tls.pskFile.isEmpty {
            findings.add(
                tls.pskFile.isEmpty ? "/mqtt/tls/psk_file" : "/mqtt/tls/psk_identity", .crossField,
                "A shared key and its name belong together.", got: "",
                allowed: "both psk_identity and psk_file, or neither")
        }
        guard tls.certFile.isEmpty != tls.keyFile.isEmpty else { return }
        findings.add(
            tls.certFile.isEmpty ? "/mqtt/tls/cert_file" : "/mqtt/tls/key_file", .crossField,
            "A certificate and its key belong together.", got: "", allowed: "both cert_file and key_file, or neither")
    }

    /// Messages on these topics are not the station's, and must not be taken for its messages or for commands.
    private static func othersTopics(_ c: Configuration, _ findings: inout Findings) {
        let root = c.mqtt.root
        let (home, openEEW) = (c.mqtt.homeAssistant, c.mqtt.openEEW)
        let places = [
            ("home_assistant/prefix", home.enabled, home.prefix), ("openeew/topic", openEEW.enabled, openEEW.topic),
        ]
        for (name, isUsed, topic) in places where isUsed && (topic == root || topic.hasPrefix(root + "/")) {
            findings.add(
                "/mqtt/" + name, .crossField,
                "The topics of stations and their commands are there, because mqtt.root is \(root).",
                got: .string(topic),
                allowed: "not the root or below it")
        }
    }

    private static func reconnect(_ c: Configuration, _ findings: inout Findings) {
        guard c.mqtt.reconnectMinimum > c.mqtt.reconnectMaximum else { return }
        findings.add(
            "/mqtt/reconnect/max_s", .crossField,
            "The longest pause is shorter than mqtt.reconnect.min_s, which is \(shortText(c.mqtt.reconnectMinimum)).",
            got: .shortest(c.mqtt.reconnectMaximum), allowed: "at least \(shortText(c.mqtt.reconnectMinimum)) s")
    }
}

extension CrossFieldRules {
    /// Puts the errors where the values were written: what came from `axes.all` is said once, there.
    static func located(
        _ errors: [CodedError], layers: [Layer], origins: [String: LoadedSettings.Origin]
    ) -> [CodedError] {
        var located: [CodedError] = []
        for error in errors {
            var error = error
            if let (setting, key) = concrete(error.path) {
                let origin = origins[key]
                let written = origin?.pointer ?? JSONPointer.of(key: setting.key)
                error.path = written + error.path.dropFirst(JSONPointer.of(key: key).count)
                error.source = origin?.source ?? .default
                let layer = layers.last { layer in
                    layer.given.contains { $0.key == key && $0.pointer == written && layer.source == origin?.source }
                }
                let mark = layer?.document.mark(at: error.path)
                (error.line, error.column) = (mark?.line, mark?.column)
            } else if let layer = layers.last(where: { $0.given.contains { $0.pointer.hasPrefix(error.path) } }) {
                let mark = layer.document.mark(at: error.path)
                (error.source, error.line, error.column) = (layer.source, mark?.line, mark?.column)
            }
            if !located.contains(error) { located.append(error) }
        }
        return located
    }

    /// The setting at or above a pointer of the merged tree.
    private static func concrete(_ pointer: String) -> (StationSetting, key: String)? {
        for setting in SettingsTable.settings {
            for (key, _) in setting.concreteKeys where JSONPointer.isPrefix(JSONPointer.of(key: key), of: pointer) {
                return (setting, key)
            }
        }
        return nil
    }
}

/// The rules between the settings of detectors: the filter of each against the rate, what its file says, and votes.
enum DetectorRules {
    static let all: [CrossFieldRules.Rule] = {
        var (settings, rules) = (DetectionConfiguration(), Rules())
        settings.visit(&rules)
        let enabled = DetectionConfiguration.names.map { "/detection/\($0)/enabled" }
        return rules.filters + rules.own + [.init(uses: enabled + ["/detection/event/votes"], check: votes)]
    }()

    private static func votes(_ c: Configuration, _ findings: inout Findings) {
        let enabled = c.detection.enabled.count
        guard enabled > 0, c.detection.event.votes > enabled else { return }
        findings.add(
            "/detection/event/votes", .crossField,
            "No event would ever be declared: fewer detectors are enabled than votes are needed.",
            got: .int(Int64(c.detection.event.votes)), allowed: "1…\(enabled)")
    }

    private struct Rules: DetectorSettingsVisitor {
        var filters: [CrossFieldRules.Rule] = []
        var own: [CrossFieldRules.Rule] = []

        mutating func visit<S: DetectorSettings>(_: inout S) {
            let place = "/detection/\(S.name)"
            for field in S.fields {
                guard case .ownFilter(let filter) = field.kind else { continue }
                filters.append(
                    .init(uses: ["/sensor/rate_hz", "/sensor/driver", place]) { c, findings in
                        let settings = c.detection[S.self]
                        guard settings.enabled, let rate = CrossFieldRules.rate(c),
                            let specification = settings[keyPath: filter]
                        else { return }
                        CrossFieldRules.check(specification, "\(place)/\(field.key)", rate, &findings)
                    })
            }
            own.append(
                .init(uses: [place]) { c, findings in
                    let settings = c.detection[S.self]
                    guard settings.enabled else { return }
                    for problem in settings.problems {
                        findings.add(
                            "\(place)/\(problem.key)", .crossField, problem.message, got: .shortest(problem.got),
                            allowed: problem.allowed)
                    }
                })
        }
    }
}
