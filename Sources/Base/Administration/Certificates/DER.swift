import Values

/// The encoding of certificates (ITU-T X.690), as far as ours need it.
package enum DER {
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bits: UInt8 = 0x03
        static let octets: UInt8 = 0x04
        static let null: UInt8 = 0x05
        static let object: UInt8 = 0x06
        static let text: UInt8 = 0x0c
        static let shortTime: UInt8 = 0x17
        static let longTime: UInt8 = 0x18
        static let sequence: UInt8 = 0x30
        static let set: UInt8 = 0x31
    }

    static func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        if content.count < 128 {
            length = [UInt8(content.count)]
        } else {
            var rest = content.count
            while rest > 0 {
                length.insert(UInt8(rest & 255), at: 0)
                rest >>= 8
            }
            length.insert(0x80 | UInt8(length.count), at: 0)
        }
        return [tag] + length + content
    }

    package static func sequence(_ parts: [UInt8]...) -> [UInt8] { wrap(Tag.sequence, parts.flatMap { $0 }) }

    /// A whole number that is not negative.
    package static func integer(_ bytes: [UInt8]) -> [UInt8] {
        var content = Array(bytes.drop { $0 == 0 })
        if content.isEmpty || content[0] & 0x80 != 0 { content.insert(0, at: 0) }
        return wrap(Tag.integer, content)
    }

    package static func object(_ content: [UInt8]) -> [UInt8] { wrap(Tag.object, content) }

    package static func bits(_ content: [UInt8], unused: UInt8 = 0) -> [UInt8] { wrap(Tag.bits, [unused] + content) }

    /// A time to the second; before 2050 in the short form, as RFC 5280 wants it.
    /// - Parameter seconds: since 1970.
    package static func time(_ seconds: Int) -> [UInt8] {
        let text = UTC.digits(seconds)
        return text.hasPrefix("19") || UTC.year(seconds) < 2050
            ? wrap(Tag.shortTime, Array((text.dropFirst(2) + "Z").utf8)) : wrap(Tag.longTime, Array((text + "Z").utf8))
    }

    /// One element after the other.
    package struct Reader {
        private var rest: ArraySlice<UInt8>

        package init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

        package var isAtEnd: Bool { rest.isEmpty }
        var nextTag: UInt8? { rest.first }

        /// The next element: its tag, its content, and all of it; nil at the end, or where it is broken.
        package mutating func next() -> (tag: UInt8, content: [UInt8], whole: [UInt8])? {
            let start = rest.startIndex
            guard rest.count >= 2 else { return nil }
            var position = start + 2
            var length = Int(rest[start + 1])
            if length >= 0x80 {
                let count = length & 0x7f
                guard (1...4).contains(count), rest.count >= 2 + count else { return nil }
                length = rest[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
                position += count
            }
            guard rest.endIndex - position >= length else { return nil }
            let end = position + length
            defer { rest = rest[end...] }
            return (rest[start], Array(rest[position..<end]), Array(rest[start..<end]))
        }

        /// The content of the next element, where it has this tag.
        package mutating func next(_ tag: UInt8) -> [UInt8]? {
            guard nextTag == tag else { return nil }
            return next()?.content
        }
    }

    /// Seconds since 1970 of an element; nil: it is no time.
    package static func seconds(_ tag: UInt8, _ content: [UInt8]) -> Int? {
        let text = String(decoding: content, as: UTF8.self)
        guard text.hasSuffix("Z") else { return nil }
        switch (tag, content.count) {
        case (Tag.shortTime, 13): return UTC.seconds(short: String(text.dropLast()))
        case (Tag.longTime, 15): return UTC.seconds(String(text.dropLast()))
        default: return nil
        }
    }
}

/// Points in time as digits, in UTC.
package enum UTC {
    /// `yyyymmddHHMMSS`.
    package static func digits(_ seconds: Int) -> String {
        let text = Timestamp(nanoseconds: nanoseconds(seconds)).description
        return String(decoding: text.utf8.prefix(19).filter { $0.isDigit }, as: UTF8.self)
    }

    /// As RFC 3339 has it, to the second: `2026-11-05T10:20:30Z`.
    package static func text(_ seconds: Int) -> String {
        String(Timestamp(nanoseconds: nanoseconds(seconds)).description.prefix(19)) + "Z"
    }

    package static func year(_ seconds: Int) -> Int { Int(digits(seconds).prefix(4)) ?? 0 }

    /// - Parameter digits: `yyyymmddHHMMSS`.
    package static func seconds(_ digits: String) -> Int? {
        let bytes = Array(digits.utf8)
        guard bytes.count == 14, bytes.allSatisfy({ $0.isDigit }) else { return nil }
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 * 10 + Int($1 - 0x30) } }
        let (month, day) = (number(4..<6), number(6..<8))
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        return Timestamp.days(year: number(0..<4), month: month, day: day) * 86_400 + number(8..<10) * 3600
            + number(10..<12) * 60 + number(12..<14)
    }

    /// - Parameter short: `yymmddHHMMSS`, of the years 1950 to 2049.
    package static func seconds(short: String) -> Int? {
        seconds((short.utf8.first ?? 0x39) < 0x35 ? "20" + short : "19" + short)
    }

    /// (Nanoseconds end in 2262.)
    private static func nanoseconds(_ seconds: Int) -> Int64 {
        Int64(min(max(seconds, 0), 9_000_000_000)) * 1_000_000_000
    }
}

/// PEM: base64 between two lines.
package enum PEM {
    package static func text(_ kind: String, _ bytes: [UInt8]) -> String {
        let letters = Array(Base64.text(bytes).utf8)
        var text = "-----BEGIN \(kind)-----\n"
        for start in stride(from: 0, to: letters.count, by: 64) {
            text += String(decoding: letters[start..<min(start + 64, letters.count)], as: UTF8.self) + "\n"
        }
        return text + "-----END \(kind)-----\n"
    }

    /// The contents of all parts of a kind that can be decoded.
    package static func all(_ kind: String, in text: String) -> [[UInt8]] { parts(kind, in: text).compactMap(\.self) }

    /// The contents of all parts of a kind; nil: of one that cannot be decoded.
    package static func parts(_ kind: String, in text: String) -> [[UInt8]?] {
        var found: [[UInt8]?] = []
        var part: String?
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("-----BEGIN \(kind)-----") {
                part = ""
            } else if line.hasPrefix("-----END \(kind)-----") {
                if let letters = part { found.append(Base64.bytes(letters.utf8)) }
                part = nil
            } else {
                part?.append(contentsOf: line.filter { $0 != " " && $0 != "\t" })
            }
        }
        return found
    }
}
