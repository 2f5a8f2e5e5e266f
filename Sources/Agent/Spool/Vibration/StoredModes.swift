import Messages
import Vibration

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
