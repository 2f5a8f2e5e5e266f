import Foundation
import TestSupport
import Testing

@testable import Broker

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
            let secret = try openssl(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
            file = try folder.write("key", String(decoding: secret, as: UTF8.self))
            key = Array(try openssl(["pkey", "-in", file, "-pubout", "-outform", "DER"]))
        }

        func sign(_ issue: Issuance) throws -> String {
            issue.signed(Array(try openssl(["dgst", "-sha256", "-sign", file], input: issue.body)))
        }

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
        let revocation = Revocation(
            serial: "42" + String(repeating: "0", count: 28), until: now + 5, time: now, name: "7")
        let list = try signer.sign(Issuance(revoked: [revocation], by: Issuance.Issuer(read), after: nil, now: now))
        let (trusted, shown, revoked) = (
            try signer.folder.write("ca.pem", authority), try signer.folder.write("own.pem", certificate),
            try signer.folder.write("crl.pem", list)
        )
        // (openssl's own check, strict, as of that moment.)
        for moment in [now, now + 89 * 86_400] {
            _ = try Self.openssl([
                "verify", "-x509_strict", "-crl_check", "-purpose", "sslclient", "-attime", "\(moment)", "-CAfile",
                trusted,
                "-CRLfile", revoked, shown,
            ])
        }
        let lists = RevocationList.all(in: list)
        #expect(lists.first?.serials == ["42" + String(repeating: "0", count: 28)])
        #expect(lists.first?.from == max(0, now - Issuance.margin))
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
                revoked: [Revocation(serial: serial, until: Self.now + 9, time: Self.now, name: "x")],
                by: Issuance.Issuer(read), after: nil, now: Self.now))
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
}
