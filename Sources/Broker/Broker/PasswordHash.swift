import Certificates

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

/// Reason for which a request is refused, in words.
package struct Refusal: Error, Equatable {
    package var words: String
    package init(_ words: String) { self.words = words }
}
