import DatabaseFiles

/// The archive as a thread of the server sees it: what is newest from memory, the rest from the disk.
public struct SharedArchive: FeedArchive {
    public let started: Int64
    public let now: Int64
    public let stations: [FeedStation]
    private let listClients: () -> [FeedClient]
    private let ring: Ring
    private let recent: [[FeedPacket]]
    private let numbers: [Int64]
    private let channels: [[String: Int64]]
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - ring: a connection of this thread.
    ///   - started: when the server was started, nanoseconds of UTC.
    ///   - clients: lists who is connected; only who asks for it waits for that.
    ///   - say: gets a sentence where the disk cannot be read.
    public init(
        _ shared: SharedState, ring: Ring, started: Int64, now: Int64, clients: @escaping () -> [FeedClient],
        say: @escaping @Sendable (String) -> Void
    ) {
        (self.ring, self.started, self.now, self.listClients, self.say) = (ring, started, now, clients, say)
        (stations, recent, numbers, channels) = shared.read { ($0.stations, $0.recent, $0.numbers, $0.channels) }
    }

    public var clients: [FeedClient] { listClients() }

    public func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket] {
        if let first = recent[station].first, first.sequence <= sequence {
            return Array(recent[station].dropFirst(Int(sequence - first.sequence)).prefix(most))
        }
        return read([]) { () throws(DatabaseError) in
            try ring.packets(numbers[station], from: sequence, most: most)
        }
    }

    public func sequence(of station: Int, reaching time: Int64) -> UInt64? {
        read(nil) { () throws(DatabaseError) in try ring.sequence(numbers[station], reaching: time) }
    }

    public func gaps(most: Int) -> [FeedGap] {
        var names: [Int64: (station: Int, key: String)] = [:]
        for (station, own) in channels.enumerated() { for (key, number) in own { names[number] = (station, key) } }
        let holes = read([]) { () throws(DatabaseError) in try ring.holes(most: most) }
        return holes.compactMap { hole in
            guard let name = names[hole.channel],
                let stream = stations[name.station].streams.first(where: {
                    FeedStream.key($0.location, $0.channel) == name.key
                })
            else { return nil }
            return FeedGap(
                station: name.station, location: stream.location, channel: stream.channel, from: hole.from, to: hole.to)
        }
    }

    private func read<T>(_ nothing: T, _ body: () throws(DatabaseError) -> T) -> T {
        do throws(DatabaseError) {
            return try body()
        } catch {
            say(error.message)
            return nothing
        }
    }
}
