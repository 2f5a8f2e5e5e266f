import Messages
import Seismology
import SignalProcessing
import Testing
import Values

@testable import Settings

/// The errors of a document, in the order in which they were found; none when it is valid.
func errors(
    _ text: String, preset: String? = nil, overlay: Value? = nil, overrides: [String] = []
) -> [CodedError] {
    errors(Array(text.utf8), preset: preset, overlay: overlay, overrides: overrides)
}

func errors(
    _ bytes: [UInt8], preset: String? = nil, overlay: Value? = nil, overrides: [String] = []
) -> [CodedError] {
    do throws(CodedErrors) {
        _ = try Settings.load(
            file: bytes, preset: preset.map { Array($0.utf8) }, overlay: overlay, overrides: overrides)
        return []
    } catch {
        return error.errors
    }
}

func load(
    _ text: String?, preset: String? = nil, overlay: Value? = nil, overrides: [String] = []
) throws(CodedErrors) -> LoadedSettings {
    try Settings.load(
        file: text.map { Array($0.utf8) }, preset: preset.map { Array($0.utf8) }, overlay: overlay,
        overrides: overrides)
}

@Suite struct LoadTests {
    @Test func withoutAnySourceEverythingIsAtItsDefault() throws {
        let loaded = try load(nil)
        #expect(loaded.configuration == Configuration())
        #expect(loaded.origins.isEmpty && loaded.locked.isEmpty)
        #expect(loaded.effective["trace"]?["rate_hz"] == 20)
        #expect(loaded.effective["axes"]?["y"]?["detection"]?["window"] == "1 s")
        #expect(loaded.effective["station"]?["latitude"] == .null)
    }

    /// Everything that settings.md shows, as far as this version has it.
    @Test func aWholeFileIsDecoded() throws {
        let text = """
            station: {id: basement-north, network: XX, code: BASE, location: "00", latitude: 37.77, longitude: -122.42,
              elevation_m: 16, description: "Basement, north wall", groups: [school, all-floors]}
            sensor:
              driver: simulate
              rate_hz: 200
              range: 4 g
              mounting: {x: +y, y: -x, z: z, north_deg: 12.5}
              simulate: {noise: 0.1 mg, scenario: table-knock, seed: 7, amplitude: 0.5 g, frequency_hz: 3}
              replay: {file: record.mseed, speed: 0, loop: true, scale: [1, 2, -3e-6], unit: g}
            conditioning: {offset: {mode: ema, alpha: 0.1}, settle_s: 0}
            axes:
              all:
                signal: {sine: {frequency_hz: 1 Hz}}
                filter: {chain: [{butterworth: {type: lowpass, corner_hz: 10, order: 4}}, none]}
                detection: {window: 20, threshold: 4.9 gal, hold: 200 ms}
              z: {signal: impulse, filter: none}
            detection:
              level: {enabled: false, axes: two}
              event: {votes: 1, pre_event_s: 5, post_event_s: 1 min, max_event_s: 100, dead_time_s: 0, min_intensity: 2.5}
            intensity: {scales: [wald99, worden12], horizontal: vector, window_s: 20, jma_window_s: 30}
            spectrum: {window_s: 1 min, min_hz: 500 mHz}
            trace: {enabled: false, rate_hz: 10, block_s: 2, signals: [rms], filter: iir, encoding: mseed3, only_in_events: true, qos: 0}
            waveform: {enabled: false, encoding: mseed3, chunk_s: 5}
            mqtt:
              uri: [mqtts://broker.example:8883, "mqtt://[::1]"]
              protocol: 3.1.1
              root: a/b
              username: u
              password_file: /p
              tls: {ca_file: /ca, cert_file: /cert, key_file: /key, alpn: mqtt, min_version: 1.3}
              keepalive_s: 60
              reconnect: {min_s: 2, max_s: 60}
              will_delay_s: 0
            health: {interval_s: 30}
            log: {level: debug}
            locked: [mqtt, sensor.rate_hz]
            """
        let loaded = try load(text)
        let c = loaded.configuration
        var expected = Configuration()
        expected.station = {
            var s = StationIdentity()
            (s.id, s.code, s.latitude, s.longitude, s.elevation) = ("basement-north", "BASE", 37.77, -122.42, 16)
            (s.description, s.groups) = ("Basement, north wall", ["school", "all-floors"])
            return s
        }()
        #expect(c.station == expected.station)
        #expect(c.sensor.driver == .simulate && c.sensor.rate == 200 && c.sensor.range == 4 * standardGravity)
        #expect(c.sensor.mounting.sources.x == .init(axis: 1, sign: 1))
        #expect(c.sensor.mounting.sources.y == .init(axis: 0, sign: -1))
        #expect(c.sensor.mounting.sources.z == .init(axis: 2, sign: 1) && c.sensor.mounting.north == 12.5)
        #expect(c.sensor.simulate.noise == 1e-4 * standardGravity && c.sensor.simulate.scenario == .tableKnock)
        #expect(c.sensor.simulate.seed == 7 && c.sensor.simulate.amplitude == 0.5 * standardGravity)
        #expect(c.sensor.simulate.frequency == 3)
        #expect(c.sensor.replay.file == "record.mseed" && c.sensor.replay.speed == 0 && c.sensor.replay.loop)
        #expect(c.sensor.replay.scale?[1] == 2 && c.sensor.replay.scale?[2] == -3e-6 && c.sensor.replay.unit == .g)
        #expect(c.conditioning == .init(offset: .ema(.alpha(0.1)), settle: 0))
        #expect(c.axes.x == c.axes.y)
        #expect(c.axes.x.signal == .sine(amplitude: standardGravity, frequency: 1))
        #expect(
            c.axes.x.filter
                == .chain([.butterworth(.init(band: .lowpass, corners: [10], order: 4, start: .zero)), .none]))
        #expect(c.axes.z.filter == .none && c.axes.z.signal == .impulse(amplitude: standardGravity))
        for axis in 0..<3 {
            let detection = c.axes[axis].detection
            #expect(detection == .init(window: .samples(20), threshold: 0.049, hold: .seconds(0.2)))
        }
        #expect(!c.detection.level.enabled && c.detection.level.axes == .two)
        #expect(c.detection.event.postEvent == 60 && c.detection.event.minimumIntensity == 2.5)
        #expect(c.detection.event.deadTime == 0 && c.detection.event.maximum == 100 && c.detection.event.preEvent == 5)
        #expect(c.intensity == .init(scales: [.wald99, .worden12], horizontal: .vector, window: 20, jmaWindow: 30))
        #expect(c.spectrum == .init(window: 60, lowest: 0.5))
        #expect(
            c.trace.signals == [.rms] && c.trace.filter == .recursive && c.trace.encoding == .mseed3
                && c.trace.onlyInEvents && c.trace.qos == 0)
        #expect(c.waveform == .init(enabled: false, encoding: .mseed3, chunk: 5))
        #expect(c.mqtt.uris == ["mqtts://broker.example:8883", "mqtt://[::1]"] && c.mqtt.protocolVersion == .v311)
        #expect(
            c.mqtt.tls
                == .init(caFile: "/ca", certFile: "/cert", keyFile: "/key", alpn: "mqtt", minimumVersion: .v13))
        #expect(c.mqtt.root == "a/b" && c.mqtt.username == "u" && c.mqtt.passwordFile == "/p")
        #expect(c.mqtt.keepalive == 60 && c.mqtt.willDelay == 0)
        #expect(c.mqtt.reconnectMinimum == 2 && c.mqtt.reconnectMaximum == 60)
        #expect(c.health.interval == 30 && c.log.level == .debug)
        #expect(loaded.isLocked("mqtt.uri") && loaded.isLocked("sensor.rate_hz") && !loaded.isLocked("trace.rate_hz"))
        #expect(loaded.isLocked("sensor.replay.file"), "never remote")
        #expect(
            loaded.sources["axes.z.filter"] == .file && loaded.origins["axes.x.filter"]?.pointer == "/axes/all/filter")
    }

    /// The power of ten of a unit goes into the number, so that nothing is rounded twice.
    @Test func quantitiesAreExact() throws {
        let cases: [(String, Double)] = [
            ("4.9 gal", 0.049), ("5 mg", 5e-3 * standardGravity), ("0.05 m/s^2", 0.05), ("0.05 m/s²", 0.05),
            ("0.3g", 0.3 * standardGravity),
            ("-1.5e2 ug", -1.5e-4 * standardGravity), ("+.5 mm/s^2", 5e-4),
        ]
        for (text, value) in cases { #expect(Quantity.acceleration.parse(text) == value, "\(text)") }
        let times: [(String, Double)] = [("200 ms", 0.2), ("2 min", 120), ("1 h", 3600), ("1.5s", 1.5)]
        for (text, value) in times { #expect(Quantity.time.parse(text) == value, "\(text)") }
        #expect(Quantity.velocity.parse("0.5 cm/s") == 0.005 && Quantity.velocity.parse("2 mm/s") == 0.002)
        #expect(Quantity.frequency.parse("0.2 kHz") == 200 && Quantity.frequency.parse("31250 mHz") == 31.25)
        let bad: [String] = [
            "", "g", "5", "5 G", "5 mg ", "5  m g", "1e g", "1e400 g", "1e99999999999999999999 g", "0x5 g", "nan g",
            "inf g", "5 s", "--5 g", String(repeating: "1", count: 100) + " g",
        ]
        for text in bad { #expect(Quantity.acceleration.parse(text) == nil, "\(text)") }
    }

    /// A file of an earlier version is still taken, and the words that have changed are named.
    @Test func wordsOfEarlierVersionsCountAsThoseOfNow() throws {
        let file = "{trace: {encoding: mseed}, waveform: {encoding: mseed3-steim2}}"
        let loaded = try Settings.load(file: Array(file.utf8))
        #expect(loaded.configuration.trace.encoding == .mseed2 && loaded.configuration.waveform.encoding == .mseed3)
        #expect(
            loaded.renamed == [
                "trace.encoding: `mseed` is from an earlier version and counts as `mseed2`: write `mseed2` instead.",
                "waveform.encoding: `mseed3-steim2` is from an earlier version and counts as `mseed3`: write `mseed3` instead.",
            ])
        #expect(loaded.effective["waveform"]?["encoding"] == "mseed3")
        #expect(try Settings.load(file: Array("{trace: {encoding: mseed3}}".utf8)).renamed.isEmpty)
    }
}
