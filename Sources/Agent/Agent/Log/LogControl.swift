import Glibc
import Messages
import Platform
import Settings
import Values

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
