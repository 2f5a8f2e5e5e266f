import MQTT

/// How messages ended with a broker that is on trial: it counts when the change of settings that named the broker is
/// confirmed, and never did when it is taken back. Until then all of them stay on the disk. Pure.
struct TrialDeliveries {
    /// So many are remembered; what is more is sent again after the trial, whatever becomes of it.
    static let limit = 4096

    enum Verdict: Equatable {
        /// It ended so.
        case counts(Settlement.Outcome)
        /// The outcome is open until the end of the trial.
        case waits
        /// It never happened: to be sent again.
        case isVoid
    }

    /// Number of the change that is on trial; 0: none is.
    private(set) var trial = 0
    /// Number of the trial that was confirmed last.
    private var confirmed = 0
    private var held: [Int64: Settlement.Outcome] = [:]

    var isFull: Bool { held.count >= Self.limit }

    /// The broker on trial has had this one.
    func holds(_ key: Int64) -> Bool { held[key] != nil }

    /// A message has ended with the broker of a trial.
    mutating func take(_ key: Int64, _ outcome: Settlement.Outcome, trial number: Int) -> Verdict {
        if number == confirmed { return .counts(outcome) }
        guard number == trial else { return .isVoid }
        if !isFull { held[key] = outcome }
        return .waits
    }

    /// - Returns: nil: nothing has changed; else what counts now: everything else that is on the disk and not in memory is to
    ///   be sent again.
    mutating func change(trial new: Int, confirmed number: Int) -> [Settlement]? {
        confirmed = number
        guard new != trial else { return nil }
        defer { (trial, held) = (new, [:]) }
        guard trial != 0 else { return nil }
        return trial == number ? held.sorted { $0.key < $1.key }.map { Settlement(key: $0.key, outcome: $0.value) } : []
    }
}
