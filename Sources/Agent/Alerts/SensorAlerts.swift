import Messages
import Sensors
import Settings
import Values

extension AlertChapter {
    static let sensor = AlertChapter(
        title: "Sensor",
        alerts: [
            SensorMissing.self, SensorPermission.self, SensorBusy.self, SensorIdentity.self, SensorFault.self,
            SensorStuck.self, SensorSaturated.self, SensorImplausible.self, SensorSelfTest.self, SensorRate.self,
            SensorOverrun.self,
        ])
}

struct SensorMissing: Alert {
    static let declaration = AlertDeclaration(
        "sensor_missing", .error, "No sensor",
        "The agent found no accelerometer, or the sensor has gone. The agent looks for it at least every 1.5 s.",
        remedy: "`seismote probe` shows buses, addresses and what is missing; check wiring and power",
        see: "[the tutorial](../start/tutorial.md#1-wire-the-sensor)", check: "sensor", isOfOpening: true)

    func look(_ facts: AlertFacts) -> AlertFault? { facts.sensor.fault(.missing) }
}

struct SensorPermission: Alert {
    static let declaration = AlertDeclaration(
        "sensor_permission", .error, "No right to open the sensor",
        "The agent may not open the bus or the device. It needs the user `seismote` in the groups `i2c`, "
            + "`gpio` and `iio`, and the udev rules; the package sets up both.",
        remedy:
            "`seismote probe` names the command; with the package: `sudo udevadm trigger && sudo systemctl restart seismote`",
        check: "sensor", isOfOpening: true)

    func look(_ facts: AlertFacts) -> AlertFault? { facts.sensor.fault(.permission) }
}

struct SensorBusy: Alert {
    static let declaration = AlertDeclaration(
        "sensor_busy", .error, "Sensor in use", "Another process uses the sensor.",
        remedy:
            "End the other program or kernel driver that has the sensor; `seismote probe` names it. `seismote calibrate` and "
            + "`seismote selftest` use it as well: stop the agent before",
        check: "sensor", isOfOpening: true)

    func look(_ facts: AlertFacts) -> AlertFault? { facts.sensor.fault(.busy) }
}

struct SensorIdentity: Alert {
    static let declaration = AlertDeclaration(
        "sensor_identity", .error, "Another sensor",
        "The chip that answers at the address is not the one in the settings.",
        remedy: "Set `sensor.i2c.chip` to the chip that `seismote probe` names, or to `auto`", check: "sensor",
        isOfOpening: true)

    func look(_ facts: AlertFacts) -> AlertFault? { facts.sensor.fault(.identity) }
}

struct SensorFault: Alert {
    static let declaration = AlertDeclaration(
        "sensor_fault", .error, "Sensor fault", "The sensor answers wrongly, or sends nothing.",
        remedy:
            "Check wiring and power (3.3 V); shorten the wires, lower the bus to 100 kHz. `seismote selftest` tells whether "
            + "the chip still moves; if the fault stays, replace the sensor",
        check: "sensor", isOfOpening: true)

    func look(_ facts: AlertFacts) -> AlertFault? {
        if let fault = facts.sensor.fault(.fault) ?? facts.sensor.fault(.format) ?? facts.sensor.fault(.unsupported) {
            return fault
        }
        return facts.sensor.problem == nil && facts.sensor.isSilent ? AlertFault("the sensor sends no samples") : nil
    }
}

struct SensorStuck: Alert {
    static let declaration = AlertDeclaration(
        "sensor_stuck", .error, "Sensor stuck",
        "All axes, or some, give the same value all the time. If all do, the agent marks samples as not valid, "
            + "and no event begins.",
        remedy:
            "Check wiring and power (3.3 V, common ground), take the power away for ten seconds; `seismote selftest` tells "
            + "whether the chip still moves. If it happens again, replace the sensor",
        lesser: "when only some axes do", check: "sensor")

    func look(_ facts: AlertFacts) -> AlertFault? {
        let watch = facts.sensor.watch
        guard !watch.faults.isDisjoint(with: [.stuck, .axisStuck]) else { return nil }
        let names = ["x", "y", "z"]
        let axes = (0..<3).filter { watch.stuckAxes & (1 << UInt8($0)) != 0 }.map { Value.string(names[$0]) }
        let isWhole = watch.faults.contains(.stuck)
        return AlertFault(
            isWhole
                ? "the sensor is stuck: all its values stay the same"
                : "an axis of the sensor is stuck: its value stays the same",
            .object([.init("axes", .array(axes))]), isWhole ? .error : .warning)
    }
}

struct SensorSaturated: Alert {
    static let declaration = AlertDeclaration(
        "sensor_saturated", .warning, "Sensor at full scale",
        "5 % of a second was at full scale. Peaks and intensities of this time are too small; events say "
            + "`clipped`. A sensor at full scale while at rest is broken.",
        remedy: "Set a larger `sensor.range`")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard facts.sensor.watch.faults.contains(.saturated) else { return nil }
        return AlertFault(
            "the sensor is saturated: sensor.range is too small, or the sensor is broken",
            .object([.init("share", .double(facts.sensor.watch.saturated))]))
    }
}

struct SensorImplausible: Alert {
    static let declaration = AlertDeclaration(
        "sensor_implausible", .error, "No gravity",
        "The mean of 10 s is below 0.5 g or above 1.5 g, so the sensor does not measure gravity. The agent "
            + "marks samples as not valid, and no event begins.",
        remedy:
            "Calibrate the sensor (`seismote calibrate`); its scale or range is wrong: see `sensor.calibration` and "
            + "`sensor.replay.scale`")

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard facts.sensor.watch.faults.contains(.implausible) else { return nil }
        guard let magnitude = facts.sensor.watch.magnitude else {
            return AlertFault("the sensor sends values that are not numbers")
        }
        return AlertFault(
            "the sensor does not show gravity: its mean is far from 9.81 m/s^2",
            .object([.init("magnitude", .double(magnitude))]))
    }
}

struct SensorSelfTest: Alert {
    static let declaration = AlertDeclaration(
        "sensor_selftest", .error, "Self-test failed",
        "The chip failed its self-test. The alert stays until the next start.",
        remedy:
            "Put the sensor to rest, stop the agent, and run `seismote selftest`; if it fails again, replace the sensor"
    )

    func look(_ facts: AlertFacts) -> AlertFault? {
        guard let outcome = facts.sensor.selfTest else { return nil }
        if let report = outcome.report {
            guard !report.passed else { return nil }
            return AlertFault("the sensor has failed its self-test", report.value(time: outcome.time))
        }
        // What has no self-test has not failed it.
        guard let error = outcome.error, error.code != .unsupported else { return nil }
        return AlertFault("the self-test could not be run: " + error.message)
    }
}

/// Cleared only well inside of what raises it.
public struct SensorRate: Alert {
    /// Relative deviation from which on filters for another rate are wrong.
    public static let tolerance = 0.005

    public static let declaration = AlertDeclaration(
        "sensor_rate", .warning, "Sample rate off",
        "The measured sample rate is more than 0.5 % off the nominal one. The agent makes filters for the "
            + "measured rate, so the data are right.",
        remedy:
            "Nothing has to be done; `sensor.resample: true` puts the samples on the nominal rate, or set `sensor.rate_hz` "
            + "to the measured one")

    private var isRaised = false

    public init() {}

    public mutating func look(_ facts: AlertFacts) -> AlertFault? {
        let sensor = facts.sensor
        // On a grid the rate is as it should be.
        guard let nominal = sensor.description?.rate, !sensor.isResampled, let measured = sensor.condition?.rate else {
            isRaised = false
            return nil
        }
        let deviation = abs(measured.rate / nominal - 1)
        isRaised =
            deviation > (isRaised ? 0.9 * Self.tolerance : Self.tolerance + 3 * measured.uncertainty / nominal)
        guard isRaised else { return nil }
        return AlertFault(
            "the sensor's true rate is more than 0.5 % off its nominal one: filters are made for the true one",
            .object([.init("rate_hz", .double(measured.rate)), .init("nominal_hz", .double(nominal))]))
    }
}

/// A sensor's FIFO that runs over again and again. Once is a gap and nothing more: the machine was busy.
struct SensorOverrun: Alert {
    static let declaration = AlertDeclaration(
        "sensor_overrun", .warning, "FIFO overruns",
        "The sensor's FIFO overflowed three times in a minute, and samples are lost. The message has the "
            + "number of samples that the bus carries.",
        remedy:
            "The machine is too busy or the bus too slow: lower `sensor.rate_hz`, or raise the clock of the bus: "
            + "`dtparam=i2c_arm_baudrate=400000` in `/boot/firmware/config.txt`")

    /// So many within this time (ns) of each other are an alert, which is over after that time without.
    private static let least = 3
    private static let time: Int64 = 60_000_000_000

    /// As the driver counted at the last look.
    private var counted = 0
    private var recent = 0
    private var last: Int64?
    /// Samples per second that the bus carries, as they are told: a number that wavers would be news all the time.
    private var told: Double?

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        if let last, facts.now - last > Self.time { (recent, self.last, told) = (0, nil, nil) }
        guard let condition = facts.sensor.condition, let rate = facts.sensor.description?.rate else {
            counted = 0
            return recent >= Self.least ? fault(rate: facts.sensor.description?.rate ?? 0) : nil
        }
        // Opened anew it counts from zero.
        let new = condition.overruns >= counted ? condition.overruns - counted : condition.overruns
        counted = condition.overruns
        if new > 0 { (recent, last) = (recent + new, facts.now) }
        guard recent >= Self.least else { return nil }
        if let carried = condition.busRate, told.map({ abs(carried / $0 - 1) > 0.2 }) ?? true { told = carried }
        return fault(rate: rate)
    }

    private func fault(rate: Double) -> AlertFault {
        var details: [Value.Member] = [.init("overruns", .int(Int64(recent))), .init("rate_hz", .double(rate))]
        guard let told else {
            return AlertFault(
                "the sensor's FIFO overflows and samples are lost: it is read too late", .object(details))
        }
        details.append(.init("bus_hz", .double(told.rounded())))
        let (carried, made) = (Int(told.rounded(.down)), Int(rate.rounded()))
        let rates = "the bus carries about \(carried) samples/s and the sensor makes \(made)"
        let remedy = told < rate ? "lower sensor.rate_hz, or raise the clock of the bus" : "the host reads it too late"
        return AlertFault(
            "the sensor's FIFO overflows and samples are lost: \(rates); \(remedy)", .object(details))
    }
}

extension AlertFacts.Sensor {
    /// Reason why it cannot be used, when that is of this kind, and not too early to be said.
    fileprivate func fault(_ code: SensorError.Code) -> AlertFault? {
        guard let problem, problem.code == code, !waits else { return nil }
        return AlertFault(problem.message, .object([.init("code", .string(problem.code.rawValue))]))
    }
}

extension AlertChapter {
    static let alarm = AlertChapter(title: "Alarm", alerts: [AlarmLine.self])
}

struct AlarmLine: Alert {
    static let declaration = AlertDeclaration(
        "alarm_line", .error, "Alarm line unavailable",
        "The agent cannot open or set the GPIO line of the alarm, or of its button: an alarm would make no "
            + "sound. It tries again every 5 s. While an alarm or a test is under way it tries after 0.1 s, then "
            + "0.2, 0.4, 0.8 s and every second; the alarm then sounds for the rest of its time. The agent notices a "
            + "lost line within 0.25 s during an alarm, else within 5 s.",
        remedy:
            "The message names the line and the reason: in use by another process (`gpioinfo` of Debian's package gpiod says "
            + "by which), no such line (see `ls /dev/gpiochip*`), or no right (the user `seismote` must be in the group "
            + "`gpio`)")

    func look(_ facts: AlertFacts) -> AlertFault? {
        facts.alarmProblem.map { AlertFault("no alarm would be heard: \($0)") }
    }
}

extension AlertChapter {
    static let vibration = AlertChapter(title: "Vibration", alerts: [VibrationLimitReached.self])
}

struct VibrationLimitReached: Alert {
    static let declaration = AlertDeclaration(
        "vibration_limit", .error, "Vibration limit reached",
        "An interval of `data/vibration` has reached `vibration.limit`. The message has the largest interval "
            + "since the alert was raised, and is published again for a larger one. The alert ends with the first "
            + "interval below the warning share, and when the sensor is lost.",
        remedy:
            "Find out what shakes; `seismote report` makes a page of the intervals and their limit. Where the limit is not "
            + "that of this place, set `vibration.limit`",
        see: "[vibration](../understand/vibration.md#limits)",
        lesser: "when only `vibration.warn_share` of the limit is reached",
        details:
            "For the last interval: `limit` (its name), `axis`, `value`, `allowed`, `unit`, `share`, `start`; of a peak `t` and, "
            + "where it is known, `frequency_hz` of its half cycle.")

    /// The largest since it was raised.
    private var largest: VibrationMessage.Standing?

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        guard let now = facts.vibration, now.state != .ok, facts.sensor.description != nil else {
            largest = nil
            return nil
        }
        let isLess =
            largest.map { $0.state == now.state && $0.limit.name == now.limit.name && $0.share >= now.share } ?? false
        if !isLess { largest = now }
        let share = now.limit.share
        var details: [Value.Member] = [
            .init("limit", .string(now.limit.name)), .init("axis", .string(now.limit.axis)),
            .init("value", .double(share.value)), .init("allowed", .double(share.limit)),
            .init("unit", .string(now.unit)), .init("share", .double(now.share)),
            .init("start", .string(Timestamp(nanoseconds: now.start).description)),
        ]
        if let time = share.time { details.append(.init("t", .string(Timestamp(nanoseconds: time).description))) }
        if let frequency = share.frequency { details.append(.init("frequency_hz", .double(frequency))) }
        return AlertFault(
            (largest ?? now).sentence, .object(details), now.state == .exceeded ? .error : .warning)
    }
}

extension VibrationMessage.Standing {
    fileprivate var share: Double { limit.share.ratio }

    fileprivate var sentence: String {
        let percent = Int((min(share, 1e6) * 100).rounded())
        let stretch = "in the interval from \(Timestamp(nanoseconds: start))"
        let frequency = limit.share.frequency.map { " at \(($0 * 10).rounded() / 10) Hz" } ?? ""
        return "\(limit.axis) reached \(Self.short(limit.share.value)) \(unit)\(frequency), \(percent) % of the limit "
            + "\(Self.short(limit.share.limit)) \(unit) of \(limit.name), \(stretch)"
    }

    /// Two digits behind the point.
    private static func short(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
