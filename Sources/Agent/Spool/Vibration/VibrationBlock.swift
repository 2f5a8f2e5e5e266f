import Messages
import Vibration

/// The intervals of vibration that begin in the same ten minutes: a row of the table.
public struct VibrationBlock: Sendable, Equatable {
    /// Intervals of one block at most: of ten seconds each, and some that were cut short.
    public static let most = 64
    /// As the row says what it has; and before displacement, acceleration and the time of the vector sum were stored.
    static let format: Int64 = 3
    static let oldFormat: Int64 = 1
    static let bytesOfRecord = 4 * 40
    private static let bytesOfOldRecord = 4 * 33
    private static let second: Int64 = 1_000_000_000

    /// Of ten minutes since 1970.
    public let number: Int64
    /// Seconds that the agent had run, since the file was begun, when the row was; see ``MessageAges``.
    public let added: Int64
    /// In order of time.
    public private(set) var records: [VibrationRecord] = []

    init(number: Int64, added: Int64) { (self.number, self.added) = (number, added) }

    /// Of the block that has a time.
    public static func number(at time: Int64) -> Int64 { StepLevels.block(at: time) }

    private var start: Int64 { number &* StepLevels.blockLength }

    /// Adds an interval. Of two of the same begin the one counts of which more was measured.
    mutating func add(_ record: VibrationRecord) {
        guard Self.number(at: record.start) == number, record.length <= 0xFFFF else { return }
        if let index = records.firstIndex(where: { $0.start == record.start }) {
            if record.seconds > records[index].seconds { records[index] = record }
        } else if records.count < Self.most {
            let index = records.firstIndex { $0.start > record.start } ?? records.count
            records.insert(record, at: index)
        }
    }

    mutating func add(_ other: VibrationBlock) { for record in other.records { add(record) } }

    // MARK: Rows

    /// What the row has: 40 words of 32 bits for each interval.
    var columns: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * Self.bytesOfRecord)
        func put(_ word: UInt32) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        func put(_ number: Double?) { put(Float(number ?? .nan).bitPattern) }
        for record in records {
            put(UInt32((record.start &- start) / Self.second) | UInt32(record.length) << 16)
            let weightings = record.axes.enumerated().reduce(0 as UInt32) { sum, axis in
                let place = FrequencyWeighting.all.firstIndex { $0.name == axis.element.weighting }
                return sum | UInt32(((place ?? -1) + 1) & 15) << (4 * UInt32(axis.offset))
            }
            let reasons = UInt32(record.interruptions.rawValue & 15) << 28
            put(UInt32(min(max(record.gaps, 0), 0xFFFF)) | weightings << 16 | reasons)
            for number in [record.seconds, record.lower, record.upper, record.pvs, record.pvsPeak] { put(number) }
            for axis in record.axes {
                for number in [
                    axis.ppv, axis.peak, axis.frequency, axis.rms, axis.kbFmax, axis.kbFTm, axis.weightedRMS,
                    axis.dose, axis.floor, axis.displacement, axis.acceleration,
                ] { put(number) }
            }
        }
        return bytes
    }

    /// Nil when the bytes are none.
    init?(number: Int64, added: Int64, format: Int64, _ columns: UnsafeRawBufferPointer) {
        self.init(number: number, added: added)
        let isOld = format == Self.oldFormat
        let bytes = isOld ? Self.bytesOfOldRecord : Self.bytesOfRecord
        guard columns.count % bytes == 0, columns.count <= Self.most * bytes else { return nil }
        var place = 0
        func word() -> UInt32 {
            defer { place += 4 }
            return UInt32(littleEndian: columns.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        }
        func float() -> Double? {
            let value = Float(bitPattern: word())
            return value.isNaN ? nil : Double(value)
        }
        while place < columns.count {
            var record = VibrationRecord()
            let (time, counts) = (word(), word())
            record.start = start &+ Int64(time & 0xFFFF) * Self.second
            record.length = max(1, Int(time >> 16))
            record.gaps = Int(counts & 0xFFFF)
            record.interruptions = .init(rawValue: UInt8(counts >> 28))
            record.seconds = float() ?? 0
            (record.lower, record.upper, record.pvs) = (float() ?? 0, float() ?? 0, float() ?? 0)
            if !isOld { record.pvsPeak = float() }
            for k in 0..<3 {
                let place = Int(counts >> (16 + 4 * UInt32(k)) & 15) - 1
                if FrequencyWeighting.all.indices.contains(place) {
                    record.axes[k].weighting = FrequencyWeighting.all[place].name
                }
                record.axes[k].ppv = float() ?? 0
                record.axes[k].peak = float() ?? 0
                record.axes[k].frequency = float()
                record.axes[k].rms = float() ?? 0
                record.axes[k].kbFmax = float() ?? 0
                record.axes[k].kbFTm = float() ?? 0
                record.axes[k].weightedRMS = float() ?? 0
                record.axes[k].dose = float() ?? 0
                record.axes[k].floor = float()
                guard !isOld else { continue }
                record.axes[k].displacement = float()
                record.axes[k].acceleration = float()
            }
            records.append(record)
        }
    }

    static func sum(_ number: Int64, added: Int64, format: Int64, _ columns: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowSum(key: number)
        sum.mix(added)
        sum.mix(format)
        sum.mix(columns)
        return sum.value
    }

    /// A row as it stands in its page; nil: it is not what was written.
    static func read(_ row: PageRecord) -> VibrationBlock? {
        let format = row.int64(2)
        guard row.isInt(1), format == Self.format || format == oldFormat else { return nil }
        return Array(row.blob(4)).withUnsafeBytes { columns in
            guard row.int64(3) == sum(row.key, added: row.int64(1), format: format, columns) else { return nil }
            return VibrationBlock(number: row.key, added: row.int64(1), format: format, columns)
        }
    }

    /// The same of a row that SQLite gives: number, added, format, sum, columns.
    static func read(_ row: borrowing Statement) -> VibrationBlock? {
        let (number, added, format, columns) = (row.int64(0), row.int64(1), row.int64(2), row.blob(4))
        guard format == Self.format || format == oldFormat,
            row.int64(3) == sum(number, added: added, format: format, columns)
        else { return nil }
        return VibrationBlock(number: number, added: added, format: format, columns)
    }
}
