/// Bytes that are filled, handed out and emptied again without giving the memory back.
///
/// It is a text stream so that the standard library's own shortest formatting of floating-point numbers, which works
/// on the stack, can write into it directly: `Double.write(to:)` hands its digits to `_writeASCII`. Nothing here
/// touches the heap once the buffer has grown to the size of the largest message.
///
/// Messages are made of thousands of pieces of a few bytes, and an array that grows by each of them asks each time whether it
/// is the only owner of its memory, how much room there is, and how the piece can be copied. So the array keeps its size here,
/// and what has been written is counted.
package struct OutputBuffer: TextOutputStream, Sendable {
    /// The first ``count`` bytes have been written.
    private var storage: [UInt8] = []
    package private(set) var count = 0

    package init() {}

    /// A copy of what has been written.
    package var bytes: [UInt8] { Array(storage[..<count]) }

    package mutating func removeAll() { count = 0 }

    mutating func reserve(_ capacity: Int) {
        let missing = capacity - storage.count
        if missing > 0 { storage.append(contentsOf: repeatElement(0, count: missing)) }
    }

    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        if count == storage.count { grow(1) }
        storage[count] = byte
        count += 1
    }

    @inline(__always)
    package mutating func append(_ text: StaticString) {
        append(text.utf8Start, text.utf8CodeUnitCount)
    }

    /// A text with a byte before it and two behind it, and where it is wanted another one before all of them.
    package mutating func append(
        _ first: UInt8?, _ before: UInt8, _ text: StaticString, _ behind: (UInt8, UInt8)
    ) {
        let length = text.utf8CodeUnitCount
        if storage.count - count < length + 4 { grow(length + 4) }
        let place = count
        count += storage.withUnsafeMutableBufferPointer { bytes in
            guard let start = bytes.baseAddress else { return 0 }
            var target = start + place
            if let first {
                target[0] = first
                target += 1
            }
            target[0] = before
            (target + 1).update(from: text.utf8Start, count: length)
            (target[length + 1], target[length + 2]) = behind
            return target + length + 3 - (start + place)
        }
    }

    package mutating func append(_ raw: UnsafeRawBufferPointer) {
        raw.withMemoryRebound(to: UInt8.self) { append($0) }
    }

    package mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if let start = bytes.baseAddress { append(start, bytes.count) }
    }

    /// The text's UTF-8 as it is.
    package mutating func write(_ text: String) {
        var text = text
        text.withUTF8 { append($0) }
    }

    package mutating func _writeASCII(_ buffer: UnsafeBufferPointer<UInt8>) { append(buffer) }

    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        storage.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    private mutating func append(_ start: UnsafePointer<UInt8>, _ length: Int) {
        if storage.count - count < length { grow(length) }
        let place = count
        storage.withUnsafeMutableBufferPointer { bytes in
            guard let target = bytes.baseAddress else { return }
            (target + place).update(from: start, count: length)
        }
        count += length
    }

    /// Makes room for so many bytes more, and twice of what there was at least.
    private mutating func grow(_ length: Int) { reserve(max(count + length, 2 * storage.count, 64)) }
}
