import Values

/// The fingerprint of a certificate, SHA-256, as `openssl` prints it without its colons.
package enum Fingerprint {
    package static func of(_ bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return Certificate.hex(hash.digest()).uppercased()
    }
}
