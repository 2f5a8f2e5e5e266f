import Testing

@testable import Settings

@Suite struct DamagedFileTests {
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
