/// Reads CBOR (RFC 8949) into the same tree as JSON is read into. Any bytes may come: what is not whole, has something
/// behind it, is nested more than 32 deep, or holds what JSON has no place for (byte strings, keys that are no text) is
/// refused.
public struct CBORReader {
    private let bytes: [UInt8]
    private var place = 0

    /// - Returns: nil for what is refused.
    public static func read(_ bytes: [UInt8]) -> Value? {
        var reader = CBORReader(bytes: bytes)
        guard let value = reader.value(depth: 0), reader.place == bytes.count else { return nil }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func value(depth: Int) -> Value? {
        guard depth < 32, let first = byte() else { return nil }
        let (major, info) = (first >> 5, first & 31)
        switch major {
        case 0: return argument(info).flatMap { Int64(exactly: $0) }.map { .int($0) }
        case 1: return argument(info).flatMap { Int64(exactly: $0) }.map { .int(~$0) }
        case 3: return text(info).map { .string($0) }
        case 4: return array(info, depth)
        case 5: return object(info, depth)
        // What a tag says of the value behind it does not matter here.
        case 6: return argument(info) == nil ? nil : value(depth: depth + 1)
        case 7: return simple(info)
        default: return nil
        }
    }

    private mutating func simple(_ info: UInt8) -> Value? {
        switch info {
        case 20: .bool(false)
        case 21: .bool(true)
        case 22, 23: .null
        case 25: argument(info).map { .double(Self.half(UInt16($0))) }
        case 26: argument(info).map { .double(Double(Float(bitPattern: UInt32($0)))) }
        case 27: argument(info).map { .double(Double(bitPattern: $0)) }
        default: nil
        }
    }

    private mutating func array(_ info: UInt8, _ depth: Int) -> Value? {
        guard let count = length(info) else { return nil }
        var values: [Value] = []
        while count.map({ values.count < $0 }) ?? !isBreak() {
            guard let value = value(depth: depth + 1) else { return nil }
            values.append(value)
        }
        return .array(values)
    }

    private mutating func object(_ info: UInt8, _ depth: Int) -> Value? {
        guard let count = length(info) else { return nil }
        var members: [Value.Member] = []
        while count.map({ members.count < $0 }) ?? !isBreak() {
            guard case .string(let key)? = value(depth: depth + 1), let value = value(depth: depth + 1) else {
                return nil
            }
            members.append(.init(key, value))
        }
        return .object(members)
    }

    private mutating func text(_ info: UInt8) -> String? {
        if info == 31 {
            var whole = ""
            while !isBreak() {
                guard let first = byte(), first >> 5 == 3, first & 31 != 31, let part = text(first & 31) else {
                    return nil
                }
                whole += part
            }
            return whole
        }
        guard let count = argument(info), count <= UInt64(bytes.count - place) else { return nil }
        defer { place += Int(count) }
        return String(validating: bytes[place..<place + Int(count)], as: UTF8.self)
    }

    /// Length of an array or a map: nil within for one that ends with a break. More than there are bytes is refused at
    /// once.
    private mutating func length(_ info: UInt8) -> Int?? {
        if info == 31 { return .some(nil) }
        guard let count = argument(info), count <= UInt64(bytes.count - place) else { return nil }
        return .some(Int(count))
    }

    private mutating func argument(_ info: UInt8) -> UInt64? {
        guard info >= 24 else { return UInt64(info) }
        guard info < 28 else { return nil }
        let count = 1 << Int(info - 24)
        guard bytes.count - place >= count else { return nil }
        defer { place += count }
        return bytes[place..<place + count].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func byte() -> UInt8? {
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func isBreak() -> Bool {
        guard place < bytes.count, bytes[place] == 0xff else { return false }
        place += 1
        return true
    }

    /// RFC 8949, appendix D.
    private static func half(_ bits: UInt16) -> Double {
        let (exponent, mantissa) = (Int(bits >> 10 & 31), Double(bits & 1023))
        let magnitude: Double =
            switch exponent {
            case 0: mantissa * 0x1p-24
            case 31: mantissa == 0 ? .infinity : .nan
            default: Double(sign: .plus, exponent: exponent - 25, significand: 1024 + mantissa)
            }
        return bits & 0x8000 == 0 ? magnitude : -magnitude
    }
}

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
