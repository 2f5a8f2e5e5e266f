/// Finds which samples of a time the ring does not have, so that their stations can be asked for them: the newest first, and
/// with a limited number of the ring's rows, however long the time is that somebody asks for.
///
/// The ring declares its holes, and between them every sample is in a record. So the search looks only at the records inside
/// of holes and before the channel's begin: those that came after their samples had been given up.
public struct LackSearch: Sendable {
    /// Rows of the ring that may still be looked at. A question to the ring counts as a row, too.
    public private(set) var left: Int
    /// Nanoseconds of missing samples after which the search of a channel ends.
    private let most: Int64
    private static let mostHoles = 64

    /// - Parameters:
    ///   - rows: rows of the ring that may be looked at, for all channels together.
    ///   - most: nanoseconds of missing samples that are found of a channel; the last stretch may go beyond.
    public init(rows: Int, most: Int64) { (left, self.most) = (rows, most) }

    /// - Parameters:
    ///   - range: times of samples that are wanted, nanoseconds of UTC.
    ///   - begin: when the channel's first record in order begins; before it the ring has only what was fetched later.
    ///   - rate: samples per second.
    ///   - rows: rows of the ring that may be looked at for this channel.
    ///   - holes: the newest holes that begin at a time at the latest, so many at most, the newest first; from the first
    ///     sample that is missing to the first that is not.
    ///   - records: the newest records with samples in a time, so many at most, in the order of their begin.
    /// - Returns: where a sample at least is missing, in order; see ``Coverage/gaps(_:records:rate:)``.
    public mutating func gaps(
        _ range: ClosedRange<Int64>, begin: Int64, rate: Double, rows: Int,
        holes: (_ until: Int64, _ most: Int) throws -> [ClosedRange<Int64>],
        records: (_ range: ClosedRange<Int64>, _ most: Int) throws -> [(start: Int64, end: Int64)]
    ) rethrows -> [ClosedRange<Int64>] {
        var share = min(rows, left)
        left -= share
        defer { left += share }
        guard share > 0 else { return [] }
        let half = max(1, Int64(0.5e9 / rate))
        let declared = try holes(range.upperBound, min(Self.mostHoles, share))
        share -= min(share, 1 + declared.count)
        var places = declared.filter { $0.upperBound >= max(begin, range.lowerBound) }
            .map { max(range.lowerBound, $0.lowerBound - half + 1)...min(range.upperBound, $0.upperBound) }
        if range.lowerBound < begin - half {
            places.append(range.lowerBound...min(range.upperBound, begin - half - 1))
        }
        var (found, length): ([ClosedRange<Int64>], Int64) = ([], 0)
        for place in places where share > 0 && length < most {
            let limit = share
            let known = try records(place, limit)
            share -= min(share, 1 + known.count)
            // Where there may be more of them, nothing is said of the time before the oldest.
            let first = known.count < limit ? place.lowerBound : max(place.lowerBound, known[0].start)
            let gaps = Coverage.gaps(first...place.upperBound, records: known, rate: rate)
            for gap in gaps { length = min(most, length + min(most, gap.upperBound - gap.lowerBound)) }
            found += gaps
        }
        return Coverage.united(found)
    }
}
