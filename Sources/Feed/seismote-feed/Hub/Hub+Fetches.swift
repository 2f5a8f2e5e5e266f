import Feed
import Link
import Messages
import Servers

/// What is asked of a station's disk because a client of dataselect wants it.
extension Hub {
    /// A part of a wish that is asked for with one command.
    struct FetchPiece {
        var from: Int64
        var to: Int64
        /// It ends with this one.
        var ticket: FetchTicket?
    }

    /// A piece that a station has been asked for.
    struct OpenFetch {
        var request: String
        var piece: FetchPiece
        var until: Double
        /// Messages that have come, and how many there are.
        var came = 0
        var all: Int?
    }

    /// What is done for a station.
    struct StationFetches {
        var waiting: [FetchPiece] = []
        var open: OpenFetch?
        /// What has been asked for, and until when it is not asked for again.
        var asked: [(from: Int64, to: Int64, until: Double)] = []
    }

    /// Pieces of a station that wait at most: three hours of samples.
    private static let mostPieces = 18
    private static let pieceSeconds = 30.0
    private static let againSeconds = 600.0

    func takeWishes(_ now: Double) {
        for wish in fetches.take() {
            var state = stationFetches[wish.station] ?? StationFetches()
            state.asked.removeAll { $0.until < now }
            var pieces: [FetchPiece] = []
            var from = wish.from
            while from <= wish.to {
                let to = min(wish.to, from + Self.mostAsked)
                let isKnown = state.asked.contains { $0.from <= from && to <= $0.to }
                if !isKnown { pieces.append(FetchPiece(from: from, to: to)) }
                from = to + 1
            }
            pieces = Array(pieces.prefix(max(0, Self.mostPieces - state.waiting.count)))
            if pieces.isEmpty {
                fetches.settle(wish.ticket)
            } else {
                pieces[pieces.count - 1].ticket = wish.ticket
                state.waiting += pieces
            }
            stationFetches[wish.station] = state
        }
        for id in Array(stationFetches.keys) { goOn(id, now) }
    }

    /// Ends what is over, and asks for what is next.
    private func goOn(_ id: String, _ now: Double) {
        guard var state = stationFetches[id] else { return }
        if let open = state.open, now > open.until || open.all.map({ open.came >= $0 }) == true {
            if let ticket = open.piece.ticket { fetches.settle(ticket) }
            state.open = nil
        }
        if state.open == nil, !state.waiting.isEmpty {
            let piece = state.waiting.removeFirst()
            let request = order(id, from: piece.from, to: piece.to)
            state.open = OpenFetch(request: request, piece: piece, until: now + Self.pieceSeconds)
            state.asked.append((piece.from, piece.to, now + Self.againSeconds))
        }
        let isOver = state.open == nil && state.waiting.isEmpty && state.asked.allSatisfy { $0.until < now }
        stationFetches[id] = isOver ? nil : state
    }

    /// - Returns: false where this is not what a client wants.
    func takeFetched(_ id: String, _ request: String, _ message: InboundMessage) throws(DatabaseError) -> Bool {
        guard stationFetches[id]?.open?.request == request else { return false }
        stationFetches[id]?.open?.came += 1
        guard let codes = codes[id], let unit = units[id]?.unit else { return true }
        guard let blocks = reading.blocks(message.payload, codes: codes, unit: unit) else {
            contents.counts.unreadable += 1
            return true
        }
        for block in blocks { try keep(block) }
        return true
    }

    /// - Returns: false where nobody waits for this reply.
    func replyToFetch(_ id: String, _ reply: Value) -> Bool {
        guard case .string(let request)? = reply["id"], stationFetches[id]?.open?.request == request else {
            return false
        }
        switch reply["phase"] {
        case .string("accepted")?: break
        case .string("done")?:
            if case .int(let count)? = reply["result"]?["messages"] {
                stationFetches[id]?.open?.all = Int(clamping: count)
            } else {
                stationFetches[id]?.open?.all = 0
            }
        default: stationFetches[id]?.open?.all = 0
        }
        return true
    }

    /// Has on the disk what of these samples is in no record, and is older than what still waits for its order.
    private func keep(_ block: ChannelBlock) throws(DatabaseError) {
        guard let way = ways[block.source], way.packetiser.rate == block.rate, !block.samples.isEmpty,
            let next = way.packetiser.waiting?.start ?? way.flow.next
        else { return }
        let last = min(block.end, next - Int64(0.5e9 / block.rate))
        guard block.start <= last else { return }
        let records = try ring.spans(way.number, block.start...last)
        for gap in Coverage.gaps(block.start...last, records: records, rate: block.rate) {
            guard let part = block.cut(gap) else { continue }
            try addLate(part, way.number)
            contents.counts.fetched += part.samples.count
        }
    }
}
