import Messages
import Settings

/// Carries a change of the settings through their owners, one change at a time. Pure: events go in, actions come out, and
/// time is passed in (ns of the monotonic clock).
///
/// The owners that the change concerns are asked one after the other whether they can make it; then it is written to the
/// disk, and only then put into force. When an owner refuses or does not answer in time, or the disk does not take it, those
/// that have prepared it abandon it, and nothing has changed anywhere. The reply leaves before the link commits: it goes over
/// the connection on which the change was asked for.
struct ChangeCoordinator {
    enum Event {
        /// Somebody wants a change: the number and the size of the request.
        case asked(Int, bytes: Int)
        /// The request whose turn it is asks for nothing that has to go through the owners.
        case nothing
        /// It does. `isForced`: a change that goes back by itself, which cannot be refused for good.
        case start([SettingOwner], isForced: Bool)
        case prepared(SettingOwner)
        case refused(SettingOwner, [CodedError])
        /// It is on the disk, or why not.
        case persisted(String?)
        case committed(SettingOwner)
        /// The reply has left.
        case answered
        /// Time has passed.
        case time
    }

    enum Action: Equatable {
        /// It is the turn of this request: answer with `nothing` or `start`.
        case begin(Int)
        /// Too many wait.
        case busy(Int)
        case prepare(SettingOwner)
        /// To an owner that has prepared the change, or still does.
        case abandon(SettingOwner)
        case persist
        /// The disk may have what has been abandoned.
        case restore
        /// The settings are in force from now on: cannot be refused any more.
        case adopt
        case commit(SettingOwner)
        /// Nil: it is done.
        case answer(OwnerRefusal?)
        /// All of it is over.
        case finish
    }

    struct OwnerRefusal: Equatable {
        var owner: SettingOwner
        var errors: [CodedError]
    }

    /// Requests that wait at most, and their bytes.
    static let waitingLimit = 8
    static let waitingBytes = 65_536
    /// How long an owner, or the disk, may take (ns). A sensor that is opened anew takes seconds.
    static let patience: Int64 = 30_000_000_000
    /// Between two attempts of a change that cannot be refused for good.
    static let retryPause: Int64 = 5_000_000_000

    private enum Stage: Equatable { case idle, beginning, preparing, persisting, committing, answering }

    private var stage = Stage.idle
    private(set) var waiting: [(number: Int, bytes: Int)] = []
    /// In the order in which they commit. They are asked the other way round, so that a sensor that has to be opened anew
    /// stands still for as short a time as possible.
    private var owners: [SettingOwner] = []
    /// Owners that have prepared the change or, in `committing`, that have not committed yet.
    private var prepared: [SettingOwner] = []
    private var isForced = false
    private var deadline: Int64 = .max
    private var retryDue: Int64 = 0

    var isIdle: Bool { stage == .idle }
    /// When `time` is due; nil: not at all.
    var due: Int64? { deadline == .max ? nil : deadline }

    /// Whether a change that goes back by itself may be tried now.
    func mayForce(now: Int64) -> Bool { isIdle && now >= retryDue }

    mutating func handle(_ event: Event, now: Int64) -> [Action] {
        switch (event, stage) {
        case (.asked(let number, _), .idle):
            stage = .beginning
            return [.begin(number)]
        case (.asked(let number, let bytes), _):
            let isFull = waiting.count >= Self.waitingLimit
            guard !isFull, waiting.reduce(bytes, { $0 + $1.bytes }) <= Self.waitingBytes else { return [.busy(number)] }
            waiting.append((number, bytes))
            return []
        case (.nothing, .beginning): return next()
        case (.start(let owners, let isForced), .beginning), (.start(let owners, let isForced), .idle):
            (self.owners, prepared, self.isForced) = (owners, [], isForced)
            return prepare(now)
        case (.prepared(let owner), .preparing) where owner == asked:
            prepared.append(owner)
            return prepare(now)
        case (.refused(let owner, let errors), .preparing) where owner == asked:
            return refuse(OwnerRefusal(owner: owner, errors: errors), asked: [], now)
        case (.persisted(nil), .persisting): return adopt(now)
        // A change goes back whether the disk takes it or not: then the file has one whose time is over.
        case (.persisted, .persisting) where isForced: return adopt(now)
        case (.persisted(let problem?), .persisting):
            let error = CodedError("", .unavailable, "settings could not be saved: \(problem)")
            return refuse(OwnerRefusal(owner: .storage, errors: [error]), asked: [], now)
        case (.committed(let owner), .committing):
            prepared.removeAll { $0 == owner }
            return answer(now)
        case (.answered, .answering): return finish()
        case (.time, _) where now >= deadline: return late(now)
        default: return []
        }
    }

    /// The owner whose answer is awaited.
    private var asked: SettingOwner? { owners.dropLast(prepared.count).last }

    /// Asks the next owner or, when all have prepared, the disk.
    private mutating func prepare(_ now: Int64) -> [Action] {
        deadline = now + Self.patience
        stage = asked == nil ? .persisting : .preparing
        return [asked.map { .prepare($0) } ?? .persist]
    }

    private mutating func late(_ now: Int64) -> [Action] {
        switch stage {
        case .preparing, .persisting:
            let owner = asked ?? .storage
            if stage == .persisting, isForced { return adopt(now) }
            let words = "no answer within \(Self.patience / 1_000_000_000) s"
            return refuse(
                OwnerRefusal(owner: owner, errors: [CodedError("", .unavailable, words)]),
                asked: asked.map { [$0] } ?? [],
                now)
        // It is in force, and the reply leaves when the disk has taken it down.
        case .answering: return finish()
        case .idle, .beginning, .committing: return []
        }
    }

    /// - Parameter asked: also those that may have prepared it without our knowledge.
    private mutating func refuse(_ refusal: OwnerRefusal, asked: [SettingOwner], _ now: Int64) -> [Action] {
        let actions = (prepared + asked).map { Action.abandon($0) } + (stage == .persisting ? [.restore] : [])
        if isForced { retryDue = now + Self.retryPause }
        return actions + [.answer(refusal), .finish] + next()
    }

    /// Owners that commit before the reply, and those that do after it: where the reply leaves may depend on these.
    private static let first: [SettingOwner] = [.log, .sampling]

    private mutating func adopt(_ now: Int64) -> [Action] {
        stage = .committing
        deadline = .max
        prepared = owners.filter(Self.first.contains)
        return [.adopt] + prepared.map { .commit($0) } + (prepared.isEmpty ? answer(now) : [])
    }

    private mutating func answer(_ now: Int64) -> [Action] {
        guard prepared.isEmpty else { return [] }
        stage = .answering
        deadline = now + Self.patience
        return [.answer(nil)]
    }

    private mutating func finish() -> [Action] {
        owners.filter { !Self.first.contains($0) }.map { .commit($0) } + [.finish] + next()
    }

    /// The next request has its turn.
    private mutating func next() -> [Action] {
        (stage, deadline, owners, prepared) = (.idle, .max, [], [])
        guard !waiting.isEmpty else { return [] }
        stage = .beginning
        return [.begin(waiting.removeFirst().number)]
    }
}
