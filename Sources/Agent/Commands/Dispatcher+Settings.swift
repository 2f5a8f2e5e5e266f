import Messages
import Settings

/// The verbs of the configuration.
extension Dispatcher {
    mutating func settings(_ request: CommandRequest, _ reporter: inout Reporter) {
        fail(
            request, revision: reporter.revision,
            [WireError("", .unavailable, "This station cannot be configured remotely.")])
    }

    mutating func failed(_ ordered: Ordered, _ error: OrderError, _ reporter: inout Reporter) {
        fail(ordered.request, revision: reporter.revision, [error.wire])
    }
}
