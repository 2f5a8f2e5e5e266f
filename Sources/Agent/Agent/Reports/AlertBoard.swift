import Messages

/// The faults that are there now. Pure: says what has to be published, does not do it.
struct AlertBoard {
    /// The codes of this agent.
    enum Code: String, CaseIterable {
        case sensorMissing = "sensor_missing"
        case sensorPermission = "sensor_permission"
        case sensorBusy = "sensor_busy"
        case sensorIdentity = "sensor_identity"
        case sensorFault = "sensor_fault"
        case sensorRate = "sensor_rate"
        case sensorOverrun = "sensor_overrun"
        case sensorStuck = "sensor_stuck"
        case sensorSaturated = "sensor_saturated"
        case sensorImplausible = "sensor_implausible"
        case sensorSelfTest = "sensor_selftest"
        case clockUnknown = "clock_unknown"
        case configRefused = "config_refused"
        case configReverted = "config_reverted"
        case alarmLine = "alarm_line"
        case queueDropping = "queue_dropping"
        case storageFailed = "storage_failed"
        case storageSetAside = "storage_set_aside"
        case storageTaken = "storage_taken"
        case mqttRefused = "mqtt_refused"
        case mqttTooLarge = "mqtt_too_large"
        case writeDenied = "write_denied"
        case mqttDeniedTopic = "mqtt_denied_topic"
        case duplicateID = "duplicate_id"
        case mqttPlaintextPassword = "mqtt_plaintext_password"
        case mqttCredentials = "mqtt_credentials"
    }

    /// A sentence and, for programs, details.
    typealias Fault = (message: String, details: Value)

    enum Change: Equatable {
        case raise(AlertMessage)
        case clear(String)
        /// It has not been there since the start: the broker may still have one that the run before this one raised.
        case empty(String)
    }

    /// In the order in which they were raised.
    private(set) var active: [AlertMessage] = []
    /// Codes of which nothing was said yet, and that a run before this one may have left with a broker.
    private var unsaid: Set<Code>

    /// - Parameter left: codes that a run before this one may have left with a broker.
    init(left: Set<Code> = Set(Code.allCases)) { unsaid = left }

    /// Nothing is left to be emptied.
    var isEmptied: Bool { unsaid.isEmpty }

    var codes: [String] { active.map(\.code) }

    /// Sets or clears one fault; nil when nothing is new. The time of the first sighting stays while the words change.
    /// - Parameters:
    ///   - fault: sentence and details; nil when all is well.
    ///   - isKnown: it would have been found by now, so that nil means something.
    mutating func update(
        _ code: Code, _ severity: AlertMessage.Severity, now: Int64, fault: Fault?, isKnown: Bool = true
    ) -> Change? {
        let index = active.firstIndex { $0.code == code.rawValue }
        guard let fault else {
            guard let index else {
                guard isKnown, unsaid.remove(code) != nil else { return nil }
                return .empty(code.rawValue)
            }
            active.remove(at: index)
            return .clear(code.rawValue)
        }
        unsaid.remove(code)
        var alert = AlertMessage(
            code: code.rawValue, severity: severity, since: now, message: fault.message, details: fault.details)
        if let index {
            alert.since = active[index].since
            // Details are for the one who looks; they alone are no news.
            let isNew = active[index].message != alert.message
            active[index] = alert
            return isNew ? .raise(alert) : nil
        }
        active.append(alert)
        return .raise(alert)
    }
}

extension AlertBoard.Code {
    /// It is known as soon as it is known whether the sensor can be used.
    private var isOfOpening: Bool {
        switch self {
        case .sensorMissing, .sensorPermission, .sensorBusy, .sensorIdentity, .sensorFault: true
        default: false
        }
    }

    /// Others are known when they were not found in so long a time from then on (ns).
    static let searchTime: Int64 = 60_000_000_000

    /// Whether the absence of this fault is known.
    /// - Parameters:
    ///   - sensorKnown: since when it is known whether the sensor can be used (ns of the monotonic clock); nil: it is not.
    ///   - now: of the same clock.
    func isKnown(_ sensorKnown: Int64?, now: Int64) -> Bool {
        guard let sensorKnown else { return false }
        return isOfOpening || now - sensorKnown >= Self.searchTime
    }
}
