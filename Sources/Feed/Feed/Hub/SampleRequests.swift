import Messages
import Platform
import Values

/// Requests to stations for samples: those missing in a stream, and those that a client of dataselect wants. One
/// request of either kind is open for a station at a time. Pure: time is passed in, and commands are handed back.
struct SampleRequests {
    /// A command `snapshot` for a station.
    struct Command: Equatable {
        var station: String
        var id: String
        /// Nanoseconds of UTC.
        var from: Int64
        var to: Int64
    }

    /// A part of a wish that is asked for with one command.
    private struct Piece {
        var from: Int64
        var to: Int64
        /// The wish ends with this piece.
        var settled: (@Sendable () -> Void)?
    }

    /// A piece that a station has been asked for.
    private struct OpenPiece {
        var request: String
        var piece: Piece
        var until: Double
        /// Messages that have come, and how many there are.
        var came = 0
        var all: Int?
    }

    /// The wishes for samples of a station.
    private struct Wishes {
        var waiting: [Piece] = []
        var open: OpenPiece?
        /// Ranges that have been asked for, and until when they are not asked for again.
        var asked: [(from: Int64, to: Int64, until: Double)] = []
    }

    /// Nanoseconds of samples that a station is asked for at most: its line is for what happens now.
    static let mostAsked: Int64 = 600_000_000_000
    /// Pieces of a station that wait at most: three hours of samples.
    private static let mostPieces = 18
    private static let pieceSeconds = 30.0
    private static let againSeconds = 600.0

    private let prefix: String
    private var number = 0
    /// Requests for what is missing in a stream, by station: its id, and until when it is waited for.
    private var gaps: [String: (id: String, until: Double)] = [:]
    private var wishes: [String: Wishes] = [:]

    /// - Parameter run: what tells this run of the feed from others.
    init(run: String) { prefix = "feed-\(run)-" }

    private mutating func newID() -> String {
        number += 1
        return prefix + "\(number)"
    }

    // MARK: What is missing in a stream

    /// - Parameter patience: seconds that an answer is waited for.
    /// - Returns: nil where the station has been asked already.
    mutating func ask(
        _ station: String, _ hole: (from: Int64, to: Int64), now: Double, patience: Double
    ) -> Command? {
        if let open = gaps[station], now < open.until { return nil }
        let from = max(hole.from, hole.to - Self.mostAsked)
        let id = newID()
        gaps[station] = (id, now + patience)
        return Command(station: station, id: id, from: from - 100_000_000, to: hole.to + 100_000_000)
    }

    // MARK: What clients want

    mutating func take(_ wish: FetchWishes.Wish, now: Double) {
        var state = wishes[wish.station] ?? Wishes()
        state.asked.removeAll { $0.until < now }
        var pieces: [Piece] = []
        var from = wish.from
        while from <= wish.to, pieces.count < Self.mostPieces {
            let to = min(wish.to, from + Self.mostAsked)
            if !state.asked.contains(where: { $0.from <= from && to <= $0.to }) {
                pieces.append(Piece(from: from, to: to))
            }
            from = to + 1
        }
        pieces = Array(pieces.prefix(max(0, Self.mostPieces - state.waiting.count)))
        if pieces.isEmpty {
            wish.settled()
        } else {
            pieces[pieces.count - 1].settled = wish.settled
            state.waiting += pieces
        }
        wishes[wish.station] = state
    }

    /// Ends what is over.
    /// - Returns: what is asked for next.
    mutating func advance(now: Double) -> [Command] {
        var commands: [Command] = []
        for id in wishes.keys.sorted() {
            guard var state = wishes[id] else { continue }
            if let open = state.open, now > open.until || open.all.map({ open.came >= $0 }) == true {
                open.piece.settled?()
                state.open = nil
            }
            if state.open == nil, !state.waiting.isEmpty {
                let piece = state.waiting.removeFirst()
                let request = newID()
                commands.append(Command(station: id, id: request, from: piece.from, to: piece.to))
                state.open = OpenPiece(request: request, piece: piece, until: now + Self.pieceSeconds)
                state.asked.append((piece.from, piece.to, now + Self.againSeconds))
            }
            let isOver = state.open == nil && state.waiting.isEmpty && state.asked.allSatisfy { $0.until < now }
            wishes[id] = isOver ? nil : state
        }
        return commands
    }

    /// Samples have come as an answer.
    /// - Returns: false where no client wants them.
    mutating func isWanted(_ station: String, _ request: String) -> Bool {
        guard wishes[station]?.open?.request == request else { return false }
        wishes[station]?.open?.came += 1
        return true
    }

    /// A station has replied to a command.
    mutating func reply(_ station: String, _ reply: ReplyReading, now: Double) {
        guard let request = reply.id else { return }
        let phase = reply.phase
        if wishes[station]?.open?.request == request {
            if phase == .accepted { return }
            let count = phase == .done ? reply.result.messages : nil
            wishes[station]?.open?.all = max(0, count ?? 0)
        } else if gaps[station]?.id == request, let phase, phase != .accepted {
            // It is asked again only when some seconds have passed; the patience ends what does not come.
            gaps[station] = ("", now + 5)
        }
    }
}

/// Samples that a client of the web services wants and the ring does not have: the server's threads wish, the hub asks the
/// station and says when it has answered.
public final class FetchWishes: Sendable {
    /// A time of a station, nanoseconds of UTC.
    public struct Wish: Sendable {
        public var station: String
        public var from: Int64
        public var to: Int64
        /// Is told when nothing more will come.
        public var settled: @Sendable () -> Void

        public init(station: String, from: Int64, to: Int64, settled: @escaping @Sendable () -> Void) {
            (self.station, self.from, self.to, self.settled) = (station, from, to, settled)
        }
    }

    private let wishes = Mutex<[Wish]>([])
    private let wake: Wake

    /// - Parameter wake: the hub's.
    public init(wake: Wake) { self.wake = wake }

    public func ask(_ new: [Wish]) {
        wishes.withLock { $0 += new }
        wake.signal()
    }

    /// Takes the wishes, on the hub's thread.
    func take() -> [Wish] {
        wishes.withLock { wishes in
            defer { wishes = [] }
            return wishes
        }
    }
}

/// Finds which samples of a time the ring does not have, so that their stations can be asked for them: the newest first, and
/// with a limited number of the ring's rows, however long the time is that somebody asks for.
///
/// The ring declares its holes, and between them every sample is in a record. So the search looks only at the records inside
/// of holes and before the channel's begin: those that came after their samples had been given up.
struct LackSearch: Sendable {
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
