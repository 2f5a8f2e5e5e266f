import Feed
import MiniSEED
import NIOHTTP1

/// dataselect: records from the ring, and what stations are asked for before.
extension WebServices {
    /// A channel and a time that are asked for.
    private struct Wanted {
        var channel: Int64
        var from: Int64
        var to: Int64
        var after = Int64.min
    }

    func records(_ query: FDSNQuery) -> WebAnswer? {
        var wanted: [Wanted] = []
        each(query) { line, _, stream, number in
            let (from, to) = (line.begin ?? stream.begin, line.end ?? stream.end)
            if from <= to { wanted.append(Wanted(channel: number, from: from, to: to)) }
        }
        var place = 0
        let ring = server.ring
        // 128 KiB at a time: nothing is held that the client has not taken.
        let more = { () -> [UInt8]? in
            var bytes: [UInt8] = []
            while place < wanted.count, bytes.count < 128 << 10 {
                let one = wanted[place]
                let found =
                    (try? ring.records(one.channel, from: one.from, to: one.to, after: one.after, most: 256)) ?? []
                guard let last = found.last else {
                    place += 1
                    continue
                }
                wanted[place].after = last.start
                for record in found {
                    if record.start >= one.from, record.end <= one.to {
                        bytes += record.data
                    } else {
                        // At the ends of the time, samples outside of it are cut off.
                        _ = try? MiniSEEDCut.append(record.data, one.from...one.to, to: &bytes)
                    }
                }
            }
            return bytes.isEmpty ? nil : bytes
        }
        guard let first = more() else { return nil }
        return WebAnswer("application/vnd.fdsn.mseed", first, more: more)
    }

    /// All channels that a query has in mind.
    private func each(_ query: FDSNQuery, _ body: (FDSNQuery.Line, FeedStation, FeedStream, Int64) -> Void) {
        server.board.read { contents in
            for line in query.lines {
                for (index, station) in contents.stations.enumerated() where line.matches(station.network, station.code)
                {
                    for stream in station.streams
                    where line.matches(location: stream.location, channel: stream.channel) {
                        if let number = contents.channels[index][FeedStream.key(stream.location, stream.channel)] {
                            body(line, station, stream, number)
                        }
                    }
                }
            }
        }
    }

    /// Nanoseconds of samples that a station is asked for at most because of a request: three hours.
    private static let mostFetched: Int64 = 10_800_000_000_000
    /// Rows of the ring that are looked at to find out what is missing: a few ten milliseconds.
    private static let mostRows = 16_384

    /// Times of stations that a request wants and the ring has no records of, the newest first; only where it says from when
    /// on, and of channels at the sensor's rate, which alone are on a station's disk.
    func lacking(_ question: WebQuestion) -> [(station: String, from: Int64, to: Int64)] {
        guard server.settings.fetchSeconds > 0, case .query(.dataselect, let query, _) = question else { return [] }
        var found: [String: [ClosedRange<Int64>]] = [:]
        var search = LackSearch(rows: Self.mostRows, most: Self.mostFetched)
        let wanted = fetchable(query)
        let share = max(16, Self.mostRows / max(1, wanted.count))
        for one in wanted where search.left > 0 {
            let ring = server.ring
            guard let own = try? ring.rate(of: one.channel), abs(own - one.rate) < 0.01 * one.rate else { continue }
            let gaps = try? search.gaps(
                one.range, begin: one.begin, rate: one.rate, rows: share,
                holes: { try ring.holes(one.channel, until: $0, most: $1) },
                records: { try ring.spans(one.channel, $0, most: $1) })
            found[one.station, default: []] += gaps ?? []
        }
        return found.flatMap { id, gaps in
            Coverage.newest(Coverage.united(gaps), lasting: Self.mostFetched).map { (id, $0.lowerBound, $0.upperBound) }
        }
    }

    /// A channel at the sensor's rate of a station that is online.
    private struct Fetchable {
        var station: String
        var channel: Int64
        /// Times of samples that are wanted; nothing is missing after the channel's end.
        var range: ClosedRange<Int64>
        /// See ``FeedStream/orderedBegin``.
        var begin: Int64
        var rate: Double
    }

    private func fetchable(_ query: FDSNQuery) -> [Fetchable] {
        var wanted: [(identifier: String, channel: Int64, range: ClosedRange<Int64>, begin: Int64)] = []
        each(query) { line, station, stream, number in
            guard let begin = line.begin, stream.channel.dropFirst().first == "N", wanted.count < Self.mostRows else {
                return
            }
            let end = min(line.end ?? .max, stream.end)
            if begin <= end { wanted.append((station.identifier, number, begin...end, stream.orderedBegin)) }
        }
        let (ids, rates) = server.board.read { contents in
            (contents.ids, contents.rates.filter { contents.states[$0.key]?.isOnline == true })
        }
        return wanted.compactMap { one in
            guard let id = ids[one.identifier], let rate = rates[id] else { return nil }
            return Fetchable(station: id, channel: one.channel, range: one.range, begin: one.begin, rate: rate)
        }
    }
}
