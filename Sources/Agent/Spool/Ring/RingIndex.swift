/// Which pieces the ring has, in the order in which they were added. Kept in memory, 64 bytes each.
struct RingIndex {
    private(set) var entries: [RingSegment] = []
    private(set) var bytes = 0
    /// Seconds of recorded data, whatever the clock said.
    private(set) var seconds = 0.0

    /// The highest place that was ever used.
    private var highest: Int64 = 0

    func has(_ segment: RingSegment) -> Bool { entries.contains { $0.number == segment.number } }

    var nextNumber: Int64 { (entries.last?.number ?? 0) &+ 1 }
    var freshSlot: Int64 { highest &+ 1 }

    mutating func append(_ segment: RingSegment) {
        entries.append(segment)
        highest = max(highest, segment.slot)
        bytes += segment.bytes
        seconds += segment.seconds
    }

    mutating func moveNewest(to slot: Int64) {
        guard !entries.isEmpty else { return }
        entries[entries.count - 1].slot = slot
    }

    mutating func removeFirst(_ count: Int) {
        for segment in entries.prefix(count) {
            bytes -= segment.bytes
            seconds -= segment.seconds
        }
        entries.removeFirst(count)
        if entries.isEmpty { (bytes, seconds) = (0, 0) }
    }

    /// A piece that is lost.
    mutating func remove(slot: Int64) {
        guard let index = entries.firstIndex(where: { $0.slot == slot }) else { return }
        let segment = entries.remove(at: index)
        bytes -= segment.bytes
        seconds -= segment.seconds
        if entries.isEmpty { (bytes, seconds) = (0, 0) }
    }

    /// How many of the oldest have to go. The newest never has to.
    func surplus(seconds limit: Double, bytes limitBytes: Int) -> Int {
        var count = 0
        var (seconds, bytes) = (seconds, bytes)
        while count + 1 < entries.count {
            let oldest = entries[count]
            // Whole pieces: what remains has to cover the wanted length.
            let isLong = seconds - oldest.seconds >= limit
            guard isLong || bytes > limitBytes || entries.count - count > Self.limit else { break }
            seconds -= oldest.seconds
            bytes -= oldest.bytes
            count += 1
        }
        return count
    }

    /// A guard against pieces without length.
    static let limit = 32_768
}
