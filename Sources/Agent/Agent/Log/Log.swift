import Glibc
import Messages
import Platform
import Settings
import Values

/// Lines for the journal or a terminal: a level, a sentence, and fields as `key=value`. Never used in the hot path,
/// and secrets never come near it.
public struct Log: Sendable {
    public typealias Level = LogConfiguration.Level

    /// Value of a field.
    public enum Field: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
        case text(String)
        case int(Int)
        case number(Double)
        public init(stringLiteral value: String) { self = .text(value) }
        public init(integerLiteral value: Int) { self = .int(value) }
    }

    /// Which lines are wanted, here and over MQTT.
    let control: LogControl
    /// The journal gets `<N>` in front instead of a time and a word, because it has both already.
    private let journal: Bool
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - level: lines below it are left out.
    ///   - journal: true where standard error goes to the journal.
    ///   - write: takes one finished line with its end.
    public init(level: Level, journal: Bool, write: @escaping @Sendable (String) -> Void = { ProgramOutput.write($0) })
    {
        control = LogControl(level: level)
        self.journal = journal
        self.write = write
    }

    /// The log of a process: to the journal when systemd says so.
    public init(level: Level) { self.init(level: level, journal: getenv("JOURNAL_STREAM") != nil) }

    public func debug(_ text: String, _ fields: KeyValuePairs<String, Field> = [:]) { line(.debug, text, fields) }
    public func info(_ text: String, _ fields: KeyValuePairs<String, Field> = [:]) { line(.info, text, fields) }
    public func notice(_ text: String, _ fields: KeyValuePairs<String, Field> = [:]) { line(.notice, text, fields) }
    public func warning(_ text: String, _ fields: KeyValuePairs<String, Field> = [:]) { line(.warning, text, fields) }
    public func error(_ text: String, _ fields: KeyValuePairs<String, Field> = [:]) { line(.error, text, fields) }

    private func line(_ level: Level, _ text: String, _ fields: KeyValuePairs<String, Field>) {
        if control.isRelayed(level) { control.relay(level, text, fields) }
        guard level >= control.level else { return }
        control.keep(level, text, fields)
        var line = ""
        if journal {
            line = "<\(level.syslog)>"
        } else {
            line = "\(Timestamp(nanoseconds: HostClock.wall())) \(level.rawValue) "
        }
        line += Self.oneLine(text)
        for (key, value) in fields {
            line += " \(key)="
            switch value {
            case .text(let text): line += Self.quoted(text)
            case .int(let number): line += "\(number)"
            case .number(let number): line += "\(number)"
            }
        }
        write(line + "\n")
    }

    /// A line stays one line, and does nothing to a terminal, whatever came from outside: control characters of ASCII
    /// become blanks, all else that is unprintable is seen as `\u009b`.
    private static func oneLine(_ text: String, quotes: Bool = false) -> String {
        var line = ""
        for scalar in text.unicodeScalars {
            if scalar.isUnprintable {
                line += scalar.isASCII ? " " : scalar.escape
            } else {
                if quotes, scalar == "\"" || scalar == "\\" { line += "\\" }
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    private static func quoted(_ text: String) -> String {
        let plain =
            !text.isEmpty
            && text.unicodeScalars.allSatisfy { !$0.isUnprintable && $0 != " " && $0 != "\"" && $0 != "=" }
        return plain ? text : "\"" + oneLine(text, quotes: true) + "\""
    }
}

extension LogConfiguration.Level {
    /// Severity as syslog numbers it.
    fileprivate var syslog: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        }
    }
}

/// The last lines of the log, for who asks later: bounded by their number and by their bytes.
struct LogTail {
    static let mostLines = 1000
    /// As they are kept: JSON, and what an array costs.
    static let mostBytes = 131_072
    private static let overhead = 48

    private var lines: ArraySlice<(level: Int, json: [UInt8])> = []
    private var bytes = 0

    /// - Parameter level: its place among all levels.
    mutating func add(_ line: LogLine, level: Int) {
        let json = Value.object([
            .init("t", .string(Timestamp(nanoseconds: line.time).description)), .init("level", .string(line.level)),
            .init("message", .string(line.message)), .init("fields", .object(line.fields)),
        ]).json()
        lines.append((level, json))
        bytes += json.count + Self.overhead
        while lines.count > Self.mostLines || bytes > Self.mostBytes, let oldest = lines.popFirst() {
            bytes -= oldest.json.count + Self.overhead
        }
    }

    /// The newest lines, the oldest of them first.
    /// - Parameters:
    ///   - level: of the least, its place among all levels.
    ///   - room: bytes that they may have together, with a comma after each.
    /// - Returns: and how many others of these levels are kept.
    func last(_ count: Int, from level: Int, room: Int) -> (lines: [[UInt8]], others: Int) {
        var (found, others, left) = ([[UInt8]](), 0, room)
        for line in lines.reversed() where line.level >= level {
            if others == 0, found.count < count, line.json.count + 1 <= left {
                left -= line.json.count + 1
                found.append(line.json)
            } else {
                others += 1
            }
        }
        return (found.reversed(), others)
    }
}
