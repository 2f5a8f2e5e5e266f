import Testing

@testable import MQTT

/// Files in the place of certificates and keys: what each is, and what to do.
@Suite struct KeyFileTests {
    private static func pem(_ label: String, _ inside: String = "AAAA") -> [UInt8] {
        Array("-----BEGIN \(label)-----\n\(inside)\n-----END \(label)-----\n".utf8)
    }

    private static let files: [(name: String, bytes: [UInt8], key: String?, certificate: String?)] = [
        ("empty", [], "is empty", "is empty"),
        ("PKCS #8", pem("PRIVATE KEY"), nil, "swapped"),
        ("PKCS #1", pem("RSA PRIVATE KEY"), nil, "swapped"),
        ("SEC 1", pem("EC PARAMETERS") + pem("EC PRIVATE KEY"), nil, "swapped"),
        ("certificate", pem("CERTIFICATE"), "swapped", nil),
        ("trusted", pem("TRUSTED CERTIFICATE"), "swapped", nil),
        ("both", pem("CERTIFICATE") + pem("PRIVATE KEY"), nil, nil),
        ("encrypted", pem("ENCRYPTED PRIVATE KEY"), "pass phrase", "swapped"),
        (
            "encrypted, old", pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA"),
            "pass phrase", "swapped"
        ),
        (
            "encrypted, CRLF",
            Array(
                String(decoding: pem("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nAAAA"), as: UTF8.self)
                    .split(separator: "\n").joined(separator: "\r\n").utf8), "pass phrase", "swapped"
        ),
        ("OpenSSH", pem("OPENSSH PRIVATE KEY"), "ssh-keygen", "swapped"),
        ("request", pem("CERTIFICATE REQUEST"), "request", "request"),
        ("public", pem("PUBLIC KEY"), "public key", "public key"),
        ("PKCS #7", pem("PKCS7"), "pkcs7", "pkcs7"),
        ("byte-order mark", [0xEF, 0xBB, 0xBF] + pem("PRIVATE KEY"), "byte-order mark", "byte-order mark"),
        ("UTF-16", [0xFF, 0xFE, 0x2D, 0x00], "UTF-16", "UTF-16"),
        ("PKCS #12", [0x30, 0x82, 4, 0, 2, 1, 3, 0x30, 0x82, 1, 1], "pkcs12", "pkcs12"),
        ("DER, key", [0x30, 0x82, 4, 0, 2, 1, 0, 0x30, 0x0d, 6, 9], "pkey -inform der", "private key in the DER"),
        ("DER, certificate", [0x30, 0x82, 4, 0, 0x30, 0x82, 1, 1, 0xa0, 3, 2], "DER", "x509 -inform der"),
        ("Java", [0xFE, 0xED, 0xFE, 0xED, 0, 0, 0, 2], "keytool", "keytool"),
        ("PuTTY", Array("PuTTY-User-Key-File-3: ssh-rsa\n".utf8), "PuTTY", "PuTTY"),
        ("text", Array("secret\n".utf8), "not in the PEM format", "not in the PEM format"),
        ("indented", [32] + pem("PRIVATE KEY"), "not in the PEM format", "not in the PEM format"),
        ("short sequence", [0x30], "not in the PEM format", "not in the PEM format"),
    ]

    @Test(arguments: files.indices) func eachIsNamedWithWhatToDo(index: Int) {
        let file = Self.files[index]
        for (role, words) in [(KeyFile.Role.key, file.key), (.certificate, file.certificate)] {
            let problem = KeyFile.problem(file.bytes, as: role, path: "/k")
            if let words {
                #expect(problem?.contains(words) == true, "\(file.name): \(problem ?? "nil")")
            } else {
                #expect(problem == nil, "\(file.name): \(problem ?? "")")
            }
        }
    }

    /// Whatever the bytes: a sentence, or none, and never the end of the process.
    @Test func everyBeginningIsTaken() {
        for file in Self.files {
            for count in 0...file.bytes.count {
                _ = KeyFile.problem(Array(file.bytes[..<count]), as: .key, path: "/k")
                _ = KeyFile.certificates(Array(file.bytes[..<count]))
            }
        }
    }
}
