import Values

/// Certificates and lists of revoked certificates that are to be signed. None begins in the future: a clock that is a little
/// ahead, or is put back by an hour, makes none that a right clock refuses.
package struct Issuance {
    /// Seconds that each begins before the present: a day, and an hour for clocks that differ.
    package static let margin = 90_000

    /// Issuer of a certificate or list: an authority's certificate, or, of its own, an authority that is being made.
    package struct Issuer {
        /// DER of its name and its public key.
        package var name: [UInt8]
        package var key: [UInt8]
        package var keyIdentifier: [UInt8]?

        package init(name: [UInt8], key: [UInt8], keyIdentifier: [UInt8]?) {
            (self.name, self.key, self.keyIdentifier) = (name, key, keyIdentifier)
        }

        package init(_ certificate: Certificate) {
            self.init(name: certificate.subject, key: certificate.key, keyIdentifier: certificate.keyIdentifier)
        }

        /// The algorithm of its signatures.
        fileprivate var algorithm: [UInt8] {
            PublicKey.isRSA(key)
                ? DER.sequence(
                    DER.object([0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b]), DER.wrap(DER.Tag.null, []))
                : DER.sequence(DER.object([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]))
        }
    }

    package enum Kind {
        case authority
        /// Names: `DNS:name` and `IP:address`.
        case server([String])
        case client
    }

    /// The bytes that are signed.
    package let body: [UInt8]
    private let algorithm: [UInt8]
    private let form: String

    /// A certificate.
    /// - Parameters:
    ///   - serial: hexadecimal digits.
    ///   - now: seconds since 1970.
    ///   - days: from now on.
    package init(
        _ kind: Kind, name: String, key: [UInt8], serial: String, by issuer: Issuer, now: Int, days: Int
    ) {
        var extensions: [[UInt8]] = []
        func add(_ object: [UInt8], isCritical: Bool, _ value: [UInt8]) {
            let critical: [UInt8] = isCritical ? [0x01, 0x01, 0xff] : []
            extensions.append(DER.sequence(DER.object(object), critical, DER.wrap(DER.Tag.octets, value)))
        }
        switch kind {
        case .authority:
            add([0x55, 0x1d, 0x13], isCritical: true, DER.sequence([0x01, 0x01, 0xff], DER.integer([0])))
            add([0x55, 0x1d, 0x0f], isCritical: true, DER.bits([0x06], unused: 1))
        case .server, .client:
            add([0x55, 0x1d, 0x13], isCritical: true, DER.sequence())
            add([0x55, 0x1d, 0x0f], isCritical: true, DER.bits([0x80], unused: 7))
            var purpose: [UInt8] = [0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x02]
            if case .server(let names) = kind {
                purpose[7] = 0x01
                add([0x55, 0x1d, 0x11], isCritical: false, DER.wrap(DER.Tag.sequence, names.flatMap(Self.general)))
            }
            add([0x55, 0x1d, 0x25], isCritical: false, DER.sequence(DER.object(purpose)))
        }
        let own = Self.identifier(of: key)
        add([0x55, 0x1d, 0x0e], isCritical: false, DER.wrap(DER.Tag.octets, own))
        if let other = issuer.keyIdentifier {
            add([0x55, 0x1d, 0x23], isCritical: false, DER.sequence(DER.wrap(0x80, other)))
        }
        algorithm = issuer.algorithm
        form = "CERTIFICATE"
        body = DER.sequence(
            DER.wrap(0xa0, DER.integer([2])), DER.integer(Hexadecimal.bytes(serial.utf8) ?? []), algorithm, issuer.name,
            DER.sequence(DER.time(max(0, now - Self.margin)), DER.time(now + days * 86_400)), Self.name(name), key,
            DER.wrap(0xa3, DER.wrap(DER.Tag.sequence, extensions.flatMap { $0 })))
    }

    /// A list of revoked certificates.
    /// - Parameters:
    ///   - revoked: serial numbers, and when they were revoked, in seconds since 1970.
    ///   - last: when the list before begins, in seconds since 1970; nil: there is none.
    ///   - now: seconds since 1970.
    package init(revoked: [(serial: String, time: Int)], by issuer: Issuer, after last: Int?, now: Int) {
        let from = Self.begin(after: last, now: now)
        var entries: [UInt8] = []
        for one in revoked {
            entries += DER.sequence(
                DER.integer(Hexadecimal.bytes(one.serial.utf8) ?? []), DER.time(min(max(0, one.time), from)))
        }
        var extensions: [UInt8] = []
        if let other = issuer.keyIdentifier {
            extensions += DER.sequence(
                DER.object([0x55, 0x1d, 0x23]),
                DER.wrap(DER.Tag.octets, DER.sequence(DER.wrap(0x80, other))))
        }
        let number = withUnsafeBytes(of: UInt64(max(0, from)).bigEndian) { Array($0) }
        extensions += DER.sequence(DER.object([0x55, 0x1d, 0x14]), DER.wrap(DER.Tag.octets, DER.integer(number)))
        algorithm = issuer.algorithm
        form = "X509 CRL"
        body = DER.sequence(
            DER.integer([1]), algorithm, issuer.name, DER.time(from), DER.time(now + 7300 * 86_400),
            entries.isEmpty ? [] : DER.wrap(DER.Tag.sequence, entries),
            DER.wrap(0xa0, DER.wrap(DER.Tag.sequence, extensions)))
    }

    /// When a list begins. Of two lists of one authority a running broker keeps both, and the one that begins later holds, to
    /// the second.
    package static func begin(after last: Int?, now: Int) -> Int {
        let usual = max(0, now - margin)
        guard let last, last < now else { return usual }
        return max(usual, last + 1)
    }

    /// The whole, as PEM.
    /// - Parameter signature: of ``body``, DER.
    package func signed(_ signature: [UInt8]) -> String {
        PEM.text(form, DER.sequence(body, algorithm, DER.bits(signature)))
    }

    // MARK: parts

    /// A name of one common name alone.
    package static func name(_ text: String) -> [UInt8] {
        DER.sequence(
            DER.wrap(
                DER.Tag.set,
                DER.sequence(DER.object([0x55, 0x04, 0x03]), DER.wrap(DER.Tag.text, Array(text.utf8)))))
    }

    /// An identifier of a key: the first 160 bits of its SHA-256 (RFC 7093).
    package static func identifier(of key: [UInt8]) -> [UInt8] {
        var hash = SHA256()
        hash.update(key)
        return Array(hash.digest().prefix(20))
    }

    private static func general(_ name: String) -> [UInt8] {
        let text = String(name.drop { $0 != ":" }.dropFirst())
        if name.hasPrefix("IP:"), let bytes = IPAddress.bytes(text) { return DER.wrap(0x87, bytes) }
        return DER.wrap(0x82, Array(text.utf8))
    }
}

/// The list of revoked certificates that a broker has, as far as it is read again.
package struct RevocationList: Equatable {
    package var issuer: [UInt8]
    /// Seconds since 1970.
    package var from: Int
    package var until: Int
    package var serials: Set<String>

    /// All lists of a file (PEM).
    package static func all(in pem: String) -> [RevocationList] {
        PEM.all("X509 CRL", in: pem).compactMap { Self($0) }
    }

    init?(_ bytes: [UInt8]) {
        var outer = DER.Reader(bytes)
        var signed = DER.Reader(outer.next(DER.Tag.sequence) ?? [])
        var reader = DER.Reader(signed.next(DER.Tag.sequence) ?? [])
        // (The first version has no number.)
        if reader.nextTag == DER.Tag.integer { _ = reader.next() }
        guard reader.next(DER.Tag.sequence) != nil, let issuer = reader.next(), let from = reader.next(),
            let begin = DER.seconds(from.tag, from.content), let until = reader.next(),
            let end = DER.seconds(until.tag, until.content)
        else { return nil }
        (self.issuer, self.from, self.until) = (issuer.whole, begin, end)
        serials = []
        guard let list = reader.next(DER.Tag.sequence) else { return }
        var entries = DER.Reader(list)
        while let entry = entries.next(DER.Tag.sequence) {
            var fields = DER.Reader(entry)
            if let serial = fields.next(DER.Tag.integer) {
                serials.insert(Hexadecimal.text(Array(serial.drop { $0 == 0 })))
            }
        }
    }
}
