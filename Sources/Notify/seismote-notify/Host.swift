import Glibc
import Messages
import Platform
import Values

/// A line of the log.
func printError(_ words: String) { NotifySettings.printError(words) }

/// The system's table of time zones.
enum TimeZoneTable {
    private static let folder = "/usr/share/zoneinfo/"

    /// Whether it has a zone; the empty name is that of the machine.
    static func has(_ name: String) -> Bool {
        name.isEmpty
            || name.isMade(0...64) { $0.isVisible } && !name.contains("..") && !name.hasPrefix("/")
                && access(folder + name, R_OK) == 0
    }

    /// Sets the zone of the process, once, before there are threads.
    static func use(_ name: String) -> CivilTime {
        if !name.isEmpty { setenv("TZ", name, 1) }
        tzset()
        return CivilTime { time in
            var (seconds, parts) = (time_t(time / 1_000_000_000), tm())
            localtime_r(&seconds, &parts)
            return Int(parts.tm_gmtoff)
        }
    }
}

/// Messages that the broker has sent and the service has not taken yet; bounded, and those beyond the bound are
/// counted.
final class BrokerInbox: Sendable {
    private struct Contents {
        var messages: [InboundMessage] = []
        var connections: [Bool] = []
        var bytes = 0
        var dropped = 0
    }

    private let contents = Mutex(Contents())
    private let mostBytes: Int
    let wake: Wake

    init(mostBytes: Int) throws(WakeError) {
        self.mostBytes = mostBytes
        wake = try Wake()
    }

    func put(_ message: InboundMessage) {
        contents.withLock { contents in
            guard contents.bytes + message.payload.count + 200 <= mostBytes else {
                contents.dropped += 1
                return
            }
            contents.bytes += message.payload.count + 200
            contents.messages.append(message)
        }
        wake.signal()
    }

    /// A connection to the broker was made, or is not there.
    func put(connection isUp: Bool) {
        contents.withLock { if $0.connections.last != isUp { $0.connections.append(isUp) } }
        wake.signal()
    }

    /// All there is, and how many messages were dropped since.
    func take() -> (messages: [InboundMessage], connections: [Bool], dropped: Int) {
        contents.withLock { contents in
            defer { contents = Contents() }
            return (contents.messages, contents.connections, contents.dropped)
        }
    }
}
