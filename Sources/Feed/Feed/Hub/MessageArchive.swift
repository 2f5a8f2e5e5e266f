import DatabaseFiles

/// Descriptions of stations on the disk for the next run: at most so many bytes of all together. Stations that send no
/// samples give first, the one that was heard of first; the broker retains the descriptions in any case.
struct MessageArchive {
    /// Bytes of the file that a message takes besides its own.
    private static let bytesOfRow = 2048

    private let ring: Ring
    private let mostBytes: Int
    private var bytes = 0
    private var uses: [String: [String: Int]] = [:]
    /// Stations in the order in which they were first heard of.
    private var order: [String] = []

    /// - Parameter mostBytes: of all messages together.
    init(ring: Ring, mostBytes: Int) { (self.ring, self.mostBytes) = (ring, mostBytes) }

    /// Takes note of a former run's message that is on the disk already.
    mutating func know(_ station: String, _ topic: String, bytes count: Int) {
        if uses[station] == nil { order.append(station) }
        let use = count + Self.bytesOfRow
        bytes += use - (uses[station]?[topic] ?? 0)
        uses[station, default: [:]][topic] = use
    }

    /// Keeps a message in the place of the one before.
    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func set(
        _ station: String, _ topic: String, _ payload: [UInt8], hasSamples: (String) -> Bool
    ) throws(DatabaseError) {
        try ring.set(station, topic, payload)
        know(station, topic, bytes: payload.count)
        try limit(hasSamples)
    }

    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func limit(_ hasSamples: (String) -> Bool) throws(DatabaseError) {
        guard bytes > mostBytes else { return }
        // (A tenth more, so that not each message looks through all of them.)
        let enough = mostBytes - mostBytes / 10
        for isLast in [false, true] {
            var kept: [String] = []
            for station in order {
                guard bytes > enough, isLast || !hasSamples(station) else {
                    kept.append(station)
                    continue
                }
                try ring.removeMessages(of: station)
                bytes -= uses.removeValue(forKey: station)?.values.reduce(0, +) ?? 0
            }
            order = kept
        }
    }
}
