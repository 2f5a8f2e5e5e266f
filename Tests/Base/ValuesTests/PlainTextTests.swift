import Testing

@testable import Values

@Suite struct PlainTextTests {
    /// Each class holds what its characters are, of all bytes.
    @Test func classesOfAllBytes() {
        let digits = Set("0123456789".utf8)
        let capitals = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        let small = Set("abcdefghijklmnopqrstuvwxyz".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(byte.isDigit == digits.contains(byte) && byte.isCapital == capitals.contains(byte), "\(byte)")
            #expect(byte.isSmallLetter == small.contains(byte), "\(byte)")
            let isAlphanumeric = digits.contains(byte) || capitals.contains(byte) || small.contains(byte)
            #expect(byte.isAlphanumeric == isAlphanumeric, "\(byte)")
            #expect(byte.isOfID == (isAlphanumeric || "_-".utf8.contains(byte)), "\(byte)")
            #expect(byte.isVisible == (byte > 32 && byte < 127), "\(byte)")
        }
    }

    @Test(
        arguments: [
            ("", 0...2, true), ("", 1...2, false), ("ab", 1...2, true), ("abc", 1...2, false), ("a b", 1...9, false),
            ("a_-9", 1...9, true), ("é", 1...9, false), ("e\u{301}", 1...9, false), ("٣", 1...9, false),
            ("a\n", 1...9, false), ("a\0", 1...9, false), ("a\r\n", 1...9, false),
        ] as [(String, ClosedRange<Int>, Bool)])
    func textsOfSuchBytes(_ text: String, _ count: ClosedRange<Int>, _ isOne: Bool) {
        #expect(text.isMade(count) { $0.isOfID } == isOne)
        #expect("-\(text)".dropFirst().isMade(count) { $0.isOfID } == isOne)
    }
}
