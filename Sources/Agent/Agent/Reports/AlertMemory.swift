import Alerts
import Messages
import Platform
import Settings
import Values

/// A small file of the storage directory: which alerts a broker may have of this station. Pure but for the file.
///
/// A run empties the topics of alerts that a run before it may have left, and no others: with each connection they go out
/// again. What was emptied over a connection that held for a while is forgotten.
struct AlertMemory {
    static let fileName = "alerts.json"
    /// How long a connection has held when all that was to be emptied is with the broker (ns).
    static let patience: Int64 = 60_000_000_000
    /// They say that nothing can be written down.
    private static let ofStorage: Set<String> = [
        "storage_failed", "storage_set_aside", "storage_taken", "queue_dropping",
    ]

    private let file: DurableFile
    /// Content of the file; nil: there is none, or it cannot be read.
    private var kept: Set<String>?
    /// Raised by this run.
    private var raised: Set<String> = []
    /// Since when all has been emptied and the connection holds.
    private var since: Int64?

    init(directory: String) { file = DurableFile(directory: directory, name: Self.fileName) }

    /// The codes whose alerts a run before this one may have left; all where that cannot be known.
    mutating func read() -> Set<String> {
        guard let root = try? JSONReader.read(try SettingsFile.read(file.path, isOwn: true)),
            case .array(let list)? = root["codes"]
        else { return Set(AlertDeclaration.all.map(\.code)) }
        let known = list.compactMap(\.rawText).filter { AlertDeclaration.of($0) != nil }
        kept = Set(known)
        return Set(known).union(Self.ofStorage)
    }

    /// An alert leaves.
    /// - Returns: writes it down, and says why it cannot; nil where it is known already.
    mutating func raise(_ code: String) -> (@Sendable () -> String?)? {
        raised.insert(code)
        guard var codes = kept, codes.insert(code).inserted else { return nil }
        return keep(codes)
    }

    /// To be called now and then.
    /// - Parameters:
    ///   - isEmptied: nothing is left that was to be emptied.
    ///   - now: of the monotonic clock (ns).
    /// - Returns: as of `raise`.
    mutating func look(isEmptied: Bool, isConnected: Bool, now: Int64) -> (@Sendable () -> String?)? {
        guard isEmptied, isConnected else {
            since = nil
            return nil
        }
        since = since ?? now
        guard let since, now - since >= Self.patience, kept != raised else { return nil }
        return keep(raised)
    }

    private mutating func keep(_ codes: Set<String>) -> @Sendable () -> String? {
        kept = codes
        let list = codes.sorted().map { Value.string($0) }
        return { [file] in
            do throws(FileError) { try file.write(["v": 1, "codes": .array(list)]) } catch {
                return "the list of alerts is not saved: \(error.message)"
            }
            return nil
        }
    }
}
