import Messages
import Vibration

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The intervals of vibration that begin in the same ten minutes: a row of the table.
public struct VibrationBlock: Sendable, Equatable {
    /// Intervals of one block at most: of ten seconds each, and some that were cut short.
    public static let most = 64
    /// As the row says what it has; and before half cycles were stored, and before displacement, acceleration and the time
    /// of the vector sum were.
    static let format: Int64 = 5
    static let peaksFormat: Int64 = 3
    static let oldFormat: Int64 = 1
    private static let formats = [format, peaksFormat, oldFormat]
    /// Bytes of one interval of the two before.
    private static let bytesOfPeaks = 4 * 31
    private static let bytesOfOldRecord = 4 * 33
    /// Flags of the last 16 bits of an interval, above the number of its half cycles.
    private static let isWhole: UInt16 = 16
    private static let hasBandOfBefore: UInt16 = 32
    private static let second: Int64 = 1_000_000_000

    /// Number of the ten minutes, counted since 1970.
    public let number: Int64
    /// Seconds that the agent had run, since the file was begun, when the row was; see ``MessageAges``.
    public let added: Int64
    /// In order of time.
    public private(set) var records: [VibrationRecord] = []

    init(number: Int64, added: Int64) { (self.number, self.added) = (number, added) }

    /// Returns the number of the block that has a time (ns of UTC).
    public static func number(at time: Int64) -> Int64 { StepLevels.block(at: time) }

    private var start: Int64 { number &* StepLevels.blockLength }

    /// Adds an interval. Of two of the same begin the one counts of which more was measured.
    mutating func add(_ record: VibrationRecord) {
        guard Self.number(at: record.start) == number, record.length <= 0xFFFF else { return }
        let record = record.asStored
        if let index = records.firstIndex(where: { $0.start == record.start }) {
            if record.seconds > records[index].seconds { records[index] = record }
        } else if records.count < Self.most {
            let index = records.firstIndex { $0.start > record.start } ?? records.count
            records.insert(record, at: index)
        }
    }

    mutating func add(_ other: VibrationBlock) { for record in other.records { add(record) } }

    // MARK: Rows

    /// Words of a row: 28 of 32 bits for each interval, and two for each of its half cycles, so that three rows of 60 s
    /// intervals are mostly a page. An interval that is not whole has a word more, one of another band than that before it
    /// two. What is told in two or three digits has 16 bits: KB, displacement, acceleration, the floor, and times.
    var columns: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(records.count * Self.bytesOfPeaks)
        func put(_ word: UInt32) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        func put(_ number: Double?) { put(Float(number ?? .nan).bitPattern) }
        for (number, record) in records.enumerated() {
            let before = number == 0 ? nil : records[number - 1]
            let cycles = record.halfCycles.prefix(VibrationInterval.mostHalfCycles)
            var flags = UInt16(cycles.count)
            if record.seconds == Double(record.length) { flags |= Self.isWhole }
            if let before, before.lower == record.lower, before.upper == record.upper { flags |= Self.hasBandOfBefore }
            put(UInt32((record.start &- start) / Self.second) | UInt32(record.length) << 16)
            let weightings = record.axes.enumerated().reduce(0 as UInt32) { sum, axis in
                let place = FrequencyWeighting.all.firstIndex { $0.name == axis.element.weighting }
                return sum | UInt32(((place ?? -1) + 1) & 15) << (4 * UInt32(axis.offset))
            }
            let reasons = UInt32(record.interruptions.rawValue & 15) << 28
            put(UInt32(min(max(record.gaps, 0), 0xFFFF)) | weightings << 16 | reasons)
            var shorts = [flags]
            shorts += record.axes.map { ShortTime($0.peak, of: record.length).bits }
            shorts.append(ShortTime(record.pvsPeak, of: record.length).bits)
            for axis in record.axes {
                let numbers: [Double?] = [axis.kbFmax, axis.kbFTm, axis.floor, axis.displacement, axis.acceleration]
                for number in numbers { shorts.append(ShortNumber(number).bits) }
            }
            for k in stride(from: 0, to: shorts.count, by: 2) { put(UInt32(shorts[k]) | UInt32(shorts[k + 1]) << 16) }
            if flags & Self.isWhole == 0 { put(record.seconds) }
            if flags & Self.hasBandOfBefore == 0 {
                put(record.lower)
                put(record.upper)
            }
            put(record.pvs)
            for axis in record.axes {
                for number in [axis.ppv, axis.frequency, axis.rms, axis.weightedRMS, axis.dose] { put(number) }
            }
            for cycle in cycles {
                put(cycle.value)
                let time = ShortTime(Double(cycle.time &- record.start) / 1e9, of: record.length)
                let axis = UInt32(cycle.axis ?? 3)
                put(UInt32(time.bits) | UInt32(ShortFrequency(cycle.frequency).bits) << 16 | axis << 30)
            }
        }
        return bytes
    }

    /// Nil when the bytes are none.
    init?(number: Int64, added: Int64, format: Int64, _ columns: UnsafeRawBufferPointer) {
        self.init(number: number, added: added)
        let (isOld, isNew) = (format == Self.oldFormat, format == Self.format)
        let bytes = isOld ? Self.bytesOfOldRecord : Self.bytesOfPeaks
        guard isNew || (columns.count % bytes == 0 && columns.count <= Self.most * bytes) else { return nil }
        var place = 0
        // (What a damaged row lacks is 0.)
        func word() -> UInt32 {
            defer { place += 4 }
            guard place + 4 <= columns.count else { return 0 }
            return UInt32(littleEndian: columns.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        }
        func shorts(_ count: Int) -> [UInt16] {
            (0..<count / 2).flatMap { _ -> [UInt16] in
                let two = word()
                return [UInt16(two & 0xFFFF), UInt16(two >> 16)]
            }
        }
        func float() -> Double? {
            let value = Float(bitPattern: word())
            return value.isNaN ? nil : Double(value)
        }
        while place < columns.count {
            guard records.count < Self.most else { return nil }
            var record = VibrationRecord()
            let (time, counts) = (word(), word())
            record.start = start &+ Int64(time & 0xFFFF) * Self.second
            record.length = max(1, Int(time >> 16))
            record.gaps = Int(counts & 0xFFFF)
            record.interruptions = .init(rawValue: UInt8(counts >> 28))
            let head = isNew ? shorts(20) : []
            let flags = head.first ?? 0
            record.seconds = flags & Self.isWhole != 0 ? Double(record.length) : float() ?? 0
            if flags & Self.hasBandOfBefore != 0, let before = records.last {
                (record.lower, record.upper) = (before.lower, before.upper)
            } else {
                (record.lower, record.upper) = (float() ?? 0, float() ?? 0)
            }
            record.pvs = float() ?? 0
            for k in 0..<3 {
                let place = Int(counts >> (16 + 4 * UInt32(k)) & 15) - 1
                if FrequencyWeighting.all.indices.contains(place) {
                    record.axes[k].weighting = FrequencyWeighting.all[place].name
                }
                record.axes[k].ppv = float() ?? 0
                if isOld { record.axes[k].peak = float() ?? 0 }
                record.axes[k].frequency = float()
                record.axes[k].rms = float() ?? 0
                if isOld { (record.axes[k].kbFmax, record.axes[k].kbFTm) = (float() ?? 0, float() ?? 0) }
                record.axes[k].weightedRMS = float() ?? 0
                record.axes[k].dose = float() ?? 0
                if isOld { record.axes[k].floor = float() }
            }
            if !isOld {
                let shorts = isNew ? Array(head.dropFirst()) : shorts(20)
                record.pvsPeak = ShortTime(bits: shorts[3]).seconds(of: record.length)
                for k in 0..<3 {
                    let numbers = shorts[(4 + 5 * k)..<(9 + 5 * k)].map { ShortNumber(bits: $0).number }
                    record.axes[k].peak = ShortTime(bits: shorts[k]).seconds(of: record.length) ?? 0
                    (record.axes[k].kbFmax, record.axes[k].kbFTm) = (numbers[0] ?? 0, numbers[1] ?? 0)
                    (record.axes[k].floor, record.axes[k].displacement) = (numbers[2], numbers[3])
                    record.axes[k].acceleration = numbers[4]
                }
            }
            for _ in 0..<Int(flags & 15) {
                let (value, rest) = (float() ?? 0, word())
                let axis = Int(rest >> 30)
                let time = ShortTime(bits: UInt16(rest & 0xFFFF)).seconds(of: record.length) ?? 0
                record.halfCycles.append(
                    .init(
                        axis: axis == 3 ? nil : axis, value: value,
                        time: record.start &+ Int64((time * 1e9).rounded()),
                        frequency: ShortFrequency(bits: UInt16(rest >> 16 & 0x3FFF)).frequency))
            }
            // (Of an old row the same as when it is written down again.)
            records.append(isOld ? record.asStored : record)
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
        guard row.isInt(1), formats.contains(format) else { return nil }
        return Array(row.blob(4)).withUnsafeBytes { columns in
            guard row.int64(3) == sum(row.key, added: row.int64(1), format: format, columns) else { return nil }
            return VibrationBlock(number: row.key, added: row.int64(1), format: format, columns)
        }
    }

    /// The same of a row that SQLite gives: number, added, format, sum, columns.
    static func read(_ row: borrowing Statement) -> VibrationBlock? {
        let (number, added, format, columns) = (row.int64(0), row.int64(1), row.int64(2), row.blob(4))
        guard formats.contains(format),
            row.int64(3) == sum(number, added: added, format: format, columns)
        else { return nil }
        return VibrationBlock(number: number, added: added, format: format, columns)
    }
}

/// A number that is not negative, in 16 bits: within 0.2 %.
private struct ShortNumber {
    let bits: UInt16

    init(bits: UInt16) { self.bits = bits }

    init(_ number: Double?) {
        guard let number, !number.isNaN else {
            bits = .max
            return
        }
        // Exponent and eight bits of the fraction, rounded.
        bits = UInt16(min((Float(max(0, number)).bitPattern &+ 0x4000) >> 15, 0xFFFE))
    }

    var number: Double? { bits == .max ? nil : Double(Float(bitPattern: UInt32(bits) << 15)) }
}

/// A frequency of 0.05 to 3200 Hz in 14 bits, by equal ratios: up to 0.05 % too low, or 0.02 % too high.
private struct ShortFrequency {
    private static let lowest = 0.05
    private static let steps = 16_382.0
    /// Logarithm of the ratio of two steps.
    private static let step = log(64_000) / steps
    let bits: UInt16

    init(bits: UInt16) { self.bits = bits }

    init(_ frequency: Double?) {
        guard let frequency, frequency > 0 else {
            bits = 0
            return
        }
        // (Rounded down: a limit is not told to be higher than it is.)
        bits = 1 + UInt16(min(max((log(frequency / Self.lowest) / Self.step).rounded(.down), 0), Self.steps))
    }

    /// Hz; nil: not known.
    var frequency: Double? {
        bits == 0 ? nil : Double(Float(Self.lowest * exp((Double(bits - 1) + 0.25) * Self.step)))
    }
}

/// A time within an interval, in 16 bits: to a millisecond in a minute.
private struct ShortTime {
    private static let steps = 60_000.0
    let bits: UInt16

    init(bits: UInt16) { self.bits = bits }

    init(_ seconds: Double?, of length: Int) {
        let step = seconds.map { ($0 * Self.steps / Double(max(1, length))).rounded() } ?? .nan
        bits = step.isNaN ? .max : UInt16(min(max(step, 0), 65_534))
    }

    func seconds(of length: Int) -> Double? { bits == .max ? nil : Double(bits) * Double(length) / Self.steps }
}

extension VibrationRecord {
    /// Adds it to the sums of a station, if it was weighted as it weights.
    func add(to past: inout VibrationPast) {
        let wanted = past.measurement
        guard axes.map(\.weighting) == wanted.weightings.map(\.name) else { return }
        // (Rows have 32 bits.)
        let isAlike =
            length == wanted.interval && Float(lower) == Float(wanted.band.lower)
            && Float(upper) == Float(wanted.band.upper)
        past.add(interval, isDoseAlone: !isAlike)
    }

    /// As it comes back from a row.
    fileprivate var asStored: VibrationRecord {
        var record = self
        record.pvsPeak = ShortTime(pvsPeak, of: length).seconds(of: length)
        for k in axes.indices {
            record.axes[k].peak = ShortTime(axes[k].peak, of: length).seconds(of: length) ?? 0
            record.axes[k].kbFmax = ShortNumber(axes[k].kbFmax).number ?? 0
            record.axes[k].kbFTm = ShortNumber(axes[k].kbFTm).number ?? 0
            record.axes[k].floor = ShortNumber(axes[k].floor).number
            record.axes[k].displacement = ShortNumber(axes[k].displacement).number
            record.axes[k].acceleration = ShortNumber(axes[k].acceleration).number
        }
        record.halfCycles = halfCycles.prefix(VibrationInterval.mostHalfCycles).map { cycle in
            let time = ShortTime(Double(cycle.time &- start) / 1e9, of: length).seconds(of: length) ?? 0
            return .init(
                axis: cycle.axis, value: cycle.value, time: start &+ Int64((time * 1e9).rounded()),
                frequency: ShortFrequency(cycle.frequency).frequency)
        }
        return record
    }
}

/// The spool's memory of vibration, which saves reads of the file: the ten minutes under way, and the number of rows.
struct VibrationBook {
    /// Seconds that are written down together: shorter intervals wait for each other.
    private static let together = 60

    /// Rows in the file.
    private(set) var rows: Int
    /// The ten minutes under way; nil: none.
    private var block: VibrationBlock?
    /// Seconds of it that have not been written down.
    private var unsaved = 0

    init(rows: Int = 0) { self.rows = rows }

    /// Number of the ten minutes under way.
    var number: Int64? { block?.number }
    /// The block under way, if the file does not have all of it yet.
    var open: VibrationBlock? { unsaved > 0 && block?.records.isEmpty == false ? block : nil }
    var isDue: Bool { unsaved >= Self.together }

    /// Other ten minutes are under way.
    mutating func begin(_ new: VibrationBlock) { (block, unsaved) = (new, 0) }

    mutating func add(_ record: VibrationRecord) {
        block?.add(record)
        unsaved += record.length
    }

    /// The file has all of these ten minutes.
    mutating func saved(_ block: VibrationBlock) { begin(block) }

    /// Forgets the block under way.
    mutating func close() { (block, unsaved) = (nil, 0) }

    mutating func added() { rows += 1 }

    /// The row is not there any more.
    mutating func deleted(_ number: Int64) {
        rows -= 1
        if block?.number == number { close() }
    }
}

/// The natural modes of one period: a row of the table of vibration, behind those of intervals.
struct StoredModes: Sendable, Equatable {
    /// As the row says what it has; and before modes were followed.
    static let format: Int64 = 4
    static let oldFormat: Int64 = 2
    /// Numbers of rows begin here; those of ten minutes since 1970 are smaller by far.
    private static let base: Int64 = 1 << 40
    private static let wordsOfHead = 6
    private static let wordsOfMode = 7
    private static let wordsOfOldMode = 6

    static let numbers = base - (1 << 30)...base + (1 << 30)

    /// The row of the period that begins at a time.
    static func number(at time: Int64) -> Int64 { base + VibrationBlock.number(at: time) }

    let number: Int64
    let added: Int64
    let message: ModesMessage

    init(_ message: ModesMessage, added: Int64) {
        (number, self.added, self.message) = (Self.number(at: message.start), added, message)
    }

    // MARK: Rows

    var columns: [UInt8] {
        var bytes: [UInt8] = []
        func put(_ word: UInt32) { withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) } }
        func put(_ number: Double?) { put(Float(number ?? .nan).bitPattern) }
        let start = UInt64(bitPattern: message.start)
        put(UInt32(truncatingIfNeeded: start))
        put(UInt32(truncatingIfNeeded: start >> 32))
        put(message.seconds)
        put(UInt32(clamping: message.segments))
        put(message.temperature)
        put(UInt32(message.modes.count))
        for mode in message.modes {
            for number in [mode.frequency, mode.damping] + mode.shape + [mode.prominence] { put(number) }
            put(UInt32(clamping: mode.id ?? 0))
        }
        return bytes
    }

    /// Nil when the bytes are none.
    init?(number: Int64, added: Int64, format: Int64, _ columns: UnsafeRawBufferPointer) {
        guard columns.count >= 4 * Self.wordsOfHead else { return nil }
        func word(_ place: Int) -> UInt32 {
            UInt32(littleEndian: columns.loadUnaligned(fromByteOffset: 4 * place, as: UInt32.self))
        }
        func float(_ place: Int) -> Double? {
            let value = Float(bitPattern: word(place))
            return value.isNaN ? nil : Double(value)
        }
        let (count, words) = (Int(word(5)), format == Self.oldFormat ? Self.wordsOfOldMode : Self.wordsOfMode)
        guard count <= ModesMessage.most, columns.count == 4 * (Self.wordsOfHead + words * count) else { return nil }
        var message = ModesMessage()
        message.start = Int64(bitPattern: UInt64(word(0)) | UInt64(word(1)) << 32)
        (message.seconds, message.segments, message.temperature) = (float(2) ?? 0, Int(word(3)), float(4))
        message.modes = (0..<count).map { k in
            let place = Self.wordsOfHead + words * k
            let numbers = (0..<Self.wordsOfOldMode).map { float(place + $0) ?? 0 }
            var mode = StructureMode(
                frequency: numbers[0], damping: numbers[1], shape: Array(numbers[2..<5]), prominence: numbers[5])
            if words > Self.wordsOfOldMode, word(place + 6) > 0 { mode.id = Int(word(place + 6)) }
            return mode
        }
        guard number == Self.number(at: message.start) else { return nil }
        (self.number, self.added, self.message) = (number, added, message)
    }

    /// A row as it stands in its page; nil: it is not what was written.
    static func read(_ row: PageRecord) -> StoredModes? {
        let format = row.int64(2)
        guard row.isInt(1), format == Self.format || format == oldFormat else { return nil }
        return Array(row.blob(4)).withUnsafeBytes { columns in
            let sum = VibrationBlock.sum(row.key, added: row.int64(1), format: format, columns)
            return row.int64(3) == sum
                ? StoredModes(number: row.key, added: row.int64(1), format: format, columns) : nil
        }
    }

    /// The same of a row that SQLite gives: number, added, format, sum, columns.
    static func read(_ row: borrowing Statement) -> StoredModes? {
        let (number, added, format, columns) = (row.int64(0), row.int64(1), row.int64(2), row.blob(4))
        guard format == Self.format || format == oldFormat,
            row.int64(3) == VibrationBlock.sum(number, added: added, format: format, columns)
        else { return nil }
        return StoredModes(number: number, added: added, format: format, columns)
    }
}
