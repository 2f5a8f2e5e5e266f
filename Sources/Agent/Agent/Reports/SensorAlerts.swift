import Messages
import Sensors
import Settings
import SignalProcessing

/// Which alerts there are of the sensor. Pure: from what the sampling thread says to sentences.
struct SensorAlerts {
    /// Each code with its severity and what it says; nil when all is well with it.
    private(set) var all: [(code: AlertBoard.Code, severity: AlertMessage.Severity, fault: AlertBoard.Fault?)] = []

    /// An agent that begins so soon after the machine, nanoseconds, was started by the boot.
    private static let bootTime: Int64 = 120_000_000_000
    /// Nanoseconds that such an agent gives its first sensor to come. (Not from the start of the machine: a slow board may
    /// come to its services only after half a minute.)
    private static let patience: Int64 = 30_000_000_000

    /// Whether there is a sensor. One that was just opened still has with it what was wrong before, until its first block
    /// has come: that is neither an alert nor the end of the wait.
    static func hasSensor(_ words: SamplingStatus.Words) -> Bool { words.sensor != nil && words.problem == nil }

    /// Whether it is too early for an alert. At boot the agent may come before udev has made the device's file or given it
    /// to its group: then it waits for its first sensor quietly.
    /// - Parameters:
    ///   - hadSensor: there has been one since the agent was started.
    ///   - begun: when the agent began, ns since the start of the machine.
    ///   - sinceBoot: now, ns since the start of the machine.
    static func waits(
        _ problem: SamplingStatus.Problem?, hadSensor: Bool, begun: Int64, sinceBoot: Int64
    ) -> Bool {
        guard !hadSensor, begun < bootTime, sinceBoot - begun < patience, case .sensor(let error) = problem else {
            return false
        }
        return error.code == .permission || error.code == .missing
    }

    /// - Parameters:
    ///   - state: of the sensor, for what only shows by its silence.
    ///   - waits: it is too early for an alert of a sensor that cannot be opened.
    init(_ words: SamplingStatus.Words, state: HealthMessage.SensorState, waits: Bool = false) {
        var problem: (code: AlertBoard.Code, fault: AlertBoard.Fault)?
        if case .sensor(let error) = words.problem {
            if !waits {
                problem = (
                    Self.code(error.code), (error.message, .object([.init("code", .string(error.code.rawValue))]))
                )
            }
        } else if words.problem == nil, state == .stalled, !words.ended {
            problem = (.sensorFault, ("the sensor sends no samples", .object([])))
        }
        for code in [.sensorMissing, .sensorPermission, .sensorBusy, .sensorIdentity, .sensorFault] as [AlertBoard.Code]
        {
            all.append((code, .error, problem?.code == code ? problem?.fault : nil))
        }
        let watch = words.faults
        all.append((.sensorStuck, watch.faults.contains(.stuck) ? .error : .warning, Self.stuck(watch)))
        all.append((.sensorSaturated, .warning, Self.saturated(watch)))
        all.append((.sensorImplausible, .error, Self.implausible(watch)))
        all.append((.sensorSelfTest, .error, words.selfTest.flatMap(Self.failed)))
    }

    private static func code(_ code: SensorError.Code) -> AlertBoard.Code {
        switch code {
        case .missing: .sensorMissing
        case .permission: .sensorPermission
        case .busy: .sensorBusy
        case .identity: .sensorIdentity
        case .fault, .format, .unsupported: .sensorFault
        }
    }

    private static func stuck(_ watch: SamplingStatus.WatchReport) -> AlertBoard.Fault? {
        guard !watch.faults.isDisjoint(with: [.stuck, .axisStuck]) else { return nil }
        let names = ["x", "y", "z"]
        let axes = (0..<3).filter { watch.stuckAxes & (1 << UInt8($0)) != 0 }.map { Value.string(names[$0]) }
        let message =
            watch.faults.contains(.stuck)
            ? "the sensor is stuck: all its values stay the same"
            : "an axis of the sensor is stuck: its value stays the same"
        return (message, .object([.init("axes", .array(axes))]))
    }

    private static func saturated(_ watch: SamplingStatus.WatchReport) -> AlertBoard.Fault? {
        guard watch.faults.contains(.saturated) else { return nil }
        return (
            "the sensor is saturated: sensor.range is too small, or the sensor is broken",
            .object([.init("share", .double(watch.saturated))])
        )
    }

    private static func implausible(_ watch: SamplingStatus.WatchReport) -> AlertBoard.Fault? {
        guard watch.faults.contains(.implausible) else { return nil }
        guard let magnitude = watch.magnitude else {
            return ("the sensor sends values that are not numbers", .object([]))
        }
        return (
            "the sensor does not show gravity: its mean is far from 9.81 m/s^2",
            .object([.init("magnitude", .double(magnitude))])
        )
    }

    private static func failed(_ outcome: SamplingStatus.SelfTestOutcome) -> AlertBoard.Fault? {
        if let report = outcome.report {
            guard !report.passed else { return nil }
            return ("the sensor has failed its self-test", report.value(time: outcome.time))
        }
        // What has no self-test has not failed it.
        guard let error = outcome.error, error.code != .unsupported else { return nil }
        return ("the self-test could not be run: " + error.message, .object([]))
    }
}
