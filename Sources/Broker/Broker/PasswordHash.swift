/// Passwords, and the hashes by which mosquitto knows them.
package enum PasswordHash {
    /// Rounds of PBKDF2, as `mosquitto_passwd` makes them.
    package static let rounds = 101
    /// Characters of a password that somebody chose.
    package static let lengths = 8...256

    /// A line's second field in mosquitto's file of passwords (`$7$`: PBKDF2 with SHA-512).
    /// - Parameter salt: twelve random bytes.
    package static func make(_ password: [UInt8], salt: [UInt8], rounds: Int = rounds) -> String {
        let hash = SHA512.stretched(password, salt: salt, rounds: rounds)
        return "$7$\(rounds)$\(Base64.text(salt))$\(Base64.text(hash))"
    }

    /// The password in the first line of a file, as it was given: colons and blanks belong to it.
    /// - Returns: the password, or what is wrong with it.
    package static func given(_ file: [UInt8]) -> Result<[UInt8], Refusal> {
        let line = Array(file.prefix { $0 != 10 })
        guard let text = String(validating: line, as: UTF8.self), !line.contains(0) else {
            return .failure(Refusal("the password is no text in UTF-8"))
        }
        let count = text.unicodeScalars.count
        let isPlain = text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) }
        guard lengths.contains(count), isPlain else {
            return .failure(
                Refusal(
                    "the password has \(count) characters\(isPlain ? "" : ", and control characters among them"): 8 to 256 are allowed, in one line"
                ))
        }
        return .success(line)
    }
}

/// Something that is not done, in words.
package struct Refusal: Error, Equatable {
    package var words: String
    package init(_ words: String) { self.words = words }
}

/// Base64 (RFC 4648).
package enum Base64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func text(_ bytes: [UInt8]) -> String {
        var out: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let part = bytes[start..<min(start + 3, bytes.count)]
            var word: UInt32 = 0
            for i in 0..<3 { word = word << 8 | (i < part.count ? UInt32(part[start + i]) : 0) }
            for i in 0..<4 {
                out.append(i <= part.count ? letters[Int(word >> UInt32(18 - 6 * i) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// The bytes; white space is passed over; nil where it is none.
    package static func bytes(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var out: [UInt8] = []
        var (word, count, padding): (UInt32, Int, Int) = (0, 0, 0)
        for letter in text {
            let value: UInt8
            switch letter {
            case 0x41...0x5a: value = letter - 0x41
            case 0x61...0x7a: value = letter - 0x61 + 26
            case 0x30...0x39: value = letter - 0x30 + 52
            case 0x2b: value = 62
            case 0x2f: value = 63
            case 0x3d:
                padding += 1
                continue
            case 0x20, 0x09, 0x0a, 0x0d: continue
            default: return nil
            }
            if padding > 0 { return nil }
            word = word << 6 | UInt32(value)
            count += 1
            if count % 4 == 0 { out += [UInt8(word >> 16 & 255), UInt8(word >> 8 & 255), UInt8(word & 255)] }
        }
        switch count % 4 {
        case 2: out.append(UInt8(word >> 4 & 255))
        case 3: out += [UInt8(word >> 10 & 255), UInt8(word >> 2 & 255)]
        case 1: return nil
        default: break
        }
        return out
    }
}
