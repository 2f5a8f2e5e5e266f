/// Writes JSON (RFC 8259) into a buffer that is used again for the next message: no allocation in the steady state.
///
/// The caller keeps objects and arrays balanced; commas are put in here. Numbers:
/// - a `Double` becomes the shortest text that reads back to the same double, whole ones with `.0` (`5.0`), because
///   stores with types take that of the first value; large and small ones with an exponent (`1e-05`, `1e+16`);
/// - a `Float` becomes the shortest text that reads back to the same float: six to nine digits, enough for a 24-bit
///   sensor and half the bytes; with `isSingle` every `Double` does;
/// - NaN and the infinities, which JSON does not know, become `null`.
public struct JSONWriter: Sendable {
    private var buffer = OutputBuffer()
    private var needsComma = false
    /// As RFC 8785 wants it: only what JSON forbids is escaped.
    var isCanonical = false
    /// Numbers keep the digits of a 32-bit float.
    package var isSingle = false

    /// - Parameter capacity: bytes to set aside at once.
    public init(capacity: Int = 1024) { buffer.reserve(capacity) }

    /// Bytes written since the last `removeAll`.
    public var count: Int { buffer.count }

    /// Empties the buffer, keeps its memory.
    public mutating func removeAll() {
        buffer.removeAll()
        needsComma = false
        isSingle = false
    }

    /// Gives the written bytes; the pointer is valid only during the call.
    public func withBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { buffer.withBytes(body) }

    /// A copy of what has been written.
    public var bytes: [UInt8] { buffer.bytes }

    // MARK: Structure

    public mutating func beginObject() { open(UInt8(ascii: "{")) }
    public mutating func endObject() { close(UInt8(ascii: "}")) }
    public mutating func beginArray() { open(UInt8(ascii: "[")) }
    public mutating func endArray() { close(UInt8(ascii: "]")) }

    /// A key known when the program is written: plain ASCII without `"` and `\`.
    public mutating func key(_ name: StaticString) {
        let quote = UInt8(ascii: "\"")
        buffer.append(needsComma ? UInt8(ascii: ",") : nil, quote, name, (quote, UInt8(ascii: ":")))
        needsComma = false
    }

    /// A key that comes from elsewhere; escaped where it has to be.
    public mutating func key(text name: String) {
        string(name)
        buffer.append(UInt8(ascii: ":"))
        needsComma = false
    }

    // MARK: Values

    public mutating func null() {
        separate()
        buffer.append("null")
    }

    public mutating func bool(_ value: Bool) {
        separate()
        if value { buffer.append("true") } else { buffer.append("false") }
    }

    @inlinable
    public mutating func int(_ value: some FixedWidthInteger) { integer(value < 0, UInt64(value.magnitude)) }

    public mutating func double(_ value: Double) {
        guard value.isFinite else { return null() }
        // A ratio to almost nothing is larger than a 32-bit float can be; it is a number all the same.
        if isSingle { return float(max(-.greatestFiniteMagnitude, min(.greatestFiniteMagnitude, Float(value)))) }
        separate()
        value.write(to: &buffer)
    }

    public mutating func float(_ value: Float) {
        guard value.isFinite else { return null() }
        separate()
        value.write(to: &buffer)
    }

    /// A string with `"`, `\` and all that is unprintable escaped; everything else as UTF-8.
    public mutating func string(_ value: String) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        var value = value
        value.withUTF8 { escape($0) }
        buffer.append(UInt8(ascii: "\""))
    }

    /// A string known when the program is written: plain ASCII without `"` and `\`.
    public mutating func string(literal value: StaticString) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        buffer.append(value)
        buffer.append(UInt8(ascii: "\""))
    }

    /// A time as RFC 3339 in UTC with nanoseconds, quoted.
    /// - Parameter nanoseconds: since 1970-01-01 UTC.
    public mutating func time(_ nanoseconds: Int64) {
        separate()
        buffer.append(UInt8(ascii: "\""))
        Timestamp(nanoseconds: nanoseconds).withText { buffer.append($0) }
        buffer.append(UInt8(ascii: "\""))
    }

    /// JSON text made before, as it is.
    public mutating func raw(_ text: UnsafeRawBufferPointer) {
        separate()
        buffer.append(text)
    }

    // MARK: Inside

    private mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    @usableFromInline
    mutating func integer(_ isNegative: Bool, _ magnitude: UInt64) {
        separate()
        if isNegative { buffer.append(UInt8(ascii: "-")) }
        var rest = magnitude
        var divisor: UInt64 = 1
        while rest / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            buffer.append(UInt8(ascii: "0") + UInt8(rest / divisor))
            rest %= divisor
            divisor /= 10
        }
    }

    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var index = 0
        while index < text.count {
            let plain = text[index...].prefix { !Self.mayNeedEscape($0) }
            buffer.append(UnsafeBufferPointer(rebasing: plain))
            index = plain.endIndex
            guard index < text.count else { return }
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): buffer.append("\\\"")
            case UInt8(ascii: "\\"): buffer.append("\\\\")
            case 0x08: buffer.append("\\b")
            case 0x09: buffer.append("\\t")
            case 0x0a: buffer.append("\\n")
            case 0x0c: buffer.append("\\f")
            case 0x0d: buffer.append("\\r")
            case 0..<0x20:
                hex(UInt32(byte))
            default:
                let end = byte == 0x7f ? index : min(text.count, byte == 0xe2 ? index + 2 : index + 1)
                var value = UInt32(byte) & (byte == 0x7f ? 0x7f : byte == 0xe2 ? 15 : 31)
                for next in text[index..<end] { value = value << 6 | UInt32(next & 63) }
                guard !isCanonical, Unicode.Scalar(value)?.isUnprintable == true else {
                    buffer.append(byte)
                    continue
                }
                hex(value)
                index = end
            }
        }
    }

    /// Whether JSON wants the byte escaped, or it begins a character that JSON lets pass and `isUnprintable` does not.
    private static func mayNeedEscape(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<0x20, UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x7f, 0xc2, 0xd8, 0xe2: true
        default: false
        }
    }

    private mutating func hex(_ value: UInt32) {
        buffer.append("\\u")
        for shift in [12, 8, 4, 0] as [UInt32] { buffer.append(Self.hexDigit(UInt8(value >> shift & 15))) }
    }

    private static func hexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}

extension JSONWriter {
    /// A double as ECMAScript's `Number::toString` writes it, which RFC 8785 asks for: `0.00001`, `1e-7`, `1e+21`, `0` for
    /// negative zero.
    mutating func ecmaScript(_ value: Double) {
        guard value.isFinite else { return null() }
        var scratch = OutputBuffer()
        abs(value).write(to: &scratch)
        // Significant digits d₁d₂… and the exponent n of 0.d₁d₂… × 10ⁿ.
        var digits: [UInt8] = []
        var point: Int?
        var exponent = 0
        for (i, byte) in scratch.bytes.enumerated() {
            if byte == UInt8(ascii: ".") {
                point = digits.count
            } else if byte == UInt8(ascii: "e") {
                exponent = Int(String(decoding: scratch.bytes[(i + 1)...], as: UTF8.self)) ?? 0
                break
            } else {
                digits.append(byte)
            }
        }
        var n = (point ?? digits.count) + exponent
        let leading = digits.prefix { $0 == UInt8(ascii: "0") }.count
        digits.removeFirst(leading)
        n -= leading
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        guard !digits.isEmpty else { return int(0) }

        var text: [UInt8] = value < 0 ? [UInt8(ascii: "-")] : []
        let zero = UInt8(ascii: "0")
        switch n {
        case digits.count...21 where digits.count <= 21:
            text += digits
            text += repeatElement(zero, count: n - digits.count)
        case 1...21:
            text += digits[..<n] + [UInt8(ascii: ".")] + digits[n...]
        case -5...0:
            text += [zero, UInt8(ascii: ".")]
            text += repeatElement(zero, count: -n)
            text += digits
        default:
            text.append(digits[0])
            if digits.count > 1 { text += [UInt8(ascii: ".")] + digits[1...] }
            text += Array("e\(n > 0 ? "+" : "-")\(abs(n - 1))".utf8)
        }
        text.withUnsafeBytes { raw($0) }
    }
}

extension JSONWriter {
    private mutating func canonical(_ tree: Value) {
        switch tree {
        case .double(let number): ecmaScript(number)
        case .array(let elements):
            beginArray()
            for element in elements { canonical(element) }
            endArray()
        case .object(let members):
            beginObject()
            for member in members.sorted(by: { $0.key.utf16.lexicographicallyPrecedes($1.key.utf16) }) {
                key(text: member.key)
                canonical(member.value)
            }
            endObject()
        default: value(tree)
        }
    }

    fileprivate mutating func canonicalTree(_ tree: Value) { canonical(tree) }
}

extension JSONWriter {
    /// The bytes of an object.
    /// - Parameter members: writes what is in it.
    package static func object(_ members: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        members(&writer)
        writer.endObject()
        return writer.bytes
    }
}

extension Value {
    /// Compact JSON, members in their own order.
    public func json() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }

    /// The one JSON text of this tree that everybody can make again, for digests: RFC 8785 (members sorted by the UTF-16
    /// units of their keys, no blanks, numbers as ECMAScript writes them). Integers keep all their digits, also beyond
    /// 2⁵³ where RFC 8785 would round them.
    public func canonicalJSON() -> [UInt8] {
        var writer = JSONWriter()
        writer.isCanonical = true
        writer.canonicalTree(self)
        return writer.bytes
    }
}
