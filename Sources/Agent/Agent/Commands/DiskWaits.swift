import Commands
import Messages

/// Commands and replies that wait for the disk, while the main thread goes on.
struct DiskWaits {
    struct Reply {
        /// Number of the write that it waits for.
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
