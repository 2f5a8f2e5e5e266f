import DatabaseFiles

/// One channel of a station, as far as the archive has it.
public struct FeedStream: Sendable, Equatable {
    public var location: String
    /// Three letters, such as `HNZ`.
    public var channel: String
    /// Time of its first and its last sample, nanoseconds of UTC.
    public var begin: Int64
    public var end: Int64
    /// When the first record in order begins; records before it were fetched later, with holes between them.
    var orderedBegin: Int64

    /// - Parameter orderedBegin: nil: as `begin`.
    public init(location: String, channel: String, begin: Int64, end: Int64, orderedBegin: Int64? = nil) {
        (self.location, self.channel, self.begin, self.end) = (location, channel, begin, end)
        self.orderedBegin = orderedBegin ?? begin
    }

    /// `00_H_N_Z`, as SeedLink 4 names it.
    public var identifier: String {
        let codes = Array(channel)
        return codes.count == 3 ? "\(location)_\(codes[0])_\(codes[1])_\(codes[2])" : "\(location)_\(channel)"
    }
}

/// One station of the archive; its packets are numbered from 1 on, without a hole.
public struct FeedStation: Sendable, Equatable {
    public var network: String
    public var code: String
    public var description: String
    /// Numbers of the oldest and of the newest packet; `first` is above `last` where there is none.
    public var first: UInt64
    public var last: UInt64
    public var streams: [FeedStream]

    public init(
        network: String, code: String, description: String = "", first: UInt64 = 1, last: UInt64 = 0,
        streams: [FeedStream] = []
    ) {
        (self.network, self.code, self.description) = (network, code, description)
        (self.first, self.last, self.streams) = (first, last, streams)
    }

    /// `XX_BASE`, as SeedLink 4 names it.
    public var identifier: String { "\(network)_\(code)" }
}

/// One record of 512 bytes in the order in which it was made.
public struct FeedPacket: Sendable, Equatable {
    public var sequence: UInt64
    public var location: String
    public var channel: String
    /// Time of its first and its last sample, nanoseconds of UTC.
    public var start: Int64
    public var end: Int64
    /// miniSEED 2.
    public var record: [UInt8]

    public init(sequence: UInt64, location: String, channel: String, start: Int64, end: Int64, record: [UInt8]) {
        (self.sequence, self.location, self.channel) = (sequence, location, channel)
        (self.start, self.end, self.record) = (start, end, record)
    }
}

/// A client of the server, for those who ask who is connected.
public struct FeedClient: Sendable, Equatable {
    /// Position of a client in a station's packets.
    public struct Position: Sendable, Equatable {
        /// The station's place in the archive.
        public var station: Int
        /// Number of the packet that comes next.
        public var next: UInt64
        public init(station: Int, next: UInt64) { (self.station, self.next) = (station, next) }
    }

    public var address: String
    public var port: Int
    /// Nanoseconds of UTC.
    public var since: Int64
    public var program: String
    public var packets: Int
    public var positions: [Position] = []

    public init(address: String, port: Int = 0, since: Int64, program: String = "", packets: Int = 0) {
        (self.address, self.port, self.since) = (address, port, since)
        (self.program, self.packets) = (program, packets)
    }
}

/// Samples that were declared missing.
public struct FeedGap: Sendable, Equatable {
    /// The station's place in the archive.
    public var station: Int
    public var location: String
    public var channel: String
    /// Times of the first sample that is missing and of the first that is not, nanoseconds of UTC.
    public var from: Int64
    public var to: Int64

    public init(station: Int, location: String, channel: String, from: Int64, to: Int64) {
        (self.station, self.location, self.channel) = (station, location, channel)
        (self.from, self.to) = (from, to)
    }
}

/// Archive that sessions read. Stations keep their place in the list; new ones come at its end.
public protocol FeedArchive {
    var stations: [FeedStation] { get }
    /// Time of now and of the server's start, nanoseconds of UTC.
    var now: Int64 { get }
    var started: Int64 { get }
    var clients: [FeedClient] { get }
    /// - Returns: packets with numbers from `sequence` on, in order.
    func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket]
    /// - Returns: the number of the first packet whose samples reach this time; nil: there is none.
    func sequence(of station: Int, reaching time: Int64) -> UInt64?
    /// The newest gaps of all stations, in any order.
    func gaps(most: Int) -> [FeedGap]
}

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
