import Messages
import Sensors
import Settings
import SignalProcessing

/// Which alerts there are of the sensor. Pure: from what the sampling thread says to sentences.
struct SensorAlerts {
    /// Each code with its severity and what it says; nil when all is well with it.
    private(set) var all: [(code: AlertBoard.Code, severity: AlertMessage.Severity, fault: AlertBoard.Fault?)] = []

    /// Nanoseconds from the start of the machine in which a sensor may still come.
    private static let bootTime: Int64 = 30_000_000_000

    /// Whether what is wrong is no news yet. At boot the agent may come before udev has made the device's file or given it
    /// to its group: then it waits for its first sensor quietly.
    /// - Parameters:
    ///   - hadSensor: one has been open since the agent was started.
    ///   - sinceBoot: ns since the start of the machine.
    static func waits(_ problem: SamplingStatus.Problem?, hadSensor: Bool, sinceBoot: Int64) -> Bool {
        guard !hadSensor, sinceBoot < bootTime, case .sensor(let error) = problem else { return false }
        return error.code == .permission || error.code == .missing
    }

    /// - Parameters:
    ///   - state: of the sensor, for what only shows by its silence.
    ///   - waits: a sensor that cannot be opened is no news yet.
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
            ? "the sensor gives the same values all the time"
            : "an axis of the sensor gives the same value all the time"
        return (message, .object([.init("axes", .array(axes))]))
    }

    private static func saturated(_ watch: SamplingStatus.WatchReport) -> AlertBoard.Fault? {
        guard watch.faults.contains(.saturated) else { return nil }
        return (
            "the sensor is at full scale: sensor.range is too small, or it is broken",
            .object([.init("share", .double(watch.saturated))])
        )
    }

    private static func implausible(_ watch: SamplingStatus.WatchReport) -> AlertBoard.Fault? {
        guard watch.faults.contains(.implausible) else { return nil }
        guard let magnitude = watch.magnitude else {
            return ("the sensor gives no numbers", .object([]))
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
        return ("the self-test could not be made: " + error.message, .object([]))
    }
}
