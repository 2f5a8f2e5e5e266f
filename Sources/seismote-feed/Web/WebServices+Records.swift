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

    /// Nanoseconds of samples that a station is asked for at most, before what the ring has: three hours.
    private static let mostFetched: Int64 = 10_800_000_000_000

    /// Times of stations that a request wants and the ring has no records of; only where it says from when on, and of
    /// channels at the sensor's rate, which alone are on a station's disk.
    func lacking(_ request: WebRequest) -> [(station: String, from: Int64, to: Int64)] {
        guard server.settings.fetchSeconds > 0, let (service, what) = Service.asked(request.path),
            service == .dataselect, what == "query", let query = try? request.query(for: service)
        else { return [] }
        var wanted: [(identifier: String, channel: Int64, range: ClosedRange<Int64>)] = []
        each(query) { line, station, stream, number in
            guard let begin = line.begin, stream.channel.dropFirst().first == "N" else { return }
            let end = min(line.end ?? .max, stream.end)
            if begin <= end { wanted.append((station.identifier, number, begin...end)) }
        }
        let (ids, rates) = server.board.read { contents in
            (contents.ids, contents.rates.filter { contents.states[$0.key]?.isOnline == true })
        }
        var found: [String: [ClosedRange<Int64>]] = [:]
        for one in wanted {
            guard let id = ids[one.identifier], let rate = rates[id],
                let own = try? server.ring.rate(of: one.channel), abs(own - rate) < 0.01 * rate,
                let records = try? server.ring.spans(
                    one.channel, from: one.range.lowerBound, to: one.range.upperBound)
            else { continue }
            found[id, default: []] += Coverage.gaps(one.range, records: records, rate: rate)
        }
        return found.flatMap { id, gaps in
            Coverage.united(gaps).map { (id, max($0.lowerBound, $0.upperBound - Self.mostFetched), $0.upperBound) }
        }
    }
}
