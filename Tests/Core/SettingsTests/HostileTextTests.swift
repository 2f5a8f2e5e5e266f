import Messages
import Testing
import Values

@testable import Settings

@Suite struct HostileTextTests {
    private func single(_ bytes: [UInt8]) -> CodedError? {
        let found = errors(bytes)
        return found.count == 1 ? found.first : nil
    }

    private func single(_ text: String) -> CodedError? { single(Array(text.utf8)) }

    @Test(arguments: ["", "\n\n", "# nothing\n", "---\n", "--- \n...\n", "   "])
    func anEmptyDocumentIsAnError(_ text: String) throws {
        let error = try #require(single(text))
        #expect(error.code == .syntax && error.message == "The document is empty.")
    }

    @Test func anchorsAliasesAndTagsAreRefused() throws {
        let laughs =
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "bcdefghi".map { "\($0): &\($0) [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n" }.joined()
        #expect(single(laughs)?.message.contains("Anchors") == true)
        #expect(single(laughs)?.line == 1)
        #expect(single("a: *b")?.message.contains("Aliases") == true)
        #expect(single("trace: {rate_hz: !!str 5}")?.message.contains("Tags") == true)
        #expect(single("? [a, b]\n: 1")?.message.contains("key") == true)
    }

    @Test func theSameKeyTwiceIsAnError() throws {
        let error = try #require(single("trace:\n  rate_hz: 5\n  qos: 1\n  rate_hz: 6\n"))
        #expect(error.path == "/trace/rate_hz" && error.code == .syntax && error.line == 4)
    }

    @Test func depthIsBounded() throws {
        for text in [String(repeating: "[", count: 500_000), String(repeating: "{a: ", count: 200_000)] {
            let error = try #require(single(text))
            #expect(error.code == .syntax && error.message.contains("Nested too deeply"))
        }
        let block = (0..<100).map { String(repeating: " ", count: $0) + "a:\n" }.joined()
        #expect(single(block)?.message.contains("Nested too deeply") == true)
    }

    @Test func sizeIsBounded() throws {
        let error = try #require(single([UInt8](repeating: 0x20, count: 10_000_000)))
        #expect(error.code == .tooLarge && error.got == 10_000_000)
        #expect(single([UInt8](repeating: 0x23, count: 1 << 20))?.message == "The document is empty.")
    }

    @Test func whatIsNotTextIsAnError() throws {
        let binary: [[UInt8]] = [
            [0xFF, 0xFE, 0, 1], [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0], [0x61, 0x3A, 0x20, 0xC3, 0x28],
            [0x61, 0x3A, 0x20, 0x00], [0xED, 0xA0, 0x80],
        ]
        for bytes in binary {
            let error = try #require(single(bytes))
            #expect(error.code == .syntax && error.message.contains("UTF-8"), "\(error)")
        }
        // Every byte value in turn, and random ones: an error or a tree, never a crash.
        var state: UInt64 = 1
        for length in 0..<2000 {
            let bytes: [UInt8] = (0..<(length % 64)).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
            #expect(!errors(bytes).isEmpty)
        }
    }

    @Test func brokenYAMLNamesItsLine() throws {
        let cases: [(String, Int)] = [
            ("trace:\n\trate_hz: 5\n", 2), ("trace: [1\nmqtt: 2", 2), ("a: \"b\n\n", 3), ("trace: {rate_hz: 5", 2),
            ("a: 1\n b: 2\n", 2), ("a: 1\n--- \nb: 2\n", 2), ("a: @x", 1),
        ]
        for (text, line) in cases {
            let error = try #require(single(text), "\(text)")
            #expect(error.code == .syntax, "\(text)")
            #expect(error.line == line, "\(text): \(error)")
        }
    }

    @Test func plainTextMeansWhatTheCoreSchemaSays() {
        let cases: [(String, Value)] = [
            ("true", true), ("False", false), ("yes", "yes"), ("on", "on"), ("NO", "NO"), ("~", .null), ("Null", .null),
            ("017", 17), ("0o17", 15), ("0x1F", 31), ("+5", 5), ("-5", -5), ("5.", 5.0), (".5", 0.5), ("1e3", 1000.0),
            ("1_000", "1_000"), ("1:30", "1:30"), ("0x", "0x"), ("0o8", "0o8"), ("0x-1", "0x-1"), ("1e", "1e"),
            (".", "."), ("+", "+"), ("+x", "+x"), ("2026-01-01", "2026-01-01"), ("nan", "nan"), ("inf", "inf"),
            (".inf", .double(.infinity)), ("3.1.1", "3.1.1"), ("12345678901234567890", 12_345_678_901_234_567_890.0),
        ]
        for (text, value) in cases { #expect(YAMLCoreSchema.resolve(text) == value, "\(text)") }
        #expect(YAMLCoreSchema.resolve(".NaN") != .double(0), "not a number")
        #expect(YAMLCoreSchema.resolve(String(repeating: "9", count: 100_000)) != .null)
    }

    @Test func quotedTextStaysText() throws {
        let text = "a: \"5\"\nb: 'true'\nc: |\n  12\nd: >-\n  null\n"
        let root = try YAMLReader.read(Array(text.utf8)).root
        #expect(root == ["a": "5", "b": "true", "c": "12\n", "d": "null"])
    }
}
