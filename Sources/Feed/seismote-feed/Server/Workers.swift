import Feed
import NIOCore
import NIOPosix
import Platform

/// How long somebody has waited.
struct Wait: Sendable {
    var seconds = 0.0
    /// Part of it in which this program has worked for others: the rest was waiting for a processor or a disk.
    var worked = 0.0

    static func += (one: inout Wait, other: Wait) {
        one.seconds += other.seconds
        one.worked += other.worked
    }
}

/// Some threads for what takes longer than a turn of the server's loop: answers of the web services, and passwords. Each has
/// a connection of its own to the ring. Addresses have their turns by ``FairQueue``. What is long, or goes on with an answer
/// that has begun, has threads of its own, which leave the processors to the loop and to what is short.
final class Workers: Sendable {
    private typealias Job = @Sendable (Ring, Wait) -> Void

    /// Threads for one kind of work.
    private struct Lane {
        var queue = FairQueue<(job: Job, asked: Double, worked: Double)>()
        var rings: [Ring]
    }

    private struct State {
        var short: Lane
        var long: Lane
        /// Seconds of a processor that all jobs have had.
        var worked = 0.0
    }

    private static let (shortThreads, longThreads) = (1, 2)

    private let short = NIOThreadPool(numberOfThreads: shortThreads)
    private let long = NIOThreadPool(numberOfThreads: longThreads)
    private let state: Mutex<State>

    /// - Parameter open: opens a connection that reads.
    init(_ open: () throws -> Ring) throws {
        func lane(_ threads: Int) throws -> Lane { Lane(rings: try (0..<threads).map { _ in try open() }) }
        state = Mutex(State(short: try lane(Self.shortThreads), long: try lane(Self.longThreads)))
        short.start()
        long.start()
    }

    /// Does something on one of the threads, when it is this address's turn.
    /// - Parameters:
    ///   - isLong: it may take longer than some milliseconds, or nobody waits for its beginning.
    ///   - body: gets a connection to the ring, and how long it has waited.
    func run(for address: String, isLong: Bool = false, _ body: @escaping @Sendable (Ring, Wait) -> Void) {
        let asked = monotonicSeconds()
        let lane: WritableKeyPath<State, Lane> = isLong ? \.long : \.short
        state.withLock { $0[keyPath: lane].queue.append((body, asked, $0.worked), of: address) }
        // (One that finds nothing to do leaves it to those that are at work.)
        (isLong ? long : short).submit { _ in
            if isLong { letOthersGoFirst() }
            while self.work(isLong) {}
        }
    }

    /// - Returns: whether there was something to do.
    private func work(_ isLong: Bool) -> Bool {
        let lane: WritableKeyPath<State, Lane> = isLong ? \.long : \.short
        let turn = state.withLock { state -> (job: Job, owner: String, ring: Ring, wait: Wait)? in
            guard let ring = state[keyPath: lane].rings.popLast() else { return nil }
            guard let (item, owner) = state[keyPath: lane].queue.next() else {
                state[keyPath: lane].rings.append(ring)
                return nil
            }
            let seconds = monotonicSeconds() - item.asked
            return (item.job, owner, ring, Wait(seconds: seconds, worked: min(seconds, state.worked - item.worked)))
        }
        guard let turn else { return false }
        let before = processorSeconds()
        turn.job(turn.ring, turn.wait)
        let seconds = processorSeconds() - before
        state.withLock { state in
            state[keyPath: lane].rings.append(turn.ring)
            state[keyPath: lane].queue.end(of: turn.owner, seconds: seconds)
            state.worked += seconds
        }
        return true
    }

    func stop() {
        try? short.syncShutdownGracefully()
        try? long.syncShutdownGracefully()
    }
}
