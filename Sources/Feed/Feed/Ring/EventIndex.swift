/// Where and when the events of the ring were, in memory: questions are answered by looking at these alone, and only events
/// that are asked for are read from the disk. 56 bytes for an event.
public struct EventIndex: Sendable {
    /// One event. What it does not have is NaN.
    public struct Entry: Sendable, Equatable {
        /// Its row in the ring.
        public var row: Int64
        /// Origin time, or the onset of a station's event: nanoseconds of UTC.
        public var time: Int64
        /// Degrees.
        public var latitude: Double
        public var longitude: Double
        /// Kilometres.
        public var depth: Double
        public var magnitude: Double
        /// Seconds of UTC when its newest version came.
        public var updated: Int32
        /// Owner; see ``EventIndex/owners``.
        public var owner: Int32

        public init(
            row: Int64, time: Int64, latitude: Double = .nan, longitude: Double = .nan, depth: Double = .nan,
            magnitude: Double = .nan, updated: Int32 = 0, owner: Int32 = 0
        ) {
            (self.row, self.time, self.updated, self.owner) = (row, time, updated, owner)
            (self.latitude, self.longitude, self.depth, self.magnitude) = (latitude, longitude, depth, magnitude)
        }
    }

    /// Ids of stations, and `network`.
    public private(set) var owners: [String] = []
    private var numbers: [String: Int32] = [:]
    /// In the order of time; of equal times in that of rows.
    private var entries: [Entry] = []

    public init() {}

    public var count: Int { entries.count }

    /// The number that stands for an owner.
    public mutating func number(of owner: String) -> Int32 {
        if let known = numbers[owner] { return known }
        numbers[owner] = Int32(owners.count)
        owners.append(owner)
        return Int32(owners.count - 1)
    }

    private static func precedes(_ a: Entry, _ b: Entry) -> Bool { a.time != b.time ? a.time < b.time : a.row < b.row }

    /// The place of the first entry that is not before a time and row.
    private func place(_ time: Int64, _ row: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            let one = entries[middle]
            if one.time < time || one.time == time && one.row < row { low = middle + 1 } else { high = middle }
        }
        return low
    }

    public mutating func insert(_ entry: Entry) {
        if let last = entries.last, Self.precedes(last, entry) { return entries.append(entry) }
        entries.insert(entry, at: place(entry.time, entry.row))
    }

    public mutating func remove(row: Int64, time: Int64) {
        let place = place(time, row)
        if place < entries.count, entries[place].row == row { entries.remove(at: place) }
    }

    /// Forgets all before a time.
    public mutating func remove(before time: Int64) { entries.removeFirst(place(time, .min)) }

    /// Conditions of a search: all that are set must hold.
    public struct Question: Sendable {
        public enum Order: String, Sendable, CaseIterable {
            case time
            case timeAscending = "time-asc"
            case magnitude
            case magnitudeAscending = "magnitude-asc"
        }

        /// Nanoseconds of UTC, both ends included.
        public var from = Int64.min
        public var to = Int64.max
        /// Degrees; a west above the east goes over 180°.
        public var box: GeoBox?
        public var circle: GeoCircle?
        /// Kilometres.
        public var depth: ClosedRange<Double>?
        public var magnitude: ClosedRange<Double>?
        /// Seconds of UTC: changed after this.
        var updatedAfter: Int32?
        /// Only these rows.
        public var among: Set<Int64>?
        public var order = Order.time
        /// So many of the answer's first are left out.
        public var offset = 0
        public var limit = 1000

        public init() {}

        fileprivate func takes(_ entry: Entry, at place: (latitude: Double, longitude: Double)) -> Bool {
            // (A comparison with NaN is false: what an event does not have is within no limits.)
            if let magnitude, !(magnitude.lowerBound <= entry.magnitude && entry.magnitude <= magnitude.upperBound) {
                return false
            }
            if let depth, !(depth.lowerBound <= entry.depth && entry.depth <= depth.upperBound) { return false }
            if let among, !among.contains(entry.row) { return false }
            if let updatedAfter, entry.updated <= updatedAfter { return false }
            if let box, !box.contains(place.latitude, place.longitude) { return false }
            return circle?.contains(place.latitude, place.longitude) ?? true
        }
    }

    /// Rows of the events that are asked for, in the order that is asked for.
    /// - Parameters:
    ///   - place: of an owner whose events have none of their own; nil: it has none.
    ///   - serves: whether the events of an owner may be seen.
    public func rows(
        _ question: Question, place: (String) -> (latitude: Double, longitude: Double)?, serves: (String) -> Bool
    ) -> [Int64] {
        let places = owners.map { place($0) ?? (.nan, .nan) }
        let served = owners.map(serves)
        let (first, behind) = (
            self.place(question.from, .min),
            question.to == .max ? entries.count : self.place(question.to + 1, .min)
        )
        guard first < behind, question.limit > 0 else { return [] }
        func takes(_ entry: Entry) -> Bool {
            guard served[Int(entry.owner)] else { return false }
            let own = (entry.latitude, entry.longitude)
            return question.takes(entry, at: entry.latitude.isNaN ? places[Int(entry.owner)] : own)
        }
        var found: [Int64] = []
        var skipped = 0
        switch question.order {
        case .time, .timeAscending:
            for step in 0..<(behind - first) where found.count < question.limit {
                let entry = entries[question.order == .time ? behind - 1 - step : first + step]
                guard takes(entry) else { continue }
                if skipped < question.offset { skipped += 1 } else { found.append(entry.row) }
            }
        case .magnitude, .magnitudeAscending:
            let isUp = question.order == .magnitudeAscending
            // Events without a magnitude come last; of equal ones the newest first.
            var taken = entries[first..<behind].filter(takes)
            taken.sort { a, b in
                if a.magnitude.isNaN || b.magnitude.isNaN || a.magnitude == b.magnitude {
                    return a.magnitude.isNaN == b.magnitude.isNaN ? Self.precedes(b, a) : b.magnitude.isNaN
                }
                return isUp ? a.magnitude < b.magnitude : a.magnitude > b.magnitude
            }
            found = taken.dropFirst(question.offset).prefix(question.limit).map(\.row)
        }
        return found
    }
}
