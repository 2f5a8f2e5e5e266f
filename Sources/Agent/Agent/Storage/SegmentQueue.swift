import Messages
import Platform

/// Segments of the waveform ring on their way from the sampling thread to the storage thread, a bounded number of them.
final class SegmentQueue: Sendable {
    struct Item: Sendable {
        var segment: WaveformSegment
        var records: [UInt8]
    }

    private struct State {
        var items: [Item] = []
        var lost = 0

        /// The oldest go.
        mutating func trim() {
            var bytes = items.reduce(0) { $0 + $1.records.count }
            while items.count > SegmentQueue.limit || bytes > SegmentQueue.byteLimit && items.count > 1 {
                bytes -= items.removeFirst().records.count
                lost += 1
            }
        }
    }

    /// Ten minutes in the quiet, one while an event lasts.
    private static let limit = 64
    private static let byteLimit = 1 << 20

    private let state = Mutex(State())
    private let flush = Atomic<Bool>(false)
    /// Signalled when there is something; nil: nobody waits for it.
    private let wake: Wake?

    init(wake: Wake?) { self.wake = wake }

    /// Takes a copy; the oldest for which there is no room are lost, and counted.
    func put(_ segment: WaveformSegment, _ records: UnsafeRawBufferPointer) {
        let item = Item(segment: segment, records: [UInt8](records))
        state.withLock { state in
            state.items.append(item)
            state.trim()
        }
        wake?.signal()
    }

    /// Puts back items that could not be stored, for another try.
    func putBack(_ items: [Item]) {
        guard !items.isEmpty else { return }
        state.withLock { state in
            state.items.insert(contentsOf: items, at: 0)
            state.trim()
        }
    }

    /// Asks the sampling thread for what it has of the newest segment.
    func requestFlush() { flush.store(true, ordering: .releasing) }

    /// True until the sampling thread has heard of it.
    var awaitsFlush: Bool { flush.load(ordering: .acquiring) }

    /// Whether that has been asked for since the last time; without a lock.
    func takeFlush() -> Bool {
        guard flush.load(ordering: .acquiring) else { return false }
        flush.store(false, ordering: .releasing)
        return true
    }

    /// All there are, oldest first.
    func takeAll() -> [Item] {
        state.withLock { state in
            defer { state.items.removeAll() }
            return state.items
        }
    }

    /// Segments that did not fit since the start.
    var lost: Int { state.withLock { $0.lost } }
}
