import Messages
import Settings
import Values

/// The commands of late by their ids, so that none is carried out twice. Pure; `CommandJournal` keeps it over restarts.
public struct CommandMemory: Sendable, Equatable {
    /// So many are remembered.
    public static let limit = 64

    public struct Entry: Sendable, Equatable {
        public var id: String
        /// Digest of the request under it.
        public var digest: String
        /// The last that was said; nil: nothing yet.
        public var reply: [UInt8]?
        /// True when no further reply follows.
        public var isFinal = false
        /// The process ended before all was said.
        var isInterrupted = false
    }

    /// The oldest first.
    public private(set) var entries: [Entry] = []

    public init() {}

    public func entry(_ id: String) -> Entry? { entries.last { $0.id == id } }

    /// Puts an entry in the place of the one with its id, or behind all others.
    mutating func set(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.id == entry.id }) {
            entries[index] = entry
            return
        }
        entries.append(entry)
        if entries.count > Self.limit { entries.removeFirst() }
    }

    mutating func forget(_ id: String) { entries.removeAll { $0.id == id } }

    // MARK: Lines of a file

    /// Lines that were written by ``line(_:)``, in their order; what is not such a line, as one that a power cut has torn,
    /// is passed over. Whatever was not finished then never will be.
    public init(lines: some Sequence<[UInt8]>) {
        for line in lines {
            guard let tree = try? JSONReader.read(line), case .string(let id)? = tree["id"],
                Topics.problem(inRequestID: id) == nil, case .string(let digest)? = tree["digest"],
                case .bool(let isFinal)? = tree["final"]
            else { continue }
            var entry = Entry(id: id, digest: digest, isFinal: isFinal)
            if case .string(let reply)? = tree["reply"] { entry.reply = Array(reply.utf8) }
            set(entry)
        }
        for index in entries.indices where !entries[index].isFinal { entries[index].isInterrupted = true }
    }

    /// An entry as one line with its end.
    public static func line(_ entry: Entry) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.key("id")
        json.string(entry.id)
        json.key("digest")
        json.string(entry.digest)
        json.key("final")
        json.bool(entry.isFinal)
        if let reply = entry.reply {
            json.key("reply")
            json.string(String(decoding: reply, as: UTF8.self))
        }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }
}
