import Feed
import NIOCore
import NIOPosix
import Threads

/// Some threads for what takes longer than a turn of the server's loop: answers of the web services, and passwords. Each has
/// a connection of its own to the ring. Who asks for much waits behind himself: addresses have their turns one after the
/// other.
final class Workers: Sendable {
    private struct Waiting {
        var queue = FairQueue<@Sendable (Ring) -> Void>()
        var rings: [Ring]
    }

    private static let threads = 2

    private let pool = NIOThreadPool(numberOfThreads: threads)
    private let waiting: Mutex<Waiting>

    /// - Parameter open: opens a connection that reads.
    init(_ open: () throws -> Ring) throws {
        waiting = Mutex(Waiting(rings: try (0..<Self.threads).map { _ in try open() }))
        pool.start()
    }

    /// Does something on one of the threads, when it is this address's turn.
    func run(for address: String, _ body: @escaping @Sendable (Ring) -> Void) {
        waiting.withLock { $0.queue.append(body, of: address) }
        pool.submit { _ in self.next() }
    }

    private func next() {
        let job = waiting.withLock { waiting -> (ring: Ring, body: @Sendable (Ring) -> Void)? in
            guard let ring = waiting.rings.popLast() else { return nil }
            guard let body = waiting.queue.next() else {
                waiting.rings.append(ring)
                return nil
            }
            return (ring, body)
        }
        guard let job else { return }
        job.body(job.ring)
        waiting.withLock { $0.rings.append(job.ring) }
    }

    func stop() { try? pool.syncShutdownGracefully() }
}
