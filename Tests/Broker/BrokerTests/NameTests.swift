import Administration
import TestSupport
import Testing
import Values

@testable import seismote_broker

/// Names and passwords are bytes.
@Suite struct NameTests {
    @Test func namesThatLookLikeNumbersAreTwoAccounts() {
        var ledger = Ledger(
            accounts: "07 station\n7x station\n1e2 viewer\n", passwords: "07:a\n1e2:b\nenrol-aaaaaaaa:c\n", revoked: "",
            invitations: ["aaaaaaaa": Invitation(name: "07", end: 10)])
        ledger.remove(["7", "100", "1E2"])
        #expect(ledger.role(of: "07") == "station")
        #expect(ledger.role(of: "7") == nil)
        #expect(ledger.role(of: "1e2") == "viewer")
        #expect(ledger.role(of: "100") == nil)
        #expect(ledger.hashes["07"] == "a")
        ledger.remove(["07"])
        #expect(ledger.accountLines == "7x station\n1e2 viewer\n")
        #expect(ledger.passwordLines == "1e2:b\n")
        #expect(ledger.invitations.isEmpty)
    }

    @Test(arguments: [
        "", "a b", "a/b", "+", "#", "a\n", "ä", "a:b", "$control", "group", "network", "enrol-x", "seismote-enrol",
        String(repeating: "a", count: 65),
    ])
    func otherNamesAreRefused(_ name: String) { #expect(AccountName.problem(name) != nil) }

    @Test(arguments: ["a", "07", "1e2", "-", "_", "0x10", String(repeating: "Z", count: 64)])
    func namesThatAreAllowed(_ name: String) { #expect(AccountName.problem(name) == nil) }

    @Test(arguments: [
        ("abcd2345", true), ("abcdefgh", true), ("abcd234", false), ("abcd23456", false), ("abcd1234", false),
        ("abcd0234", false), ("Abcd2345", false), ("abcd-345", false), ("abcdé23", false), ("", false),
    ])
    func numbersOfInvitations(_ text: String, _ isOne: Bool) { #expect(AccountName.isInvitation(text) == isOne) }

    @Test func serialNumbers() {
        let serial = "4a0123456789abcdef0123456789ab"
        #expect(AccountName.isSerial(serial) && !AccountName.isSerial(serial + "0") && !AccountName.isSerial(""))
        for letter in ["g", "A", "F", "-", " ", "/", ":"] { #expect(!AccountName.isSerial(serial.dropLast() + letter)) }
    }

    @Test(arguments: [
        ("broker.example", true), ("192.168.0.1", true), ("fe80::1", true), ("a_b-c", true), ("", false),
        ("a b", false), ("a/b", false), ("a,b", false), ("*.example", false), ("bröker", false),
        (String(repeating: "a", count: 253), true), (String(repeating: "a", count: 254), false),
    ])
    func namesOfServers(_ text: String, _ isOne: Bool) { #expect(ServerNames.isAllowed(text) == isOne) }

    @Test func everyByteThatMayBeInANameKeepsItsRights() {
        var ledger = Ledger()
        var random = SplitMix64(state: 43)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
        for _ in 0..<2000 {
            let name = String(
                (0..<Int.random(in: 1...64, using: &random)).map { _ in letters.randomElement(using: &random)! })
            ledger.add(Account(name: name, role: "station"))
            ledger.hashes[name] = "hash of \(name)"
        }
        let again = Ledger(
            accounts: ledger.accountLines, passwords: ledger.passwordLines, revoked: "", invitations: [:])
        #expect(again == ledger)
        let victim = ledger.accounts[7].name
        var less = ledger
        less.remove([victim])
        #expect(Set(ledger.accounts.map(\.name)).subtracting(less.accounts.map(\.name)) == [victim])
    }
}

@Suite struct PasswordTests {
    @Test func theHashIsMosquittosOwn() {
        // Made by mosquitto_passwd 2.0.11 of `y1y1y1y1`.
        let made =
            "$7$101$NyX4x5t+2MnW6umB$yP55pfIG7fm1A0EmcXiIdh2+PKWpRgqBcZAY9KJXKbJGHL7jNr+NgJfJ7i7Q3KQfYymG3J1Gu+OwVTMlDDezYw=="
        let salt = Base64.bytes("NyX4x5t+2MnW6umB".utf8) ?? []
        #expect(PasswordHash.make(Array("y1y1y1y1".utf8), salt: salt) == made)
    }

    @Test func theDigestIsThatOfTheStandard() {
        // FIPS 180-4, "abc"; and a message of two blocks.
        #expect(
            Hexadecimal.text(SHA512.digest(Array("abc".utf8))).hasPrefix(
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"))
        let long =
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"
        #expect(
            Hexadecimal.text(SHA512.digest(Array(long.utf8))).hasPrefix(
                "8e959b75dae313da8cf4f72814fc143f8f7779c6eb9f7fa1"))
    }

    @Test(arguments: ["ab:cdefgh12", "  blanks at both ends  ", "12345678", "äöü€ 𝄞 12", "$7$101$x$y", "'\"\\`$(x)"])
    func aPasswordIsTakenAsItIs(_ password: String) {
        #expect(PasswordHash.given(Array((password + "\nsecond line").utf8)) == .success(Array(password.utf8)))
        #expect(PasswordHash.given(Array(password.utf8)) == .success(Array(password.utf8)))
    }

    @Test(
        arguments: [
            Array("1234567".utf8), Array("12345678\r\n".utf8), Array("1234\t5678".utf8),
            [0xff] + Array("12345678".utf8),
            Array("1234".utf8) + [0] + Array("5678".utf8), Array(String(repeating: "x", count: 257).utf8), [],
        ] as [[UInt8]])
    func othersAreRefused(_ bytes: [UInt8]) {
        guard case .failure = PasswordHash.given(bytes) else {
            Issue.record("taken: \(bytes)")
            return
        }
    }
}
