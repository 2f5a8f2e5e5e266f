import Testing
import Threads

@testable import Agent

@Suite struct LogTests {
    final class Lines: Sendable { let all = Mutex<[String]>([]) }

    static func lines(journal: Bool, _ body: (Log) -> Void) -> [String] {
        let lines = Lines()
        body(Log(level: .info, journal: journal) { line in lines.all.withLock { $0.append(line) } })
        return lines.all.withLock { $0 }
    }

    @Test func theJournalGetsItsLevels() {
        let lines = Self.lines(journal: true) { log in
            log.debug("left out")
            log.info("one", ["a": 1, "b": "plain", "c": .number(0.5)])
            log.notice("two")
            log.warning("three")
            log.error("four")
        }
        #expect(lines == ["<6>one a=1 b=plain c=0.5\n", "<5>two\n", "<4>three\n", "<3>four\n"])
    }

    @Test func whatComesFromOutsideStaysOnItsLineAndInItsField() {
        let lines = Self.lines(journal: true) { log in
            log.info("a\nb\u{1b}[31m", ["k": "x y=\"z\"\n<3>fake", "empty": ""])
        }
        #expect(lines == ["<6>a b [31m k=\"x y=\\\"z\\\" <3>fake\" empty=\"\"\n"])
    }

    @Test func aTerminalGetsTimeAndWord() throws {
        let line = try #require(Self.lines(journal: false) { $0.notice("hello") }.first)
        #expect(line.hasSuffix("Z notice hello\n"))
        #expect(line.hasPrefix("20"))
    }
}
