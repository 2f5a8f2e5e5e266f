/// Bytes that are filled, handed out and emptied again without giving the memory back.
///
/// It is a text stream so that the standard library's own shortest formatting of floating-point numbers, which works
/// on the stack, can write into it directly: `Double.write(to:)` hands its digits to `_writeASCII`. Nothing here
/// touches the heap once the buffer has grown to the size of the largest message.
package struct OutputBuffer: TextOutputStream, Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package var count: Int { bytes.count }

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func reserve(_ capacity: Int) { bytes.reserveCapacity(capacity) }

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    package mutating func append(_ raw: UnsafeRawBufferPointer) { bytes.append(contentsOf: raw) }

    /// The text's UTF-8 as it is.
    package mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    package mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) { bytes.append(contentsOf: buffer) }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { bytes.withUnsafeBytes(body) }
}
