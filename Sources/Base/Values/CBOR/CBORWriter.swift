/// Writes CBOR (RFC 8949) into a buffer that is used again for the next message: no allocation in the steady state.
///
/// The object is the one that ``JSONWriter`` writes: objects are maps of indefinite length with text keys, arrays have
/// their length before them, times are the same text. Integers and floating-point numbers take the shortest form that
/// keeps their value (section 4.2.1; never less than 32 bits for numbers other than zero, because many readers on small
/// boards know no halves); NaN and the infinities are `null`, as in JSON.
package struct CBORWriter: TreeWriter, Sendable {
    private var buffer = OutputBuffer()

    /// - Parameter capacity: bytes to set aside at once.
    package init(capacity: Int = 1024) { buffer.reserve(capacity) }

    package mutating func removeAll() { buffer.removeAll() }

    /// Gives the written bytes; the pointer is valid only during the call.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { buffer.withBytes(body) }

    package mutating func beginObject() { buffer.append(0xbf) }
    package mutating func endObject() { buffer.append(0xff) }
    package mutating func beginArray(count: Int) { head(4, UInt64(clamping: count)) }
    package mutating func endArray() {}
    package mutating func key(_ name: StaticString) { string(literal: name) }
    package mutating func key(text name: String) { string(name) }
    package mutating func null() { buffer.append(0xf6) }
    package mutating func bool(_ value: Bool) { buffer.append(value ? 0xf5 : 0xf4) }
    package mutating func int(_ value: Int) { head(value < 0 ? 1 : 0, UInt64(value < 0 ? ~value : value)) }

    package mutating func double(_ value: Double) {
        let short = Float(value)
        if Double(short) == value || !value.isFinite { return float(short) }
        buffer.append(0xfb)
        bytes(value.bitPattern, count: 8)
    }

    package mutating func float(_ value: Float) {
        if !value.isFinite { return null() }
        if value == 0 {
            buffer.append(0xf9)
            return bytes(value.sign == .minus ? 0x8000 : 0, count: 2)
        }
        buffer.append(0xfa)
        bytes(UInt64(value.bitPattern), count: 4)
    }

    package mutating func string(_ value: String) {
        var value = value
        value.withUTF8 {
            head(3, UInt64($0.count))
            buffer.append(UnsafeRawBufferPointer($0))
        }
    }

    package mutating func string(literal value: StaticString) {
        head(3, UInt64(value.utf8CodeUnitCount))
        buffer.append(value)
    }

    package mutating func time(_ nanoseconds: Int64) {
        Timestamp(nanoseconds: nanoseconds).withText {
            head(3, UInt64($0.count))
            buffer.append($0)
        }
    }

    /// A major type with its argument, in as few bytes as hold it (section 3).
    private mutating func head(_ major: UInt8, _ argument: UInt64) {
        let type = major << 5
        switch argument {
        case 0..<24: buffer.append(type | UInt8(argument))
        case 24...0xff:
            buffer.append(type | 24)
            bytes(argument, count: 1)
        case 0x100...0xffff:
            buffer.append(type | 25)
            bytes(argument, count: 2)
        case 0x1_0000...0xffff_ffff:
            buffer.append(type | 26)
            bytes(argument, count: 4)
        default:
            buffer.append(type | 27)
            bytes(argument, count: 8)
        }
    }

    /// The lowest bytes of a number, the highest first.
    private mutating func bytes(_ value: UInt64, count: Int) {
        for place in stride(from: 8 * (count - 1), through: 0, by: -8) {
            buffer.append(UInt8(truncatingIfNeeded: value >> UInt64(place)))
        }
    }
}
