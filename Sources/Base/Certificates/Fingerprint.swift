import Values

/// The fingerprint of a certificate: SHA-256.
package enum Fingerprint {
    /// As `openssl` prints it, without its colons.
    package static func of(_ bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return Certificate.hex(hash.digest()).uppercased()
    }

    /// `SHA256:` and 64 hexadecimal digits, colons between them or not: the digits in capitals; nil: it is none.
    package static func digits(_ fingerprint: String) -> String? {
        var text = fingerprint.uppercased()
        if text.hasPrefix("SHA256:") { text.removeFirst(7) }
        let digits = text.filter { $0 != ":" }
        return digits.count == 64 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }
}
