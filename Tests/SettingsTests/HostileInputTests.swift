import Messages
import Testing

@testable import Settings

/// Files that were never meant to be settings.
@Suite struct HostileInputTests {
    private func code(_ bytes: [UInt8]) -> SettingError.Code? { errors(bytes).first?.code }

    @Test func emptyFilesAreErrors() {
        for text in ["", "\n\n", "# only a comment\n", "---\n", "null", "~"] {
            #expect(!errors(text).isEmpty, "\(text.debugDescription)")
        }
    }

    @Test func anythingButOneObjectIsAnError() {
        for text in ["5", "text", "[a, b]", "---\ntrace: {}\n---\ntrace: {}\n"] { #expect(!errors(text).isEmpty) }
    }

    @Test func brokenYAMLSaysWhere() throws {
        let error = try #require(errors("trace: {rate_hz: 20\nlog: x").first)
        #expect(error.code == .syntax && error.line != nil)
        #expect(errors("trace:\n\trate_hz: 20").first?.code == .syntax)
        #expect(errors("trace: {qos: 1}\ntrace: {qos: 0}").first != nil, "a key twice")
    }

    @Test func binaryIsAnErrorAndNotACrash() {
        #expect(code([0x7f, 0x45, 0x4c, 0x46, 0, 0, 0, 1]) != nil)
        #expect(code(Array("trace: {qos: 1}".utf8) + [0xff, 0xfe, 0x80]) != nil)
        #expect(code([UInt8](repeating: 0, count: 5000)) != nil)
        #expect(code((0...255).map { UInt8($0) }) != nil)
    }

    @Test func tenMegabytesAreRefusedWithoutBeingRead() {
        let error = errors([UInt8](repeating: UInt8(ascii: "a"), count: 10 << 20)).first
        #expect(error?.code == .tooLarge)
        #expect(error?.text().contains("1048576") == true)
    }

    @Test func nestingIsBounded() {
        let deep = String(repeating: "{a: ", count: 10_000) + "1" + String(repeating: "}", count: 10_000)
        #expect(!errors(deep).isEmpty)
        #expect(!errors(String(repeating: "[", count: 100_000)).isEmpty)
    }

    @Test func aliasesCannotMultiply() {
        var text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
        for k in 1...30 {
            text += "a\(k): &a\(k) [*a\(k - 1), *a\(k - 1), *a\(k - 1), *a\(k - 1), *a\(k - 1), *a\(k - 1)]\n"
        }
        let clock = ContinuousClock()
        let time = clock.measure { #expect(!errors(text).isEmpty) }
        #expect(time < .seconds(2))
    }

    @Test func jsonIsYAMLAndHasItsOwnHostileForms() throws {
        #expect(try load(#"{"trace":{"qos":0}}"#).configuration.trace.qos == 0)
        for text in ["", "{", "{\"a\":1,}", "[1e999]", "{\"a\":1}{\"b\":2}", "\u{0}", "nul", "{\"a\":1,\"a\":2}"] {
            #expect(throws: SettingError.self, "\(text)") { try JSONReader.read(Array(text.utf8)) }
        }
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: SettingError.self) { try JSONReader.read(Array(deep.utf8)) }
    }

    /// Damaged copies of the whole default file: each is either valid or refused with errors that have a text.
    @Test func damagedFilesNeverCrash() {
        let original = Array(
            DefaultFile.text.split(separator: "\n").filter { !$0.contains("#") }.joined(separator: "\n").utf8)
        var state: UInt64 = 2026
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var refused = 0
        for _ in 0..<2000 {
            var bytes = original
            for _ in 0...random(4) {
                switch random(4) {
                case 0: bytes[random(bytes.count)] = UInt8(random(256))
                case 1: bytes.removeSubrange(random(bytes.count)..<bytes.count)
                case 2:
                    bytes.insert(
                        contentsOf: [UInt8](repeating: UInt8(random(128)), count: random(40)), at: random(bytes.count))
                default: bytes.remove(at: random(bytes.count))
                }
                if bytes.isEmpty { bytes = [UInt8(ascii: "a")] }
            }
            let found = errors(bytes)
            if !found.isEmpty { refused += 1 }
            for error in found { #expect(!error.text(fileName: "f").isEmpty) }
        }
        #expect(refused > 1000)
    }
}
