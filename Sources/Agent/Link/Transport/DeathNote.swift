import CLinux
import Glibc

/// A file that names the brokers in whose connections with MQTT 5 the process died, by the address in a line each. It is
/// written by the dying process alone: a connection costs no write, and a power cut or a kill leaves nothing.
package struct DeathNote {
    /// Empty: nothing is kept.
    private let path: String
    /// Addresses that the file had when it was read.
    package private(set) var brokers: Set<String>

    package init(_ path: String) {
        self.path = path
        brokers = []
        guard !path.isEmpty, let file = try? PlainFile.open(path, "", limit: 4096) else { return }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return }
        brokers = Set(bytes[..<count].split(separator: 10).map { String(decoding: $0, as: UTF8.self) })
    }

    /// Whether a dying process could leave a note. Its folder is made when it is not there.
    var canBeWritten: Bool {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path.isEmpty }
        let folder = String(path[..<slash])
        // In this order, since the storage makes it too.
        _ = mkdir(folder, 0o750)
        return access(folder, W_OK | X_OK) == 0
    }

    /// Should this thread die, the broker's name is written. What an earlier death has left is over then.
    mutating func watch(_ broker: BrokerAddress) {
        guard !path.isEmpty else { return }
        if brokers.contains(broker.description) {
            unlink(path)
            brokers = []
        }
        clinux_note_death(path, "\(broker)\n")
    }

    /// What happens from now on has nothing to do with a broker.
    func rest() { if !path.isEmpty { clinux_note_death("", "") } }
}
