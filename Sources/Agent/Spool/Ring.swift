import MiniSEED

/// Which pieces the ring has, in the order in which they were added. Kept in memory, 64 bytes each.
struct RingIndex {
    private(set) var entries: [RingSegment] = []
    private(set) var bytes = 0
    /// Seconds of recorded data, whatever the clock said.
    private(set) var seconds = 0.0

    /// The highest place that was ever used.
    private var highest: Int64 = 0

    func has(_ segment: RingSegment) -> Bool { entries.contains { $0.number == segment.number } }

    var nextNumber: Int64 { (entries.last?.number ?? 0) &+ 1 }
    var freshSlot: Int64 { highest &+ 1 }

    mutating func append(_ segment: RingSegment) {
        entries.append(segment)
        highest = max(highest, segment.slot)
        bytes += segment.bytes
        seconds += segment.seconds
    }

    mutating func moveNewest(to slot: Int64) {
        guard !entries.isEmpty else { return }
        entries[entries.count - 1].slot = slot
    }

    mutating func removeFirst(_ count: Int) {
        for segment in entries.prefix(count) {
            bytes -= segment.bytes
            seconds -= segment.seconds
        }
        entries.removeFirst(count)
        if entries.isEmpty { (bytes, seconds) = (0, 0) }
    }

    /// A piece that is lost.
    mutating func remove(slot: Int64) {
        guard let index = entries.firstIndex(where: { $0.slot == slot }) else { return }
        let segment = entries.remove(at: index)
        bytes -= segment.bytes
        seconds -= segment.seconds
        if entries.isEmpty { (bytes, seconds) = (0, 0) }
    }

    /// How many of the oldest have to go. The newest never has to.
    func surplus(seconds limit: Double, bytes limitBytes: Int) -> Int {
        var count = 0
        var (seconds, bytes) = (seconds, bytes)
        while count + 1 < entries.count {
            let oldest = entries[count]
            // Whole pieces: what remains has to cover the wanted length.
            let isLong = seconds - oldest.seconds >= limit
            guard isLong || bytes > limitBytes || entries.count - count > Self.limit else { break }
            seconds -= oldest.seconds
            bytes -= oldest.bytes
            count += 1
        }
        return count
    }

    /// A guard against pieces without length.
    static let limit = 32_768
}

/// One piece of waveform in the ring: records of all three axes over one stretch of time.
public struct RingSegment: Sendable, Equatable {
    /// Its place in the table, which is used again when it has to go.
    var slot: Int64 = 0
    /// In the order of adding.
    public internal(set) var number: Int64 = 0
    /// Times of the first and the last sample, nanoseconds of UTC.
    public var start: Int64
    public var end: Int64
    /// Samples of each axis.
    public var samples: Int
    /// Samples per second.
    public var rate: Double
    /// Format of the records: 2 or 3.
    var format: Int
    /// m/s² of a count; nil where an earlier version has not noted it.
    public var unit: Double?
    /// Bytes of the records.
    public internal(set) var bytes = 0

    public var miniSEED: MiniSEEDFormat { format == 2 ? .v2 : .v3 }

    public init(
        start: Int64, end: Int64, samples: Int, rate: Double, format: MiniSEEDFormat, unit: Double? = nil
    ) {
        self.unit = unit
        self.start = start
        self.end = end
        self.samples = samples
        self.rate = rate
        self.format = Int(format.rawValue)
    }

    init(
        slot: Int64, number: Int64, start: Int64, end: Int64, samples: Int, rate: Double, format: Int, bytes: Int,
        unit: Double?
    ) {
        self.unit = unit
        (self.slot, self.number, self.start, self.end) = (slot, number, start, end)
        (self.samples, self.rate, self.format, self.bytes) = (samples, rate, format, bytes)
    }

    /// Rate in the table: a number always, and only one zero.
    var storedRate: Double { rate.isFinite ? rate + 0 : 0 }

    /// Checksum of the row: its facts about the records, and the records.
    func checksum(_ records: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowSum(key: number)
        sum.mix(start)
        sum.mix(end)
        sum.mix(Int64(samples))
        sum.mix(storedRate.bitPattern)
        sum.mix(Int64(format))
        if let unit { sum.mix(unit.bitPattern) }
        sum.mix(records)
        return sum.value
    }

    /// A row as it stands in its page; nil: it is not what was written.
    static func read(_ row: PageRecord) -> (segment: RingSegment, records: [UInt8])? {
        guard (1...4).allSatisfy({ row.isInt($0) }), row.isNumber(5), row.isInt(6) else { return nil }
        let records = Array(row.blob(8))
        let segment = RingSegment(
            slot: row.key, number: row.int64(1), start: row.int64(2), end: row.int64(3), samples: row.int(4),
            rate: row.double(5), format: row.int(6), bytes: records.count,
            unit: row.count < 10 || row.isNull(9) ? nil : row.double(9))
        return row.int64(7) == records.withUnsafeBytes({ segment.checksum($0) }) ? (segment, records) : nil
    }

    /// How much was recorded: by the samples, because clocks are set.
    var seconds: Double { rate > 0 && samples > 0 ? min(Double(samples) / rate, 86_400) : 0 }
}
