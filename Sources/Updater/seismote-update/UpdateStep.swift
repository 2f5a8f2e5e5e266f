import Messages

/// A step of an update, as the disk names it while the step lasts. Each may be begun again at any point.
enum UpdateStep: String, Sendable, CaseIterable {
    /// Whether the version is one that may be installed.
    case check
    /// All packages of both versions are fetched.
    case fetch
    /// An open event is waited for.
    case rest
    /// Settings and database are copied, while the agent is stopped.
    case copy
    case install
    /// The new version has to show that it works.
    case watch
    /// The version before is put back.
    case back
    /// The version before is started.
    case over
    /// How it ended is counted and told, and the job goes.
    case end

    /// Number of times that a step is begun which power cuts end.
    static let attempts = 3

    /// The turn after a step that cannot be done, such as with a full disk.
    func turn(after reason: String) -> Turn {
        switch self {
        case .check, .fetch, .rest, .copy: .end(.refused, reason)
        case .install, .watch: .back(reason)
        case .back, .over, .end: .unfinished(reason)
        }
    }

    /// The turn after a step that was begun too often; nil: it is done however often, as there is nothing else to do.
    var turnAfterAttempts: Turn? {
        let times = "it was interrupted \(Self.attempts) times while"
        switch self {
        case .check: return turn(after: "\(times) it was looked at")
        case .fetch: return turn(after: "\(times) packages were fetched")
        case .rest: return turn(after: "\(times) it waited for the end of an event")
        case .copy: return turn(after: "\(times) the database was copied")
        case .install: return turn(after: "\(times) it was installed")
        case .watch: return turn(after: "\(times) it was watched")
        case .back, .over, .end: return nil
        }
    }

    /// Where a step leads.
    enum Turn: Equatable {
        case step(UpdateStep)
        /// The old version has to be put back.
        case back(String)
        case end(UpdateMessage.Phase, String?)
        /// It is tried again in a minute.
        case unfinished(String)
        case over
    }
}
