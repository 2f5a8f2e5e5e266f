import Messages

/// The content type of a message as it stands in a file: with the correlation data of a reply behind it, as a parameter
/// of the media type: `application/json;correlation=616263`.
struct StoredContent {
    private static let parameter = ";correlation="

    var type: ContentType
    var correlation: [UInt8]?

    /// Nil when the text is none.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let end = bytes.firstIndex(of: UInt8(ascii: ";")) else {
            guard let type = ContentType(rawValue: text) else { return nil }
            self.type = type
            return
        }
        let digits = bytes[end...].dropFirst(Self.parameter.utf8.count)
        guard let type = ContentType(rawValue: String(decoding: bytes[..<end], as: UTF8.self)),
            bytes[end...].starts(with: Self.parameter.utf8), digits.count % 2 == 0
        else { return nil }
        var correlation: [UInt8] = []
        var index = digits.startIndex
        while index < digits.endIndex {
            guard let high = Self.value(digits[index]), let low = Self.value(digits[index + 1]) else { return nil }
            correlation.append(high << 4 | low)
            index += 2
        }
        self.type = type
        self.correlation = correlation
    }

    static func text(_ header: PublicationHeader) -> String {
        guard let correlation = header.correlation else { return header.contentType.rawValue }
        var bytes = Array(header.contentType.rawValue.utf8) + Array(parameter.utf8)
        let digits = Array("0123456789abcdef".utf8)
        for byte in correlation {
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
