@testable import Feed

/// An archive in memory, for tests.
struct MemoryArchive: FeedArchive {
    var stations: [FeedStation] = []
    var now: Int64 = 1_700_000_000_000_000_000
    var started: Int64 = 1_700_000_000_000_000_000
    var clients: [FeedClient] = []
    var all: [[FeedPacket]] = []

    /// - Parameter first: number of the first packet.
    mutating func add(_ code: String, packets: Int, first: UInt64 = 1, channels: [String] = ["HNZ"]) {
        stations.append(
            FeedStation(
                network: "XX", code: code, description: "station \"\(code)\"", first: first,
                last: first + UInt64(packets) - 1,
                streams: channels.map {
                    FeedStream(
                        location: "00", channel: $0, begin: Self.time(0), end: Self.time(packets))
                }))
        all.append([])
        for index in 0..<packets { append(to: all.count - 1, index, channels[index % channels.count], first) }
    }

    mutating func append(to station: Int, _ index: Int, _ channel: String, _ first: UInt64 = 1) {
        let number = first + UInt64(index)
        var record = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 512)
        record[0] = UInt8(truncatingIfNeeded: station)
        all[station].append(
            FeedPacket(
                sequence: number, location: "00", channel: channel, start: Self.time(index), end: Self.time(index + 1),
                record: record))
        stations[station].last = max(stations[station].last, number)
    }

    /// Two seconds a packet, from 2023-11-14T22:13:20 on.
    static func time(_ index: Int) -> Int64 { 1_700_000_000_000_000_000 + Int64(index) * 2_000_000_000 }

    func packets(of station: Int, from sequence: UInt64, most: Int) -> [FeedPacket] {
        Array(all[station].drop { $0.sequence < sequence }.prefix(most))
    }

    var allGaps: [FeedGap] = []

    func gaps(most: Int) -> [FeedGap] { Array(allGaps.prefix(most)) }

    func sequence(of station: Int, reaching time: Int64) -> UInt64? {
        all[station].first { $0.end >= time }?.sequence
    }
}
