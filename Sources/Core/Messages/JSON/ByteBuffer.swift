/// Bytes that are filled, handed out and emptied again without giving the memory back.
///
/// It is a text stream so that the standard library's own shortest formatting of floating-point numbers, which works
/// on the stack, can write into it directly: `Double.write(to:)` hands its digits to `_writeASCII`. Nothing here
/// touches the heap once the buffer has grown to the size of the largest message.
struct ByteBuffer: TextOutputStream, Sendable {
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func append(_ byte: UInt8) { bytes.append(byte) }

    mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

    /// The text's UTF-8 as it is.
    mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: buffer) }

    func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { bytes.withUnsafeBytes(body) }
}
