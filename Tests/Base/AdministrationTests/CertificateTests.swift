import Foundation
import TestSupport
import Testing
import Values

@testable import Administration

/// What is signed is what openssl takes, at every time, and never begins in the future.
@Suite struct CertificateTests {
    static let now = 1_795_800_000

    private static func openssl(_ words: [String], input: [UInt8] = []) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        process.arguments = words
        let (from, to, errors) = (Pipe(), Pipe(), Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (from, to, errors)
        try process.run()
        try from.fileHandleForWriting.write(contentsOf: Data(input))
        try from.fileHandleForWriting.close()
        let said = to.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw TestFailure(String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self))
        }
        return said
    }

    private struct Signer {
        let folder: TemporaryFolder
        let file: String
        let key: [UInt8]

        init() throws {
            folder = try TemporaryFolder()
            let secret = try OpenSSL.newKey()
            file = try folder.write("key", secret)
            key = try OpenSSL.publicKey(of: secret)
        }

        func sign(_ issue: Issuance) throws -> String { try OpenSSL.sign(issue, keyFile: file) }

        func authority(_ now: Int) throws -> String {
            let issuer = Issuance.Issuer(
                name: Issuance.name("Stations"), key: key, keyIdentifier: Issuance.identifier(of: key))
            return try sign(
                Issuance(.authority, name: "Stations", key: key, serial: "4142", by: issuer, now: now, days: 7300))
        }
    }

    /// From 1970 to 2106.
    @Test(arguments: [
        0, 86_400, 951_782_400, CertificateTests.now, 2_145_916_800, 2_524_607_999, 2_524_608_000, 4_291_747_200,
    ])
    func opensslTakesThem(_ now: Int) throws {
        let signer = try Signer()
        let authority = try signer.authority(now)
        let read = try #require(Certificate(pem: authority))
        #expect(read.from == max(0, now - Issuance.margin))
        #expect(read.until == now + 7300 * 86_400)
        #expect(PublicKey.isP256(read.key))
        let board = try Signer()
        let issue = Issuance(
            .client, name: "07", key: board.key, serial: "41" + String(repeating: "0", count: 28),
            by: Issuance.Issuer(read), now: now, days: 90)
        let certificate = try signer.sign(issue)
        let own = try #require(Certificate(pem: certificate))
        #expect(own.serial == "41" + String(repeating: "0", count: 28))
        #expect(own.issuer == read.subject)
        let revoked = ("42" + String(repeating: "0", count: 28), now)
        let list = try signer.sign(Issuance(revoked: [revoked], by: Issuance.Issuer(read), after: nil, now: now))
        let (trusted, shown, lists) = (
            try signer.folder.write("ca.pem", authority), try signer.folder.write("own.pem", certificate),
            try signer.folder.write("crl.pem", list)
        )
        // (openssl's own check, strict, as of that moment.)
        for moment in [now, now + 89 * 86_400] {
            _ = try Self.openssl([
                "verify", "-x509_strict", "-crl_check", "-purpose", "sslclient", "-attime", "\(moment)", "-CAfile",
                trusted,
                "-CRLfile", lists, shown,
            ])
        }
        let told = RevocationList.all(in: list)
        #expect(told.first?.serials == ["42" + String(repeating: "0", count: 28)])
        #expect(told.first?.from == max(0, now - Issuance.margin))
    }

    @Test func theRevokedIsRefused() throws {
        let signer = try Signer()
        let authority = try signer.authority(Self.now)
        let read = try #require(Certificate(pem: authority))
        let serial = "43" + String(repeating: "0", count: 28)
        let certificate = try signer.sign(
            Issuance(
                .server(["DNS:a.local", "IP:10.0.0.1", "IP:::1"]), name: "Seismote broker", key: signer.key,
                serial: serial,
                by: Issuance.Issuer(read), now: Self.now, days: 820))
        let list = try signer.sign(
            Issuance(
                revoked: [(serial, Self.now)], by: Issuance.Issuer(read), after: nil, now: Self.now))
        let files = [
            try signer.folder.write("ca.pem", authority), try signer.folder.write("own.pem", certificate),
            try signer.folder.write("crl.pem", list),
        ]
        let text = String(
            decoding: try Self.openssl(["x509", "-in", files[1], "-noout", "-ext", "subjectAltName,extendedKeyUsage"]),
            as: UTF8.self)
        #expect(text.contains("DNS:a.local, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1"))
        #expect(text.contains("TLS Web Server Authentication"))
        #expect(throws: TestFailure.self) {
            try Self.openssl([
                "verify", "-crl_check", "-attime", "\(Self.now)", "-CAfile", files[0], "-CRLfile", files[2], files[1],
            ])
        }
    }

    /// Of two lists that a running broker keeps the later one has to hold, whatever the clock did between.
    @Test func aLaterListHolds() {
        let (margin, now) = (Issuance.margin, Self.now)
        #expect(Issuance.begin(after: nil, now: now) == now - margin)
        // Twice in a second.
        #expect(Issuance.begin(after: now - margin, now: now) == now - margin + 1)
        // The clock was half a day ahead.
        #expect(Issuance.begin(after: now - margin + 43_200, now: now) == now - margin + 43_201)
        // It was a year ahead: that one is found, and the broker is started again.
        #expect(Issuance.begin(after: now + 1, now: now) == now - margin)
        for last in stride(from: now - 3 * margin, to: now, by: 3_601) {
            let begin = Issuance.begin(after: last, now: now)
            #expect(begin > last && begin <= now)
        }
    }

    @Test func brokenCertificatesAreNone() throws {
        let signer = try Signer()
        let bytes = try #require(PEM.all("CERTIFICATE", in: try signer.authority(Self.now)).first)
        for length in 0..<bytes.count { #expect(Certificate(Array(bytes.prefix(length))) == nil) }
        var random = SplitMix64(state: 5)
        for _ in 0..<3000 {
            var broken = bytes
            for _ in 0..<3 {
                broken[Int.random(in: 0..<broken.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = Certificate(broken)
            _ = RevocationList.all(in: PEM.text("X509 CRL", broken))
        }
    }

    @Test func aCertificateIsRenewedWhenTwoThirdsOfItsLifeAreOver() throws {
        let day = 86_400
        var own = try #require(Certificate(pem: try Signer().authority(Self.now)))
        (own.from, own.until) = (0, 90 * day)
        func isDue(_ days: Int) -> Bool { own.isDue(days * day) }
        #expect(!isDue(0) && !isDue(59) && isDue(60) && isDue(91))
    }

    @Test func aCertificateOfAnotherTimeIsNotGoodNow() throws {
        let own = try #require(Certificate(pem: try Signer().authority(Self.now)))
        for now in [own.from, Self.now, own.until - 1] { #expect(own.problem(at: now) == nil) }
        #expect(own.problem(at: own.from - 1)?.hasPrefix("it begins at 2026-") == true)
        #expect(own.problem(at: own.until)?.hasPrefix("it ended at 2046-") == true)
    }

    // MARK: of others: made by openssl

    private func selfSigned(_ keyFile: String, _ subject: String) throws -> String {
        let words = ["req", "-x509", "-key", keyFile, "-subj", "/\(subject)", "-days", "2"]
        return String(decoding: try Self.openssl(words), as: UTF8.self)
    }

    @Test func aCertificateOfAnotherKeyOrNameIsNotTaken() throws {
        let (signer, other) = (try Signer(), try Signer())
        let own = try #require(Certificate(pem: try selfSigned(signer.file, "CN=attic")))
        #expect(own.name == "attic" && own.problem(key: signer.key, name: "attic") == nil)
        #expect(own.problem(key: signer.key, name: "cellar") == "it is for another name than cellar")
        #expect(own.problem(key: other.key, name: "attic") == Certificate.isForAnotherKey)
        for subject in ["CN=attic/O=x", "O=x/CN=attic", "CN=attic/CN=attic", "O=attic", "CN=a+O=x"] {
            let read = try #require(Certificate(pem: try selfSigned(signer.file, subject)))
            #expect(read.name == nil, "\(subject)")
            #expect(read.problem(key: signer.key, name: "attic") != nil, "\(subject)")
        }
    }

    @Test func aRequestIsForItsNameAndSigned() throws {
        let signer = try Signer()
        let request = try OpenSSL.request(keyFile: signer.file, name: "attic")
        #expect(request.hasPrefix("-----BEGIN CERTIFICATE REQUEST-----") && request.utf8.count < 600)
        let read = try OpenSSL.read(request: Array(request.utf8))
        #expect(read.key == signer.key && read.problem(name: "attic") == nil)
        #expect(read.problem(name: "cellar")?.contains("for another name") == true)
        var bytes = try #require(PEM.all("CERTIFICATE REQUEST", in: request).first)
        bytes[bytes.count - 3] ^= 1
        let broken = try OpenSSL.read(request: Array(PEM.text("CERTIFICATE REQUEST", bytes).utf8))
        #expect(broken.problem(name: "attic")?.contains("signed by its own key") == true)
        let words = try OpenSSL.read(request: Array("words".utf8))
        #expect(words.problem(name: "attic")?.contains("signed by its own key") == true)
        let secret = String(decoding: try Self.openssl(["genrsa", "2048"]), as: UTF8.self)
        let large = try signer.folder.write("rsa", secret)
        let other = try OpenSSL.read(request: Array(try OpenSSL.request(keyFile: large, name: "attic").utf8))
        #expect(other.problem(name: "attic") == "the key of the request is not one of the curve P-256")
    }

    /// What is read is what openssl reads, of certificates of other authorities too.
    @Test(arguments: ["rsa", "ec", "ed25519"]) func certificatesOfOthersAreRead(_ kind: String) throws {
        let folder = try TemporaryFolder()
        let words = ["rsa": ["RSA"], "ec": ["EC", "-pkeyopt", "ec_paramgen_curve:P-384"], "ed25519": ["ED25519"]]
        let secret = try Self.openssl(["genpkey", "-algorithm"] + (words[kind] ?? []))
        let key = try folder.write("key", String(decoding: secret, as: UTF8.self))
        let text = try selfSigned(key, "C=DE/O=Ä GmbH/CN=Root of all")
        let read = try #require(Certificate(pem: "Bag Attributes: x\r\n" + text))
        let file = try folder.write("pem", text)
        let shown = String(
            decoding: try Self.openssl([
                "x509", "-in", file, "-noout", "-fingerprint", "-sha256", "-enddate", "-dateopt", "iso_8601",
            ]), as: UTF8.self)
        #expect(shown.filter { $0 != ":" }.contains(Fingerprint.of(read.bytes)))
        #expect(shown.contains("notAfter=" + String(UTC.text(read.until).map { $0 == "T" ? " " : $0 })))
        #expect(read.issuer == read.subject && read.pem == text && read.name == nil)
        #expect(try OpenSSL.publicKey(of: String(decoding: secret, as: UTF8.self)) == read.key)
    }

    @Test func anAuthorityIsKnownByItsFingerprint() throws {
        let signer = try Signer()
        let authority = try #require(Certificate(pem: try signer.authority(Self.now)))
        let issue = Issuance(
            .server(["DNS:a"]), name: "a", key: signer.key, serial: "41", by: Issuance.Issuer(authority), now: Self.now,
            days: 820)
        let server = try #require(Certificate(pem: try signer.sign(issue)))
        let place = TLSServer(host: "a", port: 8883, name: "mqtts://a:8883")
        func found(_ fingerprint: String, _ chain: [Certificate]) throws -> Certificate {
            try place.authority(fingerprint, in: chain)
        }
        let mark = Fingerprint.of(authority.bytes)
        let colons = stride(from: 0, to: 64, by: 2).map { String(mark.dropFirst($0).prefix(2)) }
        for text in [mark, "SHA256:\(mark)", mark.lowercased(), "sha256:" + colons.joined(separator: ":")] {
            #expect(try found(text, [server, authority]) == authority)
        }
        for (text, chain, words) in [
            (mark, [server], "none of the 1 certificates that mqtts://a:8883 shows"),
            (mark, [], "shows no certificate"),
            (Fingerprint.of(server.bytes), [server, authority], "own: give that of the authority"),
            (mark + "0", [server, authority], "is no fingerprint"),
        ] {
            let error = #expect(throws: (any Error).self) { try found(text, chain) }
            #expect("\(String(describing: error))".contains(words))
        }
    }

    /// What the service writes a board reads.
    @Test func theAnswerToARequest() throws {
        let pem = try Signer().authority(Self.now)
        let text = pem.split(separator: "\n").joined(separator: "\\n") + "\\n"
        func answer(_ text: String) -> EnrolmentAnswer? { EnrolmentAnswer(Array(text.utf8)) }
        for one in [
            EnrolmentAnswer.certificate(pem, authorities: pem + pem, port: 8884), .refused("no\u{1b}[2J \"'"),
        ] { #expect(EnrolmentAnswer(one.message(to: "attic").json()) == one) }
        #expect(
            answer(#"{"certificate":"\#(text)","authorities":"\#(text)","port":8884}"#)
                == .certificate(pem, authorities: pem, port: 8884))
        let junk = "-----BEGIN CERTIFICATE-----\\nAAAA\\n-----END CERTIFICATE-----\\n"
        for bad in [
            "", "[]", "{}", #"{"certificate":"x","authorities":"\#(text)","port":8884}"#,
            #"{"certificate":"\#(text)\#(text)","authorities":"\#(text)","port":8884}"#,
            #"{"certificate":"\#(text)","authorities":"","port":8884}"#,
            #"{"certificate":"\#(junk)","authorities":"\#(text)","port":8884}"#,
            #"{"certificate":"\#(text)","authorities":"\#(text)","port":0}"#,
            #"{"certificate":"\#(text)","authorities":"\#(text)","port":70000}"#,
        ] { #expect(answer(bad) == nil, "\(bad.prefix(60))") }
    }
}
