import Testing

@testable import Values

/// The examples of FIPS 180-4 and of NIST's Cryptographic Standards and Guidelines.
@Suite struct SHA256Tests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func standardExamples(_ message: String, _ digest: String) {
        #expect(SHA256.hexDigest(of: message) == digest)
    }

    @Test func aMillionLetters() {
        var hash = SHA256()
        let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 1000)
        for _ in 0..<1000 { hash.update(piece) }
        #expect(hash.hexDigest() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func anyCutGivesTheSameDigest() {
        let message = (0..<200).map { UInt8($0) }
        let whole = SHA256.hexDigest(of: message)
        for cut in 0...message.count {
            var hash = SHA256()
            hash.update(Array(message[..<cut]))
            _ = hash.digest()
            hash.update(Array(message[cut...]))
            #expect(hash.hexDigest() == whole)
        }
    }
}
