import Instruments
import Seismology
import Values
import Vibration

@testable import Messages

/// One message of each kind with every member set, from fixed numbers.
enum Samples {
    static let boot = "6a1f3c52-9d0e-4b7a-8f21-0c5d7e9b1a34"
    static let onset: Int64 = 1_767_608_430_120_000_000
    static let warning = WarningMessage(
        state: .coming, networkEvent: "net-20260105T102025120Z", version: 2, alarm: true,
        arrival: onset + 9_400_000_000, seconds: 9.4, intensity: 5.8, range: 5.1...6.5, distance: 42.3, magnitude: 6.4,
        issued: onset)
    static var vibration: VibrationMessage {
        var message = VibrationMessage()
        (message.lower, message.upper) = (1, 80)
        (message.start, message.length, message.seconds, message.gaps) = (onset - 60_000_000_000, 60, 59.5, 1)
        for k in 0..<3 {
            var values = VibrationInterval.Axis()
            (values.ppv, values.ppvTime, values.frequency) = (3.5 - Double(k), onset - 7_000_000_000, 12.25)
            (values.rms, values.displacement, values.acceleration) = (0.5, 0.0455, 0.27)
            (values.kbFmax, values.kbFTm, values.weightedRMS, values.dose) = (1.25, 0.75, 0.01, 0.0625)
            message.axes[k].values = values
            message.axes[k].weighting = k == 2 ? "wk" : "wd"
            message.axes[k].dosePeriod = 0.125
        }
        message.axes[1].values.frequency = nil
        var floor = NoiseFloor.Values()
        (floor.ppv, floor.rms, floor.kbFmax, floor.weightedRMS, floor.dose) = (0.75, 0.25, 0.5, 0.005, 0.03125)
        message.axes[2].floor = floor
        message.interruptions = [.gap, .stop]
        message.periodSeconds = 11_970.5
        (message.pvs, message.pvsTime) = (4.25, onset - 7_000_000_000)
        message.limit = .init(
            name: "din4150-3:dwellings:foundation",
            share: .init(value: 3.5, limit: 5, axis: 0, frequency: 7.75, time: onset - 7_000_000_000))
        message.halfCycles = [
            .init(axis: 0, value: 3.25, time: onset - 17_000_000_000, frequency: 3.125),
            .init(axis: nil, value: 4.25, time: onset - 7_000_000_000, frequency: nil),
        ]
        message.state = .warning
        return message
    }

    static var modes: ModesMessage {
        var message = ModesMessage()
        (message.start, message.seconds, message.segments, message.temperature) = (
            onset - 3_600_000_000_000, 3560.5, 87, 21.5
        )
        message.modes = [
            StructureMode(frequency: 2.375, damping: 0.0125, shape: [1, 0.25, 0], prominence: 20.5),
            StructureMode(frequency: 3.125, damping: 0.015625, shape: [-0.25, 1, 0.0625], prominence: 17.25),
        ]
        (message.modes[0].id, message.modes[1].id) = (1, 12)
        message.modes[0].isPicked = true
        return message
    }

    static let quality = TimeQuality(synced: true, source: .ntp, errorMs: 2.1)

    static func messenger(traces: TraceForm = .json) throws -> Messenger {
        Messenger(topics: try Topics(id: "basement-north"), boot: boot, traces: traces)
    }

    static var reply: ReplyMessage {
        var reply = ReplyMessage(
            id: "a1", command: "config", phase: .done, revision: 7,
            result: [
                "rev": 7, "changed": ["trace.rate_hz", "mqtt.uri"], "live": ["trace.rate_hz", "mqtt.uri"],
                "restart_stream": [], "needs_restart": [],
                "pending": ["rev": 7, "deadline": "2026-01-05T10:21:30.120000000Z"],
            ])
        reply.isIncomplete = true
        return reply
    }

    /// Of what could not be read, so that there is no id; the errors are of an object and of a list.
    static let failure = ReplyMessage(
        id: nil, command: "confg", phase: .failed, revision: 6,
        errors: [
            CodedError(
                "/axes/x/detection/window", .range, "0 is outside 1…65536.", got: 0, allowed: "1…65536"),
            CodedError(
                "", .unknownKey, "There is no command \u{60}confg\u{60}.", got: "confg", allowed: "config, ping",
                nearest: "config"),
        ])

    static let logLine = LogLine(
        level: "warning", time: onset, message: "not connected: \"refused\"",
        fields: [
            .init("broker", "mqtt://localhost:1883"), .init("retry_s", 1.5), .init("count", 3),
        ])

    static var info: InfoMessage {
        var station = StationIdentity()
        station.id = "basement-north"
        station.network = "XX"
        station.code = "BASE"
        station.location = "00"
        station.latitude = 37.77
        station.longitude = -122.42
        station.elevation = 16
        station.description = "Basement, \"north\" wall"
        station.groups = ["school", "all-floors"]
        var sensor = InfoMessage.Sensor(
            driver: "simulate", chip: "quake", rate: 100, range: 19.6133, resolution: 1e-05)
        sensor.level = ["tilt_deg": 2.5, "matrix": [1, 0, 0, 0, 1, 0, 0, 0, 1]]
        let axis: Value = ["change": 4.5, "min": 0.5, "max": 9.5]
        sensor.selfTest = [
            "t": "2026-01-05T10:20:30.120000000Z", "passed": true, "unit": "m/s^2", "source": "data sheet, p. 4",
            "x": axis, "y": axis, "z": axis,
        ]
        sensor.calibration = [
            "t": "2026-01-05T10:20:30.120000000Z", "method": "rest", "offset": [0.25, -0.5, 0.125],
            "matrix": [1, 0, 0, 0, 1, 0, 0, 0, 1], "noise_ug_per_sqrt_hz": [25.5, 26, 25], "seconds": 20,
        ]
        var info = InfoMessage(
            agent: .init(version: "0.1.0", build: "release x86_64"), station: station, sensor: sensor,
            capabilities: .init(
                verbs: [], encodings: ["json", "mseed2", "mseed3"], scales: ["gutenberg_richter", "worden12"]))
        var update = UpdateMessage(phase: .watching, since: onset)
        update.version = "0.2.0~deb13"
        info.update = .init(update)
        return info
    }

    static var config: ConfigMessage {
        ConfigMessage(
            revision: 7,
            config: .object([
                .init("station", .object([.init("id", .string("basement-north"))])),
                .init("sensor", .object([.init("rate_hz", .double(100)), .init("driver", .string("simulate"))])),
                .init("mqtt", .object([.init("password_file", .string("***"))])),
            ]),
            sources: .init(file: ["/station/id"], overlay: ["/sensor/rate_hz"], commandLine: ["/sensor/driver"]),
            pending: .init(revision: 8, deadline: onset), needsRestart: ["/sensor/driver"])
    }

    static var summary: SummaryMessage {
        var m = SummaryMessage()
        m.window = 10
        m.levels = Components(
            x: .init(rms: 0.0123, peak: 0.041, rsam: 0.0101, velocity: 0.0021),
            y: .init(rms: 0.0098, peak: 0.035, rsam: 0.0081, velocity: 0.0015),
            z: .init(rms: 0.004, peak: 0.0125, rsam: 0.0032, velocity: 0.001),
            h: .init(rms: 0.0157, peak: 0.0502, rsam: 0.0142, velocity: 0.0025),
            v3: .init(rms: 0.0162, peak: 0.0511, rsam: 0.0149, velocity: 0.0026))
        m.pga = 0.041
        m.pgaPercentG = 0.4180836
        m.pgv = 0.0021
        m.pgd = 0.00021
        m.intensity = intensity
        m.magnitude = 9.8071
        m.direction = Direction(azimuthDeg: 271.5, axis: .minusX, incidenceDeg: 88.5, rectilinearity: 0.75)
        m.spectrum = SpectrumPeak(dominantHz: 3.125, peak: 0.011)
        m.ratios = [DetectorRatios("sta_lta", RatioValues(v3: 3.4))]
        m.triggered = true
        m.detectors = ["level"]
        m.eventClass = quake
        let extreme = SummaryMessage.Extreme(min: -0.041, max: 0.0395, since: onset - 60_000_000_000)
        m.extremes = .init(
            x: extreme, y: extreme, z: .init(min: 9.79, max: 9.82, since: onset),
            magnitude: .init(min: 9.7901, max: 9.8201, since: onset))
        return m
    }

    static var quake: EventClass {
        var c = EventClass()
        (c.likely, c.probability, c.time, c.isCertain) = (.earthquake, 0.9375, 1, true)
        return c
    }

    static var settling: SummaryMessage {
        var m = SummaryMessage()
        m.window = 10
        m.valid = false
        m.reason = "settling"
        return m
    }

    static var intensity: [IntensityValue] {
        [
            IntensityValue(
                scale: "mmi", relation: "worden12", value: 3.2, roman: "III", color: "#80ffff", fromPGA: 3.1,
                fromPGV: 3.3, sigma: 0.65),
            IntensityValue(scale: "jma", relation: "jma", value: 1.2, grade: "1", color: "#f2f2ff", raw: 1.2345),
        ]
    }

    static var health: HealthMessage {
        var m = HealthMessage(sensor: .ok, time: quality)
        m.rate = 99.98
        m.rateErrorPpm = -200
        m.rateUncertaintyPpm = 3.5
        var driver = SensorCondition()
        (driver.lost, driver.overruns, driver.lostTriggers, driver.duplicates) = (12, 1, 2, 3)
        (driver.clockSteps, driver.slowReads, driver.retries, driver.wakeUps) = (1, 7, 4, 22500)
        driver.timeError = 0.00025
        m.driver = driver
        m.samples = 360_000
        m.gaps = 1
        m.lostSamples = 12
        m.clipped = 3
        m.outbox.messages = 4
        m.outbox.bytes = 3210
        m.outbox.oldest = 1.5
        m.outbox.dropped.trace = 60
        (m.outbox.deletedForAge, m.outbox.deletedForRoom) = (12, 7)
        m.mqtt.connects = 2
        m.mqtt.published = 7300
        m.mqtt.acked = 3650
        m.mqtt.replaced = 6
        m.mqtt.refused = [.init("quota_exceeded", 1), .init("not_authorized", 2)]
        m.mqtt.rejectedCommands = 5
        var warnings = HealthMessage.Warnings()
        (warnings.issued, warnings.alarms, warnings.refused) = (2, 1, [.init("old", 3)])
        m.warnings = warnings
        m.loopLateMs = 0.8
        m.cpuPercent = 1.2
        m.rssBytes = 9_400_000
        m.temperature = 41.5
        m.hostTemperature = 52.25
        m.uptime = 3600.5
        m.alerts = ["clock_unsynced"]
        return m
    }

    static var alert: AlertMessage {
        AlertMessage(
            code: "sensor_missing", severity: .error, since: onset, message: "No accelerometer at bus 1, address 0x53",
            details: .object([.init("bus", .int(1)), .init("address", .int(0x53))]))
    }

    static var update: UpdateMessage {
        var message = UpdateMessage(phase: .returning, since: onset)
        (message.id, message.version, message.from) = ("u1", "0.2.0~deb13", "0.1.0~deb13")
        (message.installed, message.until) = ("0.2.0~deb13", onset + 600_000_000_000)
        message.reason = "no samples come"
        message.ended = .init(updated: 3, returned: 1, refused: 2)
        return message
    }

    static func event(_ kind: EventMessage.Kind) -> EventMessage {
        var m = EventMessage(kind: kind, eventID: "basement-north-20260105T102030120Z", onset: onset)
        m.detectors = [
            .init(name: "level", axes: [.x, .z], on: onset, value: 0.0612, threshold: 0.04903325, configRevision: 7),
            .init(name: "sta_lta", signal: "v3", on: onset, value: 3.25, threshold: 3, configRevision: 7),
            .init(name: "movement", axes: .y, on: onset, value: 3, threshold: 2.941995, configRevision: 7),
        ]
        m.detectors[1].maximum = 6.5
        m.detectors[2].direction = .minusY
        m.detectors[2].peaks = AxisValues(x: 0.25, y: -3, z: -1.5)
        m.peaks = Components(
            x: Peak(value: 0.41, t: onset + 10_000_000), y: Peak(value: 0.35, t: onset + 20_000_000),
            z: Peak(value: 0.125, t: onset), h: Peak(value: 0.502, t: onset + 10_000_000),
            v3: Peak(value: 0.511, t: onset + 10_000_000))
        m.pga = 0.41
        m.pgaPercentG = 4.180836
        m.pgv = 0.021
        m.peakVelocity = Components(x: 0.0125, y: 0.021, z: 0.00625, h: 0.0225, v3: 0.023)
        m.pgd = 0.0017
        m.cav = 0.77
        m.standardizedCAV = 0.62
        m.arias = 0.0031
        m.duration = kind == .onset ? 0 : 32.5
        m.intensity = intensity
        m.rmsMax = AxisValues(x: 0.21, y: 0.18, z: 0.07)
        m.rsam = AxisValues(x: 0.03, y: 0.025, z: 0.0125)
        m.configRevision = 7
        m.eventClass = EventClass()
        (m.arrivalTime, m.arrivalSigma) = (onset - 500_000_000, 0.125)
        if kind == .onset { return m }
        m.eventClass = quake
        m.onsite = OnsiteMessage(time: kind == .end ? 3 : 1, mmi: 4.5, pgv: 0.0625)
        m.onsite?.pv = 0.0125
        m.onsite?.pgvLow = 0.03125
        m.onsite?.pgvHigh = 0.25
        guard kind == .end else { return m }
        m.onsite?.pd = 0.00375
        m.onsite?.tauC = 0.75
        m.onsite?.level = 3
        m.onsite?.saturated = true
        m.alarm = true
        m.classFeatures = [[0.5, -1.25, 0.75], [1, -1.5, 0.5]]
        m.end = onset + 32_500_000_000
        (m.duration75, m.duration95) = (6.25, 18.5)
        var spectrum = ResponseSpectrumColumns()
        (spectrum.periods, spectrum.x) = ([0.1, 0.2, 0.3, 0.5, 1, 2, 3], [1, 2, 3, 2, 1, 0.5, 0.25])
        (spectrum.y, spectrum.mean) = (spectrum.x, spectrum.x)
        m.responseSpectrum = spectrum
        m.gaps = 1
        (m.missing, m.accelerationValid) = (0.05, false)
        (m.velocityValid, m.displacementValid) = (false, false)
        m.ratios = [DetectorRatios("sta_lta", RatioValues(x: 5, y: 4, z: 3.5, h: 6.25, v3: 6.5))]
        m.dominantHz = 2.75
        m.direction = Direction(azimuthDeg: 12.5, axis: .plusY, incidenceDeg: 35.25, rectilinearity: 0.875)
        m.firstMotion = .init(axis: .plusZ, t: onset - 100_000_000)
        m.clipped = true
        m.waveform = .init(
            topic: "seismote/basement-north/data/waveform/basement-north-20260105T102030120Z", bytes: 12_288,
            records: 9, sha256: SHA256.hexDigest(of: "abc"), messages: 3, unitPerCount: 1e-06)
        m.test = true
        return m
    }

    static func trace(_ signals: TraceSignals = .all) -> TraceBlock {
        var block = TraceBlock(capacity: 20, rate: 20, signals: signals)
        for i in 0..<4 {
            let values = (1...3).map { Double((i + 1) * $0) * 0.001 }
            let raw = [values[0], values[1], 9.80665 + values[2]]
            block.append(
                [.raw, .filtered, .rms], raw + values.map { -$0 } + values.map { $0 / 8 }, triggered: i >= 2 ? 1 : 0)
        }
        return block
    }
}
