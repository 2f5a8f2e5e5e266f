import Glibc
import Messages

/// What can still be read of a damaged file goes into the new one: rows of every kind, each with its checksum, found page
/// by page. What cannot be read is counted.
extension Spool {
    /// From the file that was set aside. Never fails: what cannot be read stays there.
    /// - Parameters:
    ///   - keys: messages that are in memory as well.
    ///   - expected: messages that were in it, where that is known.
    mutating func salvage(except keys: Set<Int64> = [], expected: Int? = nil) {
        guard let aside = setAsideFile, aside.kind == .database, !SetAside.isBlocked(aside.path) else { return }
        guard let file = PageFile(aside.path) else { return }
        salvage(from: file, except: keys, expected: expected)
    }

    mutating func salvage(from file: PageFile, except keys: Set<Int64>, expected: Int?) {
        // Into a database of somebody else goes only what is nowhere else.
        let isNew = books.statistics.messages.total + books.statistics.keptMessages + books.ring.entries.count == 0
        let scan = PageScan(file)
        func places(_ kind: RowKind) -> [PageScan.Place] { (scan.places[kind] ?? []).sorted { $0.key < $1.key } }
        for table in Table.allCases {
            if let highest = places(.message(table)).last { next = max(next, (highest.key >> 2) &+ 1) }
        }
        do throws(SpoolError) {
            try begin()
            let facts = places(.fact).compactMap { scan.row($0, isFact: true) }
            try take(facts)
            var (taken, essential, count) = (0, 0, 0)
            for table in Table.allCases where table == .essential || isNew {
                for place in places(.message(table)) where !keys.contains(place.key) {
                    guard let (message, state) = scan.message(place) else { continue }
                    if try take(message, state, table) { taken += 1 }
                    essential += table == .essential ? 1 : 0
                    setAsideFile?.salvaged = essential
                    count += 1
                    // What has been taken over stays, should there be no room for the rest.
                    guard count % 64 == 0 else { continue }
                    try commit()
                    try begin()
                }
                guard table == .essential, isNew else { continue }
                for levels in places(.levels) {
                    if let levels = scan.row(levels, isFact: false).flatMap({ StepLevels.read($0) }) {
                        try store(levels)
                    }
                }
                try takeRing(places(.segment), scan)
            }
            try countLosses(scan, except: keys, taken: taken, expected: isNew ? expected : nil)
            try commit()
        } catch { _ = undo(error) }
    }

    private mutating func countLosses(
        _ scan: PageScan, except keys: Set<Int64>, taken: Int, expected: Int?
    ) throws(SpoolError) {
        let seen = scan.lostMessages.subtracting(keys).count
        let lost = expected.map { max(seen, $0 - taken - keys.count) } ?? seen
        // Where nothing tells how many rows stood in a page, no number is said.
        let isUnknown = scan.isUnknown && expected == nil
        setAsideFile?.lost = isUnknown ? nil : lost
        books.statistics.damaged += lost
        books.statistics.damagedOthers += scan.lostOthers + (scan.isUnknown && !isUnknown ? 1 : 0)
        books.statistics.unknownLosses += isUnknown ? 1 : 0
        try database.set(.damaged, numbers: books.damaged)
    }

    /// - Returns: false when there was no room: that is counted.
    private mutating func take(
        _ message: StoredMessage, _ state: Int, _ table: Table
    ) throws(SpoolError) -> Bool {
        let size = StoredMessage.size(message.header, message.payload.count)
        guard size <= options.pages * Database.pageBytes / 16, try makeRoom(size, for: table.priority) else {
            books.statistics.dropped[table.priority] += 1
            try database.set(.dropped, numbers: books.dropped)
            return true
        }
        let isThere = try look(message.key, table) != nil
        let number = isThere ? try takeNumber() << 2 | Int64(table.rawValue) : message.key
        let result = message.payload.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
            do throws(SpoolError) {
                return .success(try insert(number, message.header, bytes, made: message.made))
            } catch { return .failure(error) }
        }
        try result.get()
        next = max(next, (number >> 2) &+ 1)
        guard state != 0, message.header.event != nil, table == .essential else { return true }
        try keep(number, state: state)
        books.remove(.essential, size)
        books.keep(size)
        return true
    }

    private mutating func takeRing(_ places: [PageScan.Place], _ scan: PageScan) throws(SpoolError) {
        func segment(_ place: PageScan.Place) -> (segment: RingSegment, records: [UInt8])? {
            scan.row(place, isFact: false).flatMap { RingSegment.read($0) }
        }
        let numbers = places.compactMap { place in segment(place).map { (place, $0.segment.number) } }
        for (place, _) in numbers.sorted(by: { $0.1 < $1.1 }) {
            guard let (segment, records) = segment(place), try makeRoom(records.count, for: .state) else { continue }
            let result = records.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) { return .success(try write(segment, bytes, .appendSegment)) } catch {
                    return .failure(error)
                }
            }
            try result.get()
            books.ring.append(segment)
        }
    }

    private mutating func take(_ facts: [PageRecord]) throws(SpoolError) {
        var (dropped, damaged): ([Int64], [Int64]) = ([], [])
        for fact in facts {
            let (name, value) = (fact.text(0), Array(fact.blob(1)))
            let numbers = String(decoding: value, as: UTF8.self).split(separator: " ").compactMap { Int64($0) }
            switch OwnFact(rawValue: name) {
            // (How old messages are, and what was deleted in order, begins anew with the file.)
            case .boot, .ages, .deleted: continue
            case .reserved: next = max(next, min(numbers.first ?? 0, .max / 8))
            case .dropped: dropped = numbers
            case .damaged: damaged = numbers
            case .pages: books.statistics.damagedPages += Int(numbers.first ?? 0)
            case nil: if !name.hasPrefix("spool.") { try database.set(name, value) }
            }
        }
        books.count(dropped: dropped, damaged: damaged)
        try database.set(.dropped, numbers: books.dropped)
        try database.set(.pages, numbers: [Int64(books.statistics.damagedPages)])
        try database.set(.damaged, numbers: books.damaged)
    }
}
