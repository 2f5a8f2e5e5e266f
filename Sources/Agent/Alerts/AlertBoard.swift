import Messages

/// The faults that are there now. Pure: says what has to be published, does not do it.
public struct AlertBoard {
    public enum Change: Equatable {
        case raise(AlertMessage)
        case clear(String)
        /// It has not been there since the start: the broker may still have one that the run before this one raised.
        case empty(String)
    }

    /// The absence of a fault that is found while samples come is known when it was not found in so long a time (ns).
    static let searchTime: Int64 = 60_000_000_000

    /// In the order in which they were raised.
    public private(set) var active: [AlertMessage] = []
    private var alerts: [any Alert]
    /// Codes of which nothing was said yet, and that a run before this one may have left with a broker.
    private var unsaid: Set<String>

    /// - Parameters:
    ///   - alerts: all that there are.
    ///   - left: codes that a run before this one may have left with a broker; nil: all.
    public init(_ alerts: [any Alert.Type] = AlertChapter.all.flatMap(\.alerts), left: Set<String>? = nil) {
        self.alerts = alerts.map { $0.init() }
        let codes = Set(alerts.map { $0.declaration.code })
        unsaid = left.map { codes.intersection($0) } ?? codes
    }

    /// True when no stale alert is left to be cleared.
    public var isEmptied: Bool { unsaid.isEmpty }

    public var codes: [String] { active.map(\.code) }

    /// Asks every alert.
    /// - Parameter wall: nanoseconds of UTC.
    /// - Returns: what is new.
    public mutating func look(_ facts: AlertFacts, wall: Int64) -> [Change] {
        alerts.indices.compactMap { index in
            let declaration = type(of: alerts[index]).declaration
            return update(
                declaration, now: wall, fault: alerts[index].look(facts),
                isKnown: declaration.isAbsenceKnown(facts.sensorKnown, now: facts.now))
        }
    }

    /// Sets or clears one fault; nil when nothing is new. The time of the first sighting stays while the words change.
    /// - Parameters:
    ///   - fault: nil when all is well.
    ///   - isKnown: it would have been found by now, so that nil means something.
    mutating func update(
        _ declaration: AlertDeclaration, now: Int64, fault: AlertFault?, isKnown: Bool = true
    ) -> Change? {
        let code = declaration.code
        let index = active.firstIndex { $0.code == code }
        guard let fault else {
            guard let index else {
                guard isKnown, unsaid.remove(code) != nil else { return nil }
                return .empty(code)
            }
            active.remove(at: index)
            return .clear(code)
        }
        unsaid.remove(code)
        var alert = AlertMessage(
            code: code, severity: fault.severity ?? declaration.severity, since: now, message: fault.message,
            details: fault.details)
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

extension AlertDeclaration {
    /// Whether the absence of this fault is known.
    /// - Parameters:
    ///   - sensorKnown: since when it is known whether the sensor can be used (monotonic, ns); nil: it is not.
    ///   - now: of the same clock.
    func isAbsenceKnown(_ sensorKnown: Int64?, now: Int64) -> Bool {
        guard let sensorKnown else { return false }
        return isOfOpening || now - sensorKnown >= AlertBoard.searchTime
    }
}
