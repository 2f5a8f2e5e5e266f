import Messages
import Settings
import Values

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
