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

/// Which lines of the log are wanted: at what level here, and, for a while, over MQTT. Lines for MQTT wait for the main
/// thread.
final class LogControl: Sendable {
    typealias Level = LogConfiguration.Level

    /// Lines that wait at most; the newer ones are left out.
    private static let limit = 256
    private static let off = Level.allCases.count

    private struct State {
        var tail = LogTail()
        var lines: [LogLine] = []
        var lost = 0
        /// End, by the monotonic clock (ns).
        var until: Int64 = 0
        var wake: Wake?
    }
    private let state = Mutex(State())
    private let here: Atomic<Int>
    private let there = Atomic<Int>(off)

    init(level: Level) { here = Atomic(Self.rank(level)) }

    var level: Level {
        get { Level.allCases[here.load(ordering: .relaxed)] }
        set { here.store(Self.rank(newValue), ordering: .relaxed) }
    }

    private static func rank(_ level: Level) -> Int { Level.allCases.firstIndex(of: level) ?? 0 }

    // MARK: Of before

    /// A line that the log has here.
    func keep(_ level: Level, _ text: String, _ fields: KeyValuePairs<String, Log.Field>) {
        let line = Self.line(level, text, fields)
        state.withLock { $0.tail.add(line, level: Self.rank(level)) }
    }

    /// See ``LogTail/last(_:from:room:)``.
    func last(_ count: Int, from level: Level, room: Int) -> (lines: [[UInt8]], others: Int) {
        state.withLock { $0.tail.last(count, from: Self.rank(level), room: room) }
    }

    private static func line(
        _ level: Level, _ text: String, _ fields: KeyValuePairs<String, Log.Field>
    ) -> LogLine {
        LogLine(
            level: level.rawValue, time: HostClock.wall(), message: text,
            fields: fields.map { .init($0.key, $0.value.value) })
    }

    // MARK: Over MQTT

    func isRelayed(_ level: Level) -> Bool { Self.rank(level) >= there.load(ordering: .relaxed) }

    /// Lines of this level and above are kept for the main thread.
    /// - Parameters:
    ///   - until: of the monotonic clock (ns).
    ///   - wake: of the main thread.
    func relay(_ level: Level, until: Int64, wake: Wake) {
        state.withLock { ($0.until, $0.wake) = (until, wake) }
        there.store(Self.rank(level), ordering: .relaxed)
    }

    func relay(_ level: Level, _ text: String, _ fields: KeyValuePairs<String, Log.Field>) {
        let line = Self.line(level, text, fields)
        let wake = state.withLock { state -> Wake? in
            guard state.lines.count < Self.limit else {
                state.lost += 1
                return nil
            }
            state.lines.append(line)
            return state.wake
        }
        wake?.signal()
    }

    /// Lines that wait; ends when its time is over.
    func take(now: Int64) -> [LogLine] {
        guard there.load(ordering: .relaxed) < Self.off else { return [] }
        return state.withLock { state in
            defer { (state.lines, state.lost) = ([], 0) }
            if now >= state.until { there.store(Self.off, ordering: .relaxed) }
            guard state.lost > 0 else { return state.lines }
            let words = LogLine(
                level: Level.warning.rawValue, time: HostClock.wall(), message: "lines of the log were left out",
                fields: [.init("count", .int(Int64(state.lost)))])
            return state.lines + [words]
        }
    }
}

extension Log.Field {
    fileprivate var value: Value {
        switch self {
        case .text(let text): .string(text)
        case .int(let number): .int(Int64(number))
        case .number(let number): .double(number)
        }
    }
}
