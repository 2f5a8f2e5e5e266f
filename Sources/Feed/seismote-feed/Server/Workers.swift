import Feed
import NIOCore
import NIOPosix
import Threads

/// How long somebody has waited.
struct Wait: Sendable {
    var seconds = 0.0
    /// Of it, for how long this program has worked for others meanwhile: the rest was waiting for a processor or a disk.
    var worked = 0.0

    static func += (one: inout Wait, other: Wait) {
        one.seconds += other.seconds
        one.worked += other.worked
    }
}

/// Some threads for what takes longer than a turn of the server's loop: answers of the web services, and passwords. Each has
/// a connection of its own to the ring. Addresses have their turns by ``FairQueue``; one thread does nothing that is long.
final class Workers: Sendable {
    private typealias Job = @Sendable (Ring, Wait) -> Void

    private struct State {
        var queue = FairQueue<(job: Job, isLong: Bool, asked: Double, worked: Double)>()
        var rings: [Ring]
        var long = 0
        /// Seconds of a processor that all jobs have had.
        var worked = 0.0
    }

    private static let threads = 3
    private static let mostLong = threads - 1

    private let pool = NIOThreadPool(numberOfThreads: threads)
    private let state: Mutex<State>

    /// - Parameter open: opens a connection that reads.
    init(_ open: () throws -> Ring) throws {
        state = Mutex(State(rings: try (0..<Self.threads).map { _ in try open() }))
        pool.start()
    }

    /// Does something on one of the threads, when it is this address's turn.
    /// - Parameters:
    ///   - isLong: it may take longer than some milliseconds.
    ///   - body: gets a connection to the ring, and how long it has waited.
    func run(for address: String, isLong: Bool = false, _ body: @escaping @Sendable (Ring, Wait) -> Void) {
        let asked = monotonicSeconds()
        state.withLock { $0.queue.append((body, isLong, asked, $0.worked), of: address, isLong: isLong) }
        // (One that finds nothing to do, or nothing that may be done now, leaves it to those that are at work.)
        pool.submit { _ in while self.work() {} }
    }

    /// - Returns: whether there was something to do.
    private func work() -> Bool {
        let turn = state.withLock { state -> (job: Job, isLong: Bool, owner: String, ring: Ring, wait: Wait)? in
            guard let ring = state.rings.popLast() else { return nil }
            guard let (item, owner) = state.queue.next(takesLong: state.long < Self.mostLong) else {
                state.rings.append(ring)
                return nil
            }
            if item.isLong { state.long += 1 }
            let seconds = monotonicSeconds() - item.asked
            let wait = Wait(seconds: seconds, worked: min(seconds, state.worked - item.worked))
            return (item.job, item.isLong, owner, ring, wait)
        }
        guard let turn else { return false }
        let before = processorSeconds()
        turn.job(turn.ring, turn.wait)
        let seconds = processorSeconds() - before
        state.withLock { state in
            state.rings.append(turn.ring)
            if turn.isLong { state.long -= 1 }
            state.worked += seconds
            state.queue.end(of: turn.owner, seconds: seconds)
        }
        return true
    }

    func stop() { try? pool.syncShutdownGracefully() }
}
