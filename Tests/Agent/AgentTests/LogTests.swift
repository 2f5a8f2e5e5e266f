import Messages
import Platform
import Settings
import TestSupport
import Testing
import Values

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

    /// C1 and marks of direction went to the journal and the terminal as they were.
    @Test func whatWouldDeceiveATerminalIsSeenAndNotObeyed() {
        let lines = Self.lines(journal: true) { log in
            log.info("a\u{9b}31mb\u{202e}c", ["k": "x\u{9d}", "l": "\\u009d\u{2067} \u{7f}", "m": "Größe"])
        }
        #expect(lines == ["<6>a\\u009b31mb\\u202ec k=\"x\\u009d\" l=\"\\\\u009d\\u2067  \" m=Größe\n"])
    }

    @Test func overMQTTTheTextIsTheSameAndItsBytesAreHarmless() throws {
        let log = Log(level: .error, journal: true) { _ in }
        log.control.relay(.debug, until: .max, wake: try Wake())
        log.info("a\u{9b}\n\u{202e}", ["k": "\u{2028}"])
        let line = try #require(log.control.take(now: 0).first)
        #expect(line.message == "a\u{9b}\n\u{202e}")
        let json = Value.object([.init("message", .string(line.message))] + line.fields).json()
        #expect(String(decoding: json, as: UTF8.self) == #"{"message":"a\u009b\n\u202e","k":"\u2028"}"#)
    }

    /// What is kept for later is what the log has here; the newest, and not more than there is room for.
    @Test func theLastLinesAreKept() throws {
        let log = Log(level: .info, journal: true) { _ in }
        log.debug("not in the log")
        for number in 0..<2000 { log.info("line", ["n": .int(number)]) }
        log.warning("last", ["k": "v"])
        func last(_ count: Int, _ level: Log.Level = .debug, room: Int = .max) throws -> (lines: [Value], others: Int) {
            let (lines, others) = log.control.last(count, from: level, room: room)
            return (try lines.map { try JSONReader.read($0) }, others)
        }
        let newest = try last(3)
        #expect(newest.lines.map { $0["message"] } == ["line", "line", "last"])
        #expect(newest.lines.first?["fields"] == ["n": 1998] && newest.lines.last?["level"] == "warning")
        #expect(newest.lines.last?["fields"] == ["k": "v"])
        guard case .string(let time)? = newest.lines.last?["t"] else { throw TestFailure("no time") }
        #expect(time.hasSuffix("Z"))
        let all = try last(2000)
        let bytes = log.control.last(2000, from: .debug, room: .max).lines.reduce(0) { $0 + $1.count }
        #expect(all.others == 0 && all.lines.count == newest.lines.count + newest.others)
        #expect((500...LogTail.mostLines).contains(all.lines.count) && bytes <= LogTail.mostBytes)
        #expect(try last(2000, .warning).lines.count == 1 && last(2000, .error).lines.isEmpty)
        let size = log.control.last(1, from: .debug, room: .max).lines.reduce(0) { $0 + $1.count }
        #expect(try last(2, room: size + 1).lines.count == 1 && last(2, room: size).lines.isEmpty)
    }

    @Test func aTerminalGetsTimeAndWord() throws {
        let line = try #require(Self.lines(journal: false) { $0.notice("hello") }.first)
        #expect(line.hasSuffix("Z notice hello\n"))
        #expect(line.hasPrefix("20"))
    }
}
