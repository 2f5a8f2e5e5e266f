import Commands
import Link
import Messages
import Settings

/// Commands and replies that wait for the disk, while the main thread goes on.
struct DiskWaits {
    struct Reply {
        /// Of the write that it waits for.
        var number: Int
        var id: String?
        var bytes: [UInt8]
        var destination: ReplyDestination
    }

    /// A command that the disk does not take down in this time is not carried out (ns).
    static let patience: Int64 = 10_000_000_000

    /// Messages behind a command that waits; all that have come later stay in the inbox, which has its bounds.
    var arrived: ArraySlice<InboundMessage> = []
    /// A command that is carried out when the disk knows of it; those behind it wait.
    private(set) var begun: (request: CommandRequest, number: Int, deadline: Int64)?
    private(set) var replies: [Reply] = []
    /// A process that is to end does not wait longer for replies (monotonic, ns).
    private(set) var patienceEnds: Int64 = 0

    mutating func begin(_ request: CommandRequest, _ number: Int) {
        begun = (request, number, HostClock.monotonic() + Self.patience)
    }

    mutating func wait(_ reply: Reply) {
        replies.append(reply)
        patienceEnds = HostClock.monotonic() + 2_000_000_000
    }

    /// All that a write has let go.
    mutating func written(_ number: Int) -> (request: CommandRequest?, replies: [Reply]) {
        let free = Array(replies.prefix { $0.number <= number })
        replies.removeFirst(free.count)
        guard let one = begun, one.number <= number else { return (nil, free) }
        begun = nil
        return (one.request, free)
    }

    /// A command whose time is over.
    mutating func givenUp(now: Int64) -> CommandRequest? {
        guard let one = begun, now >= one.deadline else { return nil }
        begun = nil
        return one.request
    }
}

extension Dispatcher {
    /// What has become of writes.
    mutating func takeWrites(_ reporter: inout Reporter) {
        for outcome in storage.files.takeOutcomes() {
            switch outcome.file {
            case .settings:
                if outcome.problem != nil { keeper.isUnknown() }
                guard let number = persisting, outcome.number >= number else { continue }
                persisting = nil
                follow(.persisted(outcome.problem), &reporter)
            case .credentials:
                guard let number = checking, outcome.number >= number else { continue }
                checking = nil
                let problem = outcome.problem.map { CodedError("/mqtt/tls", .crossField, $0) }
                follow(problem.map { .refused(.link, [$0]) } ?? .prepared(.link), &reporter)
            case .room:
                guard let number = measuring, outcome.number >= number else { continue }
                measuring = nil
                let problem = outcome.problem.map { CodedError("/storage/budget_mb", .unavailable, $0) }
                follow(problem.map { .refused(.storage, [$0]) } ?? .prepared(.storage), &reporter)
            case .commands:
                if let problem = outcome.problem, problem != journalProblem {
                    log.error("command journal not saved: \(problem)")
                }
                journalProblem = outcome.problem
                written(outcome.number, &reporter)
            case .selfTest, .calibration, .homeAssistant:
                if let problem = outcome.problem { reporter.note(problem) }
            }
        }
        guard let request = disk.givenUp(now: HostClock.monotonic()) else { return }
        fail(
            request, revision: reporter.revision,
            [CodedError("", .unavailable, "The disk did not answer within 10 s. Nothing was done: ask again later.")])
    }

    private mutating func written(_ number: Int, _ reporter: inout Reporter) {
        let (request, replies) = disk.written(number)
        for one in replies { publish(one.bytes, one.destination) }
        if let reply = answering, reply <= number {
            answering = nil
            follow(.answered, &reporter)
        }
        if let request { carryOut(request, &reporter) }
    }

    /// Lets the last replies leave, if the disk takes them down in time.
    mutating func finish(_ reporter: inout Reporter, within seconds: Double) {
        let end = HostClock.monotonic() + Int64(seconds * 1e9)
        while !disk.replies.isEmpty, HostClock.monotonic() < end {
            if inbox.wake.wait(milliseconds: 50) { inbox.wake.clear() }
            takeWrites(&reporter)
        }
    }
}
