import NIOCore
import Threads

/// Samples that a client of the web services wants and the ring does not have: the server's thread wishes, the hub asks
/// the station and says when it has answered.
final class Fetches: Sendable {
    /// A time of a station, nanoseconds of UTC.
    struct Wish: Sendable {
        var station: String
        var from: Int64
        var to: Int64
        let ticket: FetchTicket
    }

    private let wishes = Mutex<[Wish]>([])
    private let wake: Wake
    private let loop: any EventLoop

    init(wake: Wake, loop: any EventLoop) { (self.wake, self.loop) = (wake, loop) }

    /// Of the server's thread.
    func ask(_ new: [Wish]) {
        wishes.withLock { $0 += new }
        wake.signal()
    }

    /// Of the hub's.
    func take() -> [Wish] {
        wishes.withLock { wishes in
            defer { wishes = [] }
            return wishes
        }
    }

    func settle(_ ticket: FetchTicket) { loop.execute { ticket.settle() } }
}

/// Waits until all of a request's wishes are settled, or the time for it is over. Of the server's thread alone.
final class FetchTicket: @unchecked Sendable {
    private var open: Int
    private var body: (() -> Void)?

    /// - Parameter body: what follows, once.
    init(wishes: Int, seconds: Double, loop: any EventLoop, body: @escaping () -> Void) {
        (open, self.body) = (wishes, body)
        loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { self.finish() }
    }

    func settle() {
        open -= 1
        if open <= 0 { finish() }
    }

    private func finish() {
        let body = body
        self.body = nil
        body?()
    }
}
