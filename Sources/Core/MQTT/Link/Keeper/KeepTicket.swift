/// Names a message that the keeper has a copy of and has not yet said what became of it.
public struct KeepTicket: Sendable, Equatable {
    let slot: Int32
    let generation: UInt32
}

/// Next step of a message that is on disk now.
public enum KeepOutcome: Sendable, Equatable {
    /// It waits in memory or is on its way: a settlement with its key says how it ended.
    case waiting
    /// Its fate is known already, and no settlement follows: `displaced` is offered again from disk, everything else is
    /// deleted there (`onTrial` once the trial is passed).
    case settled(Settlement.Outcome)
}

/// How a message ended that is on disk.
public struct Settlement: Sendable, Equatable {
    public enum Outcome: Sendable, Equatable {
        /// The broker has it.
        case delivered
        /// The broker refused it with this reason (MQTT 5), or it is none that can be sent (144).
        case refused(Int)
        /// Larger than the broker takes: may be offered again when it takes more (`Link.holdNumber`).
        case tooLarge
        /// A connection broke over it, or it was dropped before it was kept.
        case abandoned
        /// Its topic is refused for now: to be offered again when that is over (`Link.mayOffer`).
        case held
        /// Memory has let it go, unsent or not known to have arrived: to be offered again as back-fill. Not lost, and not
        /// counted as dropped.
        case displaced
        /// It ended so with a broker that is on trial (`LinkOptions.trial`), which is for the keeper to judge.
        indirect case onTrial(Int, Outcome)

        /// The message need not be on the disk any more.
        public var isFinal: Bool {
            switch self {
            case .delivered, .refused: true
            case .tooLarge, .abandoned, .held, .displaced, .onTrial: false
            }
        }
    }

    /// As given to `markKept` or `offerBackfill`.
    public var key: Int64
    public var outcome: Outcome

    public init(key: Int64, outcome: Outcome) {
        self.key = key
        self.outcome = outcome
    }
}
