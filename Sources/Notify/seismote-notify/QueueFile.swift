import DatabaseFiles
import Messages

/// Messages that have been decided and not been delivered, and records of those told: on the disk before anything is
/// sent.
final class QueueFile {
    private let file: DatabaseFile
    private static let application = 0x736d_6e66  // "smnf"
    private var savedTold: [Notifier.SentNotice] = []
    private var savedHeld: [Notifier.Held] = []

    struct Waiting {
        var id: Int64
        var delivery: Notice
        var first: Int64
        var attempts: Int
    }

    init(folder: String) throws(DatabaseError) {
        file = try DatabaseFile(
            "\(folder)/notify.db", application: Self.application,
            tables: [
                "CREATE TABLE waiting(id INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, key TEXT NOT NULL, edition INTEGER NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL, priority INTEGER NOT NULL, click TEXT NOT NULL, first INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL)",
                "CREATE TABLE told(recipient TEXT NOT NULL, key TEXT NOT NULL, edition INTEGER NOT NULL, urgent INTEGER NOT NULL, time INTEGER NOT NULL)",
                "CREATE TABLE held(recipient TEXT NOT NULL, key TEXT NOT NULL, title TEXT NOT NULL, time INTEGER NOT NULL)",
            ], .init(isExclusive: true, synchronous: "FULL"))
        savedTold = try file.rows("SELECT recipient, key, edition, urgent, time FROM told") {
            .init(
                recipient: $0.text(0), key: $0.text(1), edition: Int($0.int(2)), isUrgent: $0.int(3) != 0,
                time: $0.int(4))
        }
        savedHeld = try file.rows("SELECT recipient, key, title, time FROM held ORDER BY rowid") {
            .init(recipient: $0.text(0), key: $0.text(1), title: $0.text(2), time: $0.int(3))
        }
    }

    /// Forgets what waits for those who are no recipients any more.
    func keepOnly(_ recipients: [String]) throws(DatabaseError) {
        let names = try self.file.rows("SELECT DISTINCT recipient FROM waiting") { $0.text(0) }
        for name in names where !recipients.contains(name) {
            try file.run("DELETE FROM waiting WHERE recipient = ?", .text(name))
        }
    }

    var told: [Notifier.SentNotice] { savedTold }
    var held: [Notifier.Held] { savedHeld }

    /// Keeps what is to be sent together with what has been decided, all or nothing.
    func keep(_ deliveries: [Notice], _ notifier: Notifier, now: Int64) throws(DatabaseError) {
        let (told, held) = (notifier.told, notifier.held)
        guard !deliveries.isEmpty || told != savedTold || held != savedHeld else { return }
        try file.transaction { () throws(DatabaseError) in
            for one in deliveries {
                // A later edition takes the place of one that has not left.
                try file.run(
                    "DELETE FROM waiting WHERE recipient = ? AND key = ?", .text(one.recipient), .text(one.key))
                try file.run(
                    "INSERT INTO waiting(recipient, key, edition, title, text, priority, click, first, due, attempts) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
                    .text(one.recipient), .text(one.key), .int(Int64(one.edition)), .text(one.title), .text(one.text),
                    .int(Int64(one.priority.rawValue)), .text(one.click), .int(now), .int(now))
            }
            if told != savedTold {
                try file.execute("DELETE FROM told")
                for one in told {
                    try file.run(
                        "INSERT INTO told VALUES(?, ?, ?, ?, ?)", .text(one.recipient), .text(one.key),
                        .int(Int64(one.edition)), .int(one.isUrgent ? 1 : 0), .int(one.time))
                }
            }
            if held != savedHeld {
                try file.execute("DELETE FROM held")
                for one in held {
                    try file.run(
                        "INSERT INTO held VALUES(?, ?, ?, ?)", .text(one.recipient), .text(one.key), .text(one.title),
                        .int(one.time))
                }
            }
        }
        (savedTold, savedHeld) = (told, held)
    }

    /// The most urgent one that is due to a recipient.
    func next(for recipient: String, now: Int64) throws(DatabaseError) -> Waiting? {
        try file.rows(
            "SELECT id, recipient, key, edition, title, text, priority, click, first, attempts FROM waiting WHERE recipient = ? AND due <= ? ORDER BY priority DESC, id LIMIT 1",
            [.text(recipient), .int(now)]
        ) {
            Waiting(
                id: $0.int(0),
                delivery: Notice(
                    recipient: $0.text(1), key: $0.text(2), edition: Int($0.int(3)), title: $0.text(4),
                    text: $0.text(5),
                    priority: Notice.Priority(rawValue: Int($0.int(6))) ?? .ordinary, click: $0.text(7)),
                first: $0.int(8), attempts: Int($0.int(9)))
        }.first
    }

    func remove(_ id: Int64) throws(DatabaseError) { try file.run("DELETE FROM waiting WHERE id = ?", .int(id)) }

    func put(off id: Int64, attempts: Int, until due: Int64) throws(DatabaseError) {
        try file.run(
            "UPDATE waiting SET attempts = ?, due = ? WHERE id = ?", .int(Int64(attempts)), .int(due), .int(id))
    }
}
