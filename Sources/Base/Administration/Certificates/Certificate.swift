import Values

/// Parts of a certificate (X.509) that are read.
package struct Certificate: Equatable {
    /// DER of all of it.
    package private(set) var bytes: [UInt8]
    /// Lower-case hexadecimal digits, two a byte.
    package var serial: String
    /// DER of the names.
    package var issuer: [UInt8]
    package var subject: [UInt8]
    /// Seconds since 1970.
    package var from: Int
    package var until: Int
    /// DER of the public key (SubjectPublicKeyInfo).
    package var key: [UInt8]
    /// The identifier of the key that it names for itself; nil: none.
    package var keyIdentifier: [UInt8]?

    /// The first certificate of a text (PEM); nil: there is none that can be read.
    package init?(pem: String) {
        guard let bytes = PEM.all("CERTIFICATE", in: pem).first else { return nil }
        self.init(bytes)
    }

    /// The certificates of a text (PEM) that can be read: ten at most.
    package static func all(pem: String) -> [Certificate] {
        PEM.all("CERTIFICATE", in: pem).prefix(10).compactMap { Certificate($0) }
    }

    package var pem: String { PEM.text("CERTIFICATE", bytes) }

    /// - Parameter bytes: DER.
    package init?(_ bytes: [UInt8]) {
        var outer = DER.Reader(bytes)
        guard let content = outer.next(DER.Tag.sequence) else { return nil }
        var signed = DER.Reader(content)
        guard let body = signed.next(DER.Tag.sequence) else { return nil }
        var reader = DER.Reader(body)
        if reader.nextTag == 0xa0 { _ = reader.next() }
        guard let serial = reader.next(DER.Tag.integer), reader.next(DER.Tag.sequence) != nil,
            let issuer = reader.next(), let times = reader.next(DER.Tag.sequence), let subject = reader.next(),
            let key = reader.next()
        else { return nil }
        var both = DER.Reader(times)
        guard let from = both.next(), let until = both.next(), let begin = DER.seconds(from.tag, from.content),
            let end = DER.seconds(until.tag, until.content)
        else { return nil }
        self.bytes = bytes
        self.serial = Hexadecimal.text(Array(serial.drop { $0 == 0 }))
        (self.issuer, self.subject, self.key) = (issuer.whole, subject.whole, key.whole)
        (self.from, self.until) = (begin, end)
        while let part = reader.next() {
            guard part.tag == 0xa3 else { continue }
            var list = DER.Reader(part.content)
            var extensions = DER.Reader(list.next(DER.Tag.sequence) ?? [])
            while let one = extensions.next(DER.Tag.sequence) {
                var fields = DER.Reader(one)
                guard fields.next(DER.Tag.object) == [0x55, 0x1d, 0x0e], let value = fields.next(DER.Tag.octets)
                else { continue }
                var inner = DER.Reader(value)
                keyIdentifier = inner.next(DER.Tag.octets)
            }
        }
    }

    /// The name of whoever has it, where that is a common name alone.
    package var name: String? {
        var outer = DER.Reader(subject)
        var sets = DER.Reader(outer.next(DER.Tag.sequence) ?? [])
        var parts = DER.Reader(sets.next(DER.Tag.set) ?? [])
        var fields = DER.Reader(parts.next(DER.Tag.sequence) ?? [])
        guard fields.next(DER.Tag.object) == [0x55, 0x04, 0x03], let text = fields.next(),
            [DER.Tag.text, 0x13, 0x16].contains(text.tag), sets.isAtEnd, parts.isAtEnd
        else { return nil }
        return String(decoding: text.content, as: UTF8.self)
    }

    /// As that which comes to another board with the same line.
    package static let isForAnotherKey = "it is for another key"

    /// Fault of a certificate for this public key (DER) and name; nil: it is theirs.
    package func problem(key: [UInt8], name: String) -> String? {
        if self.name != name { return "it is for another name than \(name)" }
        return self.key == key ? nil : Self.isForAnotherKey
    }

    /// Fault of its time; nil: it is good now. (Whoever has signed it may have had a wrong clock.)
    /// - Parameter now: seconds since 1970.
    package func problem(at now: Int) -> String? {
        func wrong(_ words: String, _ time: Int) -> String {
            "it \(words) \(UTC.text(time)), and this clock says \(UTC.text(now)): this clock or the broker's is wrong"
        }
        if now < from { return wrong("begins at", from) }
        return now < until ? nil : wrong("ended at", until)
    }

    /// Whether it is to be renewed: two thirds of its life are over.
    /// - Parameter now: seconds since 1970.
    package func isDue(_ now: Int) -> Bool { now >= from + (until - from) / 3 * 2 }
}

/// Public keys as stations have them.
package enum PublicKey {
    /// The only form that a key of P-256 has when its point is not compressed.
    private static let head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    ]

    /// Whether these bytes (DER) are a key of the curve P-256.
    static func isP256(_ bytes: [UInt8]) -> Bool { bytes.count == 91 && Array(bytes.prefix(27)) == head }

    /// The key as `openssl` prints it.
    package static func pem(_ bytes: [UInt8]) -> String { PEM.text("PUBLIC KEY", bytes) }

    static func isRSA(_ bytes: [UInt8]) -> Bool {
        let name: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01]
        var outer = DER.Reader(bytes)
        var inner = DER.Reader(outer.next(DER.Tag.sequence) ?? [])
        var algorithm = DER.Reader(inner.next(DER.Tag.sequence) ?? [])
        return algorithm.next(DER.Tag.object) == name
    }
}

/// The fingerprint of a certificate: SHA-256.
package enum Fingerprint {
    /// As `openssl` prints it, without its colons.
    package static func of(_ bytes: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(bytes)
        return Hexadecimal.text(hash.digest()).uppercased()
    }

    /// `SHA256:` and 64 hexadecimal digits, colons between them or not: the digits in capitals; nil: it is none.
    package static func digits(_ fingerprint: String) -> String? {
        var text = fingerprint.uppercased()
        if text.hasPrefix("SHA256:") { text.removeFirst(7) }
        let digits = text.filter { $0 != ":" }
        return digits.count == 64 && digits.allSatisfy { $0.isASCII && $0.isHexDigit } ? digits : nil
    }
}

/// The answer of the service `seismote-broker enrol` to a request for a certificate: what the service writes, and what a board
/// reads.
package enum EnrolmentAnswer: Equatable {
    /// Certificate (PEM), the authorities that the broker's own may be of, and the port for stations that have one.
    case certificate(String, authorities: String, port: Int)
    /// (Anybody's words: they are made harmless before they are shown.)
    case refused(String)

    /// - Parameter payload: JSON, from a broker that is known by its certificate; checked all the same.
    /// - Returns: nil when it is none.
    package init?(_ payload: [UInt8]) {
        guard let said = try? JSONReader.read(payload) else { return nil }
        if let error = said["error"]?.rawText {
            self = .refused(error)
            return
        }
        guard let text = said["certificate"]?.rawText, let others = said["authorities"]?.rawText,
            let port = said["port"]?.whole, (1...65_535).contains(port)
        else { return nil }
        let (own, authorities) = (Certificate.all(pem: text), Certificate.all(pem: others))
        guard own.count == 1, !authorities.isEmpty else { return nil }
        self = .certificate(own[0].pem, authorities: authorities.map(\.pem).joined(), port: port)
    }

    /// - Parameter name: of the station.
    package func message(to name: String) -> Value {
        switch self {
        case .certificate(let certificate, let authorities, let port):
            [
                "name": .string(name), "certificate": .string(certificate), "authorities": .string(authorities),
                "port": .int(Int64(port)),
            ]
        case .refused(let why): ["error": .string(why)]
        }
    }
}
