import CSQLite
import Glibc

/// Failure of the spool: the file, SQLite's code (or that of the system, where `isSystem`) and its words.
public struct SpoolError: Error, Sendable, Equatable, CustomStringConvertible {
    public var file: String
    /// SQLite's extended result code; an errno where `isSystem`.
    public var code: Int32
    public var text: String
    public var isSystem = false
    /// The files were deleted, replaced or cut short while they were open: `Spool.recover` begins anew.
    public internal(set) var isGone = false

    init(file: String, code: Int32, text: String) {
        self.file = file
        self.code = code
        self.text = text
    }

    /// A call of the system failed.
    init(file: String, errno code: Int32) {
        self.init(file: file, code: code, text: String(cString: strerror(code)))
        isSystem = true
    }

    static func gone(_ file: String, _ text: String) -> SpoolError {
        var error = SpoolError(file: file, errno: ESTALE)
        (error.text, error.isGone) = (text, true)
        return error
    }

    /// The content is damaged, or cannot be read: `Spool.recover` sets the file aside and begins anew.
    public var isDamage: Bool {
        guard !isSystem else { return false }
        let primary = code & 0xFF
        return [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT].contains(primary)
            // Our statements are always the same: they fail by what they find.
            || [SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(primary)
            // A read that failed, or was short.
            || code == SQLITE_IOERR | (1 << 8) || code == SQLITE_IOERR | (2 << 8)
    }

    /// There is no room: the disk, or a limit on the file.
    public var isFull: Bool {
        isSystem ? code == ENOSPC || code == EDQUOT || code == EFBIG : code & 0xFF == SQLITE_FULL
    }

    public var description: String { "\(file): \(text) (\(isSystem ? "errno" : "SQLite") \(code))" }
}
