import Exchange
import Messages
import MiniSEED
import Values

/// The records of a dataselect, 128 KiB at a time: nothing is held that the client has not taken.
struct RecordPieces: WebPieces {
    /// A channel and a time that are asked for.
    struct Wanted: Sendable, Equatable {
        var channel: Int64
        /// Times of samples, nanoseconds of UTC.
        var from: Int64
        var to: Int64
        /// Records that begin later.
        var after = Int64.min
    }

    /// Which of the continuous segments of a channel are asked for.
    struct Segments: Sendable, Equatable {
        /// Seconds.
        var least = 0.0
        var longestOnly = false
        var areAsked: Bool { least > 0 || longestOnly }

        /// - Parameter segments: of one channel, in order.
        func chosen(_ segments: [ClosedRange<Int64>]) -> [ClosedRange<Int64>] {
            func length(_ range: ClosedRange<Int64>) -> Double { Double(range.upperBound - range.lowerBound) / 1e9 }
            let long = segments.filter { length($0) >= least }
            guard longestOnly else { return long }
            return long.max { length($0) < length($1) }.map { [$0] } ?? []
        }
    }

    private static let pieceBytes = 128 << 10
    private static let rows = 256
    /// Records whose times are looked at for a piece, so that nobody waits long for his turn.
    private static let mostLooked = 2048
    /// Channels that are looked at for a piece.
    private static let mostChannels = 64

    private var waiting: [Wanted]
    private let segments: Segments
    private var place = 0
    /// Segments found so far of the channel at this place, and the begin of the record that was looked at last.
    private var found: [ClosedRange<Int64>] = []
    private var looked = Int64.min

    init(_ wanted: [Wanted], segments: Segments) { (waiting, self.segments) = (wanted, segments) }

    var isOver: Bool { place >= waiting.count }

    mutating func next(_ ring: Ring) -> [UInt8]? {
        var bytes: [UInt8] = []
        let first = place
        while place < waiting.count, bytes.count < Self.pieceBytes {
            if place - first >= Self.mostChannels { return bytes }
            let one = waiting[place]
            if segments.areAsked, one.after == .min {
                choose(one, ring)
                return bytes
            }
            let records =
                (try? ring.records(one.channel, from: one.from, to: one.to, after: one.after, most: Self.rows)) ?? []
            guard let last = records.last else {
                place += 1
                continue
            }
            waiting[place].after = last.start
            for record in records {
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

    /// Looks at some more records of a channel; after the last one, puts the segments that are asked for in the place of its
    /// whole time.
    private mutating func choose(_ one: Wanted, _ ring: Ring) {
        let range = one.from...one.to
        guard let rate = try? ring.rate(of: one.channel),
            let spans = try? ring.spans(one.channel, range, after: looked, most: Self.mostLooked)
        else {
            place += 1
            return
        }
        // The last segment may go on.
        let before = found.popLast().map { [(start: $0.lowerBound, end: $0.upperBound)] } ?? []
        found += Coverage.segments(range, records: before + spans, rate: rate)
        if let last = spans.last, spans.count == Self.mostLooked {
            looked = last.start
            return
        }
        let chosen = segments.chosen(found)
        (found, looked) = ([], .min)
        waiting.replaceSubrange(
            place...place,
            // (`after` above its least: it is chosen already.)
            with: chosen.map { Wanted(channel: one.channel, from: $0.lowerBound, to: $0.upperBound, after: .min + 1) })
    }
}

/// A document of events, which is put together some events at a time, so that nobody waits long for his turn.
struct EventPieces: WebPieces {
    enum Format: Sendable { case quakeML, text }

    /// Events for a turn: about a millisecond.
    private static let ofTurn = 32

    private let rows: [Int64]
    private let format: Format
    private let states: [String: SharedState.StationState]
    private var place = 0
    private var count = 0
    private var document = QuakeML()
    private var text = FDSNText(.events)

    /// - Parameters:
    ///   - rows: of the events in the ring, in order.
    ///   - states: what is known of stations, by id.
    init(_ rows: [Int64], as format: Format, states: [String: SharedState.StationState]) {
        (self.rows, self.format, self.states) = (rows, format, states)
    }

    var isOver: Bool { place >= rows.count }

    /// - Returns: nothing until it is complete.
    mutating func next(_ ring: Ring) -> [UInt8]? {
        if isOver { return nil }
        let some = rows[place..<min(rows.count, place + Self.ofTurn)]
        place = some.endIndex
        for one in (try? ring.events(rows: some)) ?? [] {
            guard let event = try? JSONReader.read(one.payload) else { continue }
            count += 1
            if format == .text {
                text.add(event, station: one.owner)
            } else if one.owner == "network" {
                document.add(network: event) { [states] id in states[id]?.info.flatMap(Self.codes) }
            } else {
                document.add(one.owner, event, info: states[one.owner]?.info)
            }
        }
        guard isOver else { return [] }
        guard count > 0 else { return nil }
        return Array((format == .text ? text.text : document.text).utf8)
    }

    private static func codes(_ info: InfoReading) -> (network: String, station: String)? {
        DescribedStation(info: info, config: nil).map { ($0.codes.network, $0.codes.station) }
    }
}
