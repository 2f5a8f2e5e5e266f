import Testing
import Values

@Suite struct JSONReaderTests {
    @Test func jsonOfUntrustedOrigin() throws {
        func read(_ text: String) -> Result<Value, ReadingError> {
            do throws(ReadingError) { return .success(try JSONReader.read(Array(text.utf8))) } catch {
                return .failure(error)
            }
        }
        let tree: Value = ["a": [1, -2.5, true, .null, "ü\u{1F30D}"], "b": ["c": [:]]]
        #expect(read(#"{"a": [1, -2.5, true, null, "ü\ud83c\udf0d"], "b": {"c": {}}}"#) == .success(tree))
        #expect(read("5") == .success(5))
        let bad = [
            "", "{", "{\"a\":1,\"a\":2}", "nan", "[1,]", "{a: 1}", "[1e999]", "[123456789012345678901]", "\"\\ud800\"",
            "1 2", "\"\u{0}\"", "\"\\u0000\"", String(repeating: "[", count: 100_000),
            String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
        ]
        for text in bad {
            guard case .failure(let error) = read(text) else {
                Issue.record("accepted: \(text.prefix(40))")
                continue
            }
            #expect(error.kind == .syntax)
        }
        #expect(throws: ReadingError.self) { try JSONReader.read([0x22, 0xFF, 0x22]) }
        #expect(throws: ReadingError.self) { try JSONReader.read([UInt8](repeating: 0x20, count: 1 << 21)) }
    }

    @Test func anErrorOfSyntaxDoesNotRepeatWhatWasGiven() {
        for text in [#"{"set":{"mqtt":{"password":HUSH}}}"#, #"{"password":"a" "HUSH"}"#, "HUSH", #"{"a":"HUSH"#] {
            do throws(ReadingError) {
                _ = try JSONReader.read(Array(text.utf8))
                Issue.record("read")
            } catch { #expect(!error.message.contains("HUSH") && error.line == 1, "\(error.message)") }
        }
    }
}
