import Threads

/// How far another server has been given the records: the server's thread counts, the hub's thread has it on the disk.
final class Forwarded: Sendable {
    private let contents: Mutex<(given: [String: UInt64], isChanged: Bool, records: Int, isConnected: Bool)>

    /// - Parameter given: by station, such as `XX_BASE`, the number of the newest record that is there.
    init(given: [String: UInt64]) { contents = Mutex((given, false, 0, false)) }

    var given: [String: UInt64] { contents.withLock { $0.given } }
    var records: Int { contents.withLock { $0.records } }
    var isConnected: Bool { contents.withLock { $0.isConnected } }

    func set(_ given: [String: UInt64], records: Int) {
        contents.withLock { $0 = (given, true, $0.records + records, $0.isConnected) }
    }

    func set(connected: Bool) { contents.withLock { $0.isConnected = connected } }

    /// - Returns: what is to be written; nil where nothing has changed.
    func takeChanged() -> [String: UInt64]? {
        contents.withLock { contents in
            defer { contents.isChanged = false }
            return contents.isChanged ? contents.given : nil
        }
    }
}
