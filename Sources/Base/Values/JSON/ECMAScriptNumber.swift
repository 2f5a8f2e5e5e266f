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
