/// Bounds on what is read, so that nobody can make a program work or remember without end.
package enum ReadingLimit {
    /// Bytes of a whole text.
    package static let bytes = 1 << 20
    /// Levels of objects and lists within each other.
    package static let depth = 32

    package static func checkSize(_ bytes: [UInt8]) throws(ReadingError) {
        guard bytes.count <= Self.bytes else {
            throw ReadingError(
                .tooLarge, "The text has \(bytes.count) bytes; up to \(Self.bytes) are read.",
                got: .int(Int64(bytes.count)), allowed: "at most \(Self.bytes) bytes")
        }
    }
}
