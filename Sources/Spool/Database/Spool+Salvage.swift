import Glibc
import Messages

/// What can still be read of a damaged file: messages of the first class and facts, each with its check sum. Summaries,
/// traces and the ring are left to whoever looks at the file.
extension Spool {
    /// Seconds that this may take.
    private static let patience = 10

    /// From the file that was set aside. Never fails: what cannot be read stays there.
    mutating func salvage(except keys: Set<Int64> = []) {
        guard let aside = setAsideFile, aside.kind == .database, !SetAside.isBlocked(aside.path) else { return }
        let old = Database(aside.path)
        defer { old.close(asItIs: true) }
        // SQLite deletes the log of an empty file.
        if SetAside.isHeadless(aside.path) {
            Glibc.close(Glibc.open(aside.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640))
            truncate(aside.path, off_t(Database.pageBytes))
        }
        guard access(aside.path, R_OK) == 0, (try? old.connect()) != nil else { return }
        salvage(from: old, except: keys)
    }

    mutating func salvage(from old: Database, except keys: Set<Int64>) {
        let end = Self.seconds() + Self.patience
        for table in Table.allCases {
            if let highest = try? Self.number(old.use(.highest, table)) { next = max(next, (highest >> 2) &+ 1) }
        }
        do throws(SpoolError) {
            try begin()
            var count = 0
            for key in Self.keys(old, until: end) where Self.seconds() < end && !keys.contains(key) {
                guard try take(key, from: old) else { continue }
                count += 1
                // What has been taken over stays, should there be no room for the rest.
                guard count % 64 == 0 else { continue }
                try commit()
                setAsideFile?.salvaged = count
                try begin()
            }
            for name in Self.names(old) {
                if name.hasPrefix("spool.") { continue }
                guard let value = try? old.fact(name) else { continue }
                try database.set(name, value)
            }
            try takeCounters(from: old)
            try commit()
            setAsideFile?.salvaged = count
        } catch { _ = undo(error) }
    }

    private mutating func take(_ key: Int64, from old: Database) throws(SpoolError) -> Bool {
        guard let (message, state) = Self.message(key, in: old) else { return false }
        let size = StoredMessage.size(message.header, message.payload.count)
        guard size <= options.pages * Database.pageBytes / 16 else { return false }
        guard try makeRoom(size, for: .essential) else { return false }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: message.payload.count, alignment: 1)
        defer { bytes.deallocate() }
        bytes.copyBytes(from: message.payload)
        let number = try look(key, .essential) == nil ? key : takeNumber() << 2
        try insert(number, message.header, UnsafeRawBufferPointer(bytes), made: message.made)
        next = max(next, (number >> 2) &+ 1)
        guard state != 0, message.header.event != nil else { return true }
        try keep(number, state: state)
        books.remove(.essential, size)
        books.keep(size)
        return true
    }

    private mutating func takeCounters(from old: Database) throws(SpoolError) {
        books.count(dropped: (try? old.numbers(.dropped)) ?? [], damaged: (try? old.numbers(.damaged)) ?? [])
        try database.set(.dropped, numbers: books.dropped)
        try database.set(.damaged, numbers: [Int64(books.statistics.damaged)])
    }

    private static func message(_ key: Int64, in old: Database) -> (StoredMessage, state: Int)? {
        guard let row = try? old.use(.row) else { return nil }
        row.bind(1, key)
        guard (try? row.step()) == true, row.int64(0) == key, let message = StoredMessage(row) else { return nil }
        return (message, (0...2).contains(row.int(12)) ? row.int(12) : 0)
    }

    /// From the first row up to the damage, and from the last one down to it.
    private static func keys(_ old: Database, until end: Int) -> [Int64] {
        var keys: Set<Int64> = []
        for query in [Query.keysUp, .keysDown] {
            guard let row = try? old.use(query) else { continue }
            while keys.count < 1_000_000, seconds() < end, (try? row.step()) == true {
                let key = row.int64(0)
                // A row that was there already: down has met up, or pages that are linked in a circle.
                if key <= 0 || key >= .max / 8 || key & 3 != 0 { continue }
                if !keys.insert(key).inserted { break }
            }
        }
        return keys.sorted()
    }

    private static func names(_ old: Database) -> Set<String> {
        var names: Set<String> = []
        guard let row = try? old.use(.factNames) else { return [] }
        while names.count < 10_000, (try? row.step()) == true {
            if !names.insert(row.text(0)).inserted { break }
        }
        return names
    }

    private static func number(_ row: borrowing Statement) throws(SpoolError) -> Int64? {
        guard try row.step() else { return nil }
        let number = row.int64(0)
        return (0..<Int64.max / 8).contains(number) ? number : nil
    }

    private static func seconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.tv_sec
    }
}
