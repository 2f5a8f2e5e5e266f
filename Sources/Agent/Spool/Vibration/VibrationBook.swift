import Messages

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
