import CSQLite
import MiniSEED
import Values

/// A prepared statement while it is used; it is reset when it goes out of scope. Values that are bound must live as
/// long.
struct Statement: ~Copyable {
    private let handle: OpaquePointer
    private let database: Database

    init(_ handle: OpaquePointer, _ database: Database) {
        self.handle = handle
        self.database = database
    }

    deinit {
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
    }

    /// True: there is a row. False: done.
    func step() throws(SpoolError) -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw database.failure()
        }
    }

    /// For statements that give no rows.
    func run() throws(SpoolError) { while try step() {} }

    // MARK: Parameters, from 1

    func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
    func bind(_ index: Int32, _ value: Int) { sqlite3_bind_int64(handle, index, Int64(value)) }
    func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }

    /// The text is copied.
    func bind(_ index: Int32, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                _ = sqlite3_bind_text(handle, index, $0.baseAddress, Int32($0.count), Self.copied)
            }
        }
    }

    /// The bytes are not copied.
    func bind(_ index: Int32, _ bytes: UnsafeRawBufferPointer) {
        if let base = bytes.baseAddress, bytes.count > 0 {
            sqlite3_bind_blob64(handle, index, base, UInt64(bytes.count), nil)
        } else {
            sqlite3_bind_zeroblob(handle, index, 0)
        }
    }

    /// SQLITE_TRANSIENT, which is a cast in C.
    private static var copied: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    // MARK: Columns, from 0

    func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }
    func int(_ column: Int32) -> Int { Int(sqlite3_column_int64(handle, column)) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }
    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

    /// Bytes that are not UTF-8 are replaced.
    func text(_ column: Int32) -> String {
        guard let text = sqlite3_column_text(handle, column) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, column))
        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    /// Valid until the next step.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let base = sqlite3_column_blob(handle, column)
        return UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
    }

    func bytes(_ column: Int32) -> [UInt8] { [UInt8](blob(column)) }
}

/// A checksum of everything in a row: flash cards give back wrong bytes now and then, and SQLite does not notice. A row
/// whose end is lost, so that all of it reads as nothing, has another sum than 0.
struct RowSum {
    private var state: UInt64

    init(key: Int64) { state = UInt64(bitPattern: key) }

    mutating func mix(_ value: UInt64) {
        state = (state ^ value) &* 0x9E37_79B9_7F4A_7C15
        state ^= state >> 29
    }

    mutating func mix(_ value: Int64) { mix(UInt64(bitPattern: value)) }

    mutating func mix(_ bytes: UnsafeRawBufferPointer) { mix(UInt64(CRC32C.checksum(bytes))) }

    /// As it is kept in the column `sum`.
    var value: Int64 { Int64(state >> 32) }
}
