import CSQLite
import Glibc
import Messages
import MiniSEED
import Platform
import Vibration

/// The station's storage on disk: messages that wait for the broker, the events of the last weeks, a ring of
/// full-rate waveform, and small facts. One SQLite file, `spool.db` in its folder, for one thread.
///
/// Writing begins a transaction by itself; `commit` ends it. **A call that throws undoes everything since the last
/// `commit`**, so that what is in memory and what is in the file never differ; numbers are not given twice even then.
/// (`makeDurable`, `checkpoint` and `close` commit first; when they throw after that, it stays committed.)
/// When the error says `isDamage` or `isGone`, `recover` begins a new file.
///
/// A power cut loses nothing that was written before the last `makeDurable` or `checkpoint`; a kill loses nothing that was
/// written before the last `commit`.
public struct Spool: ~Copyable {
    public static let fileName = "spool.db"

    public private(set) var options: SpoolOptions
    /// The damage that `open` or the last `recover` found.
    public private(set) var setAsideFile: SetAsideFile?
    /// The same in words; nil: all is well.
    public var setAside: String? { setAsideFile?.description }

    private(set) var database: Database
    private var lock: FolderLock
    private let boot: String
    /// Number of the next message, without its class.
    private var next: Int64
    private(set) var inventory: Inventory
    /// As of the last commit.
    private var committed: Inventory
    /// The file has been given up, and there is no new one yet: `recover` is to be called again.
    public private(set) var isWithoutFile = false
    /// Database that was given up because its files are gone: it can be read for as long as it is open.
    private var former: Database?
    /// Rows that somebody wanted to read and that are not what was written, or are not there though others name them; since
    /// the start. What is told of the past is not whole when this has risen meanwhile.
    public private(set) var unread = 0
    /// For reading the ring.
    private var decoder = MiniSEEDDecoder()
    private var samples: [Double] = []
    /// Messages that were in what was given up.
    private var expected = 0
    /// Losses that have been told of.
    private var found = (rows: 0, others: 0)

    /// Opens the spool or makes it. Damaged files are set aside, see `setAside`.
    /// - Parameter now: of a clock that never jumps (ns), the one that `trim` gets.
    /// - Throws: when the folder or the disk does not allow it, or another process has it open: to be tried again.
    public static func open(_ options: SpoolOptions, now: Int64) throws(SpoolError) -> Spool {
        try open(options, now: now, boot: machineStart())
    }

    static func open(_ options: SpoolOptions, now: Int64, boot: String) throws(SpoolError) -> Spool {
        if mkdir(options.directory, 0o750) != 0, errno != EEXIST {
            throw SpoolError(file: options.directory, errno: errno)
        }
        let lock = try FolderLock(options.directory + "/spool.lock")
        let database = Database(options.directory + "/" + fileName)
        let (inventory, setAside) = try openFile(database, options, boot, lock)
        var spool = Spool(options, database, lock, boot, inventory, setAside)
        spool.salvage()
        do throws(SpoolError) {
            try spool.begin(now: now)
        } catch {
            // What is found only now is no other damage.
            guard error.isDamage else { throw error }
            try spool.recover()
            try spool.begin(now: now)
        }
        return spool
    }

    private mutating func begin(now: Int64) throws(SpoolError) {
        try checkAtStart()
        try makeLevelsAgain()
        _ = try trim(now: now)
        try commit()
    }

    private init(
        _ options: SpoolOptions, _ database: Database, _ lock: FolderLock, _ boot: String, _ inventory: Inventory,
        _ setAside: SetAsideFile?
    ) {
        self.options = options
        self.database = database
        self.lock = lock
        self.boot = boot
        self.inventory = inventory
        setAsideFile = setAside
        committed = inventory
        next = inventory.reserved
        found = (inventory.statistics.damaged, inventory.statistics.damagedOthers)
    }

    /// Opens the existing file, or moves it aside and creates a new one.
    private static func openFile(
        _ database: Database, _ options: SpoolOptions, _ boot: String, _ lock: FolderLock
    ) throws(SpoolError) -> (Inventory, SetAsideFile?) {
        let path = database.path
        var setAside: SetAsideFile?
        if SetAside.isBlocked(path) {
            setAside = try SetAside.rename(path, "not a file")
        } else if SetAside.isHeadless(path) {
            setAside = try SetAside.rename(path, "there is a log, and no database that it belongs to")
        } else {
            setAside = try LogMending.mend(path, isSameStart: lock.isOf(boot))
        }
        let frames = setAside?.frames ?? 0
        var inventory: Inventory
        do throws(SpoolError) {
            inventory = try load(database, options, boot)
        } catch {
            database.close(asItIs: true)
            guard error.isDamage else { throw error }
            let before = setAside.map { $0.reason + "; then: " } ?? ""
            setAside = try SetAside.rename(path, before + error.text)
            inventory = try load(database, options, boot)
        }
        if frames > 0 {
            inventory.statistics.damagedPages += frames
            try database.set(.pages, numbers: [Int64(inventory.statistics.damagedPages)])
        }
        lock.note(boot)
        return (inventory, setAside)
    }

    private static func load(
        _ database: Database, _ options: SpoolOptions, _ boot: String
    ) throws(SpoolError) -> Inventory {
        try database.open()
        let inventory = try Inventory(database)
        try database.limit(pages: options.pages + 64)
        if try database.fact(.boot) != Array(boot.utf8) { try database.set(.boot, Array(boot.utf8)) }
        SetAside.sync(folder: options.directory)
        return inventory
    }

    /// After an error that `isDamage` or `isGone`: begins a new file and takes over what can still be read.
    /// A damaged file is moved aside; one that is gone is still open here, and is read for the last time. Numbers go on from
    /// where they are, and what is taken over keeps its own unless there is something under it.
    /// - Parameter keys: messages that are in memory as well: they are not taken over, and are to be put again.
    /// - Throws: when that does not work; it may be tried again.
    public mutating func recover(except keys: Set<Int64> = []) throws(SpoolError) {
        if !isWithoutFile {
            expected = committed.statistics.messages.total + committed.statistics.keptMessages
            try giveUp()
            isWithoutFile = true
        }
        if let former, former.loss() == nil {
            // It was only away for a while.
            (database, self.former) = (former, nil)
        } else {
            if former != nil, mkdir(options.directory, 0o750) != 0, errno != EEXIST {
                throw SpoolError(file: options.directory, errno: errno)
            }
            lock = try lock.inPlace()
            do throws(SpoolError) {
                let (found, setAside) = try Self.openFile(database, options, boot, lock)
                (inventory, committed) = (found, found)
                if former == nil, let setAside { setAsideFile = setAside }
                if former != nil, let setAside { setAsideFile?.reason += "; in its place: \(setAside.reason)" }
            } catch {
                database.close(asItIs: true)
                throw error
            }
            next = max(next, inventory.reserved)
        }
        isWithoutFile = false
        let isOther = former != nil || setAsideFile?.kind == .database
        if let pages = former?.pages() {
            salvage(from: pages, except: keys, expected: expected)
        } else {
            salvage(except: keys, expected: expected)
        }
        former?.close(asItIs: true)
        former = nil
        found = (inventory.statistics.damaged, inventory.statistics.damagedOthers)
        guard !isOther else { return try makeLevelsAgain() }
        // The same file: what is put again would be there twice.
        do throws(SpoolError) {
            try begin()
            for key in keys { try drop(key) }
        } catch { throw undo(error) }
    }

    /// Leaves the file, or what is left of it, with as much in it as possible.
    private mutating func giveUp() throws(SpoolError) {
        let path = database.path
        database.rollBack()
        guard let loss = database.loss(), loss.error.isGone else {
            database.close(asItIs: true)
            setAsideFile = try SetAside.rename(path, "damaged while in use")
            return
        }
        if loss.isOfLogAlone {
            if loss.hasLog { try? database.checkpoint() }
            database.close(asItIs: true)
            try SetAside.keepLog(path, stays: false)
        } else {
            // Of what belongs together, all or nothing stays.
            if database.hasPart(at: path) { _ = try SetAside.rename(path, loss.error.text) }
            (former, database) = (database, Database(path))
        }
        setAsideFile = SetAsideFile(path: path, reason: loss.error.text, kind: .gone)
    }

    /// Other limits, from now on; the directory stays. Call `trim` after it.
    public mutating func reconfigure(_ options: SpoolOptions) throws(SpoolError) {
        let directory = self.options.directory
        self.options = options
        self.options.directory = directory
        try database.limit(pages: self.options.pages + 64)
    }

    /// Ends in order: commits, writes the log back and closes. Going out of scope does the same without the commit.
    public consuming func close() throws(SpoolError) {
        try commit()
        database.close()
    }

    // MARK: Transactions

    /// Commits: the data is there for a process that starts after a kill of this one. Does not wait for the disk.
    public mutating func commit() throws(SpoolError) {
        guard database.inTransaction else { return }
        do throws(SpoolError) {
            try database.look()
            try database.commit()
        } catch { throw undo(error) }
        committed = inventory
        database.limitLog()
    }

    /// Commits and waits for the disk: what was written survives a power cut.
    public mutating func makeDurable() throws(SpoolError) {
        try commit()
        try database.makeDurable()
    }

    /// For idle moments: writes the log back into the file when it is longer than 1 MB. Waits for the disk.
    /// - Parameter whole: however short it is: what stands in the file is safer from damage.
    public mutating func checkpoint(whole: Bool = false) throws(SpoolError) {
        try commit()
        try database.look()
        if database.logPages > (whole ? 0 : 256) { try database.checkpoint() }
    }

    mutating func begin() throws(SpoolError) {
        if !database.inTransaction { try database.begin() }
    }

    /// After a failed write.
    mutating func undo(_ error: SpoolError) -> SpoolError {
        database.rollBack()
        inventory = committed
        return error
    }

    // MARK: State

    public var statistics: SpoolStatistics {
        mutating get {
            var statistics = inventory.statistics
            statistics.oldestMade = oldestMade()
            statistics.ringSegments = inventory.ring.entries.count
            statistics.ringBytes = inventory.ring.bytes
            statistics.ringSeconds = inventory.ring.seconds
            statistics.fileBytes = ((try? database.filePages()) ?? 0) * Database.pageBytes
            statistics.logBytes = database.logPages * Database.pageBytes
            statistics.bytesWritten = (database.pagesLogged + database.pagesWrittenBack) * Database.pageBytes
            return statistics
        }
    }

    private static func machineStart() -> String {
        let id = SmallFile.text("/proc/sys/kernel/random/boot_id", limit: 36) ?? ""
        return id.utf8.count == 36 ? id : ""
    }
}

/// Salvage: rows of every kind that can still be read of a damaged file go into the new one, each with its checksum,
/// found page by page. Unreadable ones are counted.
extension Spool {
    /// From the file that was set aside. Never fails: what cannot be read stays there.
    /// - Parameters:
    ///   - keys: messages that are in memory as well.
    ///   - expected: messages that were in it, where that is known.
    private mutating func salvage(except keys: Set<Int64> = [], expected: Int? = nil) {
        guard let aside = setAsideFile, aside.kind == .database, !SetAside.isBlocked(aside.path) else { return }
        guard let file = PageFile(aside.path) else { return }
        salvage(from: file, except: keys, expected: expected)
    }

    private mutating func salvage(from file: PageFile, except keys: Set<Int64>, expected: Int?) {
        // Into a database of somebody else goes only what is nowhere else.
        let isNew =
            inventory.statistics.messages.total + inventory.statistics.keptMessages + inventory.ring.entries.count == 0
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
                for place in places(.vibration) {
                    guard let row = scan.row(place, isFact: false) else { continue }
                    if let block = VibrationBlock.read(row) {
                        inventory.ages.goOn(from: block.added &* 1_000_000_000)
                        try store(block)
                        inventory.vibration.close()
                    } else if let modes = StoredModes.read(row) {
                        inventory.ages.goOn(from: modes.added &* 1_000_000_000)
                        try store(modes)
                    }
                }
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
        inventory.statistics.damaged += lost
        inventory.statistics.damagedOthers += scan.lostOthers + (scan.isUnknown && !isUnknown ? 1 : 0)
        inventory.statistics.unknownLosses += isUnknown ? 1 : 0
        try database.set(.damaged, numbers: inventory.damaged)
    }

    /// - Returns: false when there was no room: that is counted.
    private mutating func take(
        _ message: StoredMessage, _ state: Int, _ table: Table
    ) throws(SpoolError) -> Bool {
        let size = StoredMessage.size(message.header, message.payload.count)
        guard size <= options.pages * Database.pageBytes / 16, try makeRoom(size, for: table.priority) else {
            inventory.statistics.dropped[table.priority] += 1
            try database.set(.dropped, numbers: inventory.dropped)
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
        inventory.remove(.essential, size)
        inventory.keep(size)
        return true
    }

    private mutating func takeRing(_ places: [PageScan.Place], _ scan: PageScan) throws(SpoolError) {
        func segment(_ place: PageScan.Place) -> (segment: RingSegment, records: [UInt8])? {
            scan.row(place, isFact: false).flatMap { RingSegment.read($0) }
        }
        let numbers = places.compactMap { place in segment(place).map { (place, $0.segment.number) } }
        var slots = Set(inventory.ring.entries.map(\.slot))
        for (place, _) in numbers.sorted(by: { $0.1 < $1.1 }) {
            guard let (found, records) = segment(place), try makeRoom(records.count, for: .state) else { continue }
            var segment = found
            // (One whose place was damaged may have that of another.)
            if !slots.insert(segment.slot).inserted {
                segment.slot = inventory.ring.freshSlot
                slots.insert(segment.slot)
            }
            let result = records.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) { return .success(try write(segment, bytes, .appendSegment)) } catch {
                    return .failure(error)
                }
            }
            try result.get()
            inventory.ring.append(segment)
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
            case .pages: inventory.statistics.damagedPages += Int(numbers.first ?? 0)
            case nil: if !name.hasPrefix("spool.") { try database.set(name, value) }
            }
        }
        inventory.count(dropped: dropped, damaged: damaged)
        try database.set(.dropped, numbers: inventory.dropped)
        try database.set(.pages, numbers: [Int64(inventory.statistics.damagedPages)])
        try database.set(.damaged, numbers: inventory.damaged)
    }
}

/// Finds what is not as it was written before it is needed: what is kept for weeks is read once, or never.
extension Spool {
    /// Bytes of the file up to which all of it is read each hour; and of rows at the start.
    private static let hourlyPages = 4096
    private static let startBytes = 64 << 20

    /// To be called once an hour: reads the file, of large ones the index of what waits. Rows that are not as they were
    /// written are dropped and counted; an index that does not agree with its table is made again. ``takeFinding()`` tells.
    /// - Throws: an error that `isDamage` calls for `recover`.
    public mutating func check() throws(SpoolError) {
        try commit()
        do throws(SpoolError) {
            let pages = try database.filePages()
            if pages <= Self.hourlyPages {
                try database.check(upTo: Self.hourlyPages)
                try checkRows(bytes: .max)
            } else {
                try database.checkWaiting()
            }
        } catch { throw undo(error) }
        try commit()
    }

    /// The same at the start, of rows that are not read anyway before they are sent.
    private mutating func checkAtStart() throws(SpoolError) {
        do throws(SpoolError) { try checkRows(bytes: Self.startBytes) } catch { throw undo(error) }
        try commit()
        guard let finding = takeFinding() else { return }
        if setAsideFile == nil {
            setAsideFile = SetAsideFile(path: database.path, reason: finding, kind: .rows)
        } else {
            setAsideFile?.reason += "; \(finding)"
        }
    }

    /// Damage found since the last call that moved no file aside, in words; nil: all is well.
    public mutating func takeFinding() -> String? {
        let (rows, others) = (
            inventory.statistics.damaged - found.rows, inventory.statistics.damagedOthers - found.others
        )
        found = (inventory.statistics.damaged, inventory.statistics.damagedOthers)
        var words: [String] = []
        if !database.rebuilt.isEmpty {
            inventory.statistics.rebuiltIndices += database.rebuilt.count
            words.append("rebuilt from its table: index " + database.rebuilt.joined(separator: ", "))
            database.rebuilt = []
        }
        if rows > 0 { words.append("messages that were not as written, and are lost: \(rows)") }
        if others > 0 {
            words.append("pieces of waveform, levels, vibration or facts that were not as written: \(others)")
        }
        return words.isEmpty ? nil : words.joined(separator: "; ")
    }

    /// - Parameter bytes: of rows that are read, about.
    private mutating func checkRows(bytes: Int) throws(SpoolError) {
        try begin()
        var left = bytes
        for table in Table.allCases where left > 0 { try checkMessages(table, &left) }
        try checkFacts()
        try checkLevels()
        if left > 0 { try checkVibration(&left) }
        for segment in inventory.ring.entries where left > 0 {
            left -= segment.bytes
            if try records(of: segment) != nil { continue }
            if inventory.ring.entries.count(where: { $0.slot == segment.slot }) > 1 { throw wrongNumber() }
            let statement = try database.use(.deleteSegment)
            statement.bind(1, segment.slot)
            try statement.run()
            inventory.ring.remove(slot: segment.slot)
            try countDamaged(1)
        }
    }

    private mutating func checkMessages(_ table: Table, _ left: inout Int) throws(SpoolError) {
        var damaged: [Int64] = []
        var others: [(key: Int64, state: Int)] = []
        var unlike: [Int64] = []
        do {
            let row = try database.use(.messages, table)
            while left > 0, try row.step() {
                left -= row.blob(11).count + 100
                // The same bytes, but SQLite finds them under no text. (Asked before they are read as one.)
                let isUnlike = !row.isNull(8) && !row.isText(8)
                guard let (message, state) = StoredMessage.read(row), message.key & 3 == table.rawValue else {
                    damaged.append(row.int64(0))
                    continue
                }
                if state != row.int(12) { others.append((message.key, state)) }
                if isUnlike { unlike.append(message.key) }
            }
        }
        for key in damaged where try !dropDamaged(key, table) { throw wrongNumber() }
        for (key, state) in others where table == .essential {
            guard let row = try look(key, table) else { throw wrongNumber() }
            let statement = try database.use(.setState)
            statement.bind(1, key)
            statement.bind(2, state)
            try statement.run()
            if row.waits { inventory.remove(table, row.size) } else { inventory.forget(row.size) }
            if state == 0 { inventory.add(table, row.size) } else { inventory.keep(row.size) }
        }
        for key in unlike where table == .essential {
            let statement = try database.use(.setEventText)
            statement.bind(1, key)
            try statement.run()
        }
    }

    /// The row that its number or name leads to is another, good one, or none.
    private func wrongNumber() -> SpoolError { database.damage("a row cannot be found by its key") }

    private mutating func checkFacts() throws(SpoolError) {
        var damaged: [[UInt8]] = []
        var good: Set<[UInt8]> = []
        do {
            let row = try database.use(.allFacts)
            while try row.step() {
                let isUnlike = !row.isText(0)
                if row.int64(2) == StoredMessage.checksum(row.text(0), row.blob(1)) {
                    if isUnlike { throw wrongNumber() }
                    good.insert(row.bytes(0))
                } else {
                    damaged.append(row.bytes(0))
                }
            }
        }
        if damaged.contains(where: good.contains) { throw wrongNumber() }
        for name in damaged {
            let result = name.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) {
                    let statement = try database.use(.deleteFactBytes)
                    statement.bind(1, bytes)
                    return .success(try statement.run())
                } catch { return .failure(error) }
            }
            try result.get()
        }
        try countDamaged(damaged.count)
    }

    private mutating func checkLevels() throws(SpoolError) {
        var damaged: [Int64] = []
        var misplaced: [StepLevels] = []
        do {
            let row = try database.use(.allLevels)
            while try row.step() {
                guard row.int64(2) == Self.sum(row.int64(1), row.blob(3)),
                    let levels = StepLevels(block: row.int64(1), row.blob(3))
                else {
                    damaged.append(row.int64(0))
                    continue
                }
                if !places(of: levels.block).contains(row.int64(0)) { misplaced.append(levels) }
            }
        }
        for slot in damaged {
            let statement = try database.use(.deleteLevels)
            statement.bind(1, slot)
            try statement.run()
        }
        // (A damaged number of its place, or another budget.)
        for levels in misplaced where try row(levels.block) == nil { try store(levels) }
        try countDamaged(damaged.count)
    }

    private mutating func checkVibration(_ left: inout Int) throws(SpoolError) {
        var damaged: [Int64] = []
        var good: Set<Int64> = []
        do {
            let row = try database.use(.allVibration)
            while left > 0, try row.step() {
                left -= row.blob(4).count + 100
                if VibrationBlock.read(row) != nil || StoredModes.read(row) != nil {
                    good.insert(row.int64(0))
                } else {
                    damaged.append(row.int64(0))
                }
            }
        }
        if damaged.contains(where: good.contains) { throw wrongNumber() }
        for number in damaged { try deleteVibration(number) }
        try countDamaged(damaged.count)
    }

    private mutating func countDamaged(_ others: Int) throws(SpoolError) {
        guard others > 0 else { return }
        inventory.statistics.damagedOthers += others
        try database.set(.damaged, numbers: inventory.damaged)
    }
}

/// Small things that others want to find again after a restart.
extension Spool {
    /// The bytes under a name.
    public mutating func fact(_ name: String) throws(SpoolError) -> [UInt8]? {
        do throws(SpoolError) { return try database.fact(name) } catch { throw undo(error) }
    }

    /// Puts bytes under a name; nil takes the name away. Names that begin with `spool.` are the spool's own.
    mutating func setFact(_ name: String, _ value: [UInt8]?) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            try database.set(name, value)
        } catch { throw undo(error) }
    }

    /// All names with a beginning, in order.
    public mutating func facts(beginningWith prefix: String) throws(SpoolError) -> [String] {
        var names: [String] = []
        do throws(SpoolError) {
            let row = try database.use(.factNames)
            while try row.step() {
                let name = row.text(0)
                if name.utf8.starts(with: prefix.utf8) { names.append(name) }
            }
        } catch { throw undo(error) }
        return names
    }
}

extension Spool {
    /// Keeps a message until the broker has it. Makes room for it if need be.
    /// - Parameter made: nanoseconds of UTC.
    /// - Returns: its number, above 0; 0 when all room is taken by what is more important: it is counted as dropped.
    public mutating func put(
        _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) throws(SpoolError) -> Int64 {
        let size = StoredMessage.size(header, payload.count)
        guard size <= options.pages * Database.pageBytes / 16 else {
            throw undo(
                SpoolError(file: database.path, code: SQLITE_TOOBIG, text: "a message of \(payload.count) bytes"))
        }
        do throws(SpoolError) {
            try begin()
            // (What is essential is tried in any case.)
            guard try makeRoom(size, for: header.priority) || header.priority == .essential else {
                inventory.statistics.dropped[header.priority] += 1
                try database.set(.dropped, numbers: inventory.dropped)
                return 0
            }
            let key = try takeNumber() << 2 | Int64(Table(header.priority).rawValue)
            try insert(key, header, payload, made: made)
            return key
        } catch { throw undo(error) }
    }

    mutating func insert(
        _ key: Int64, _ header: PublicationHeader, _ payload: UnsafeRawBufferPointer, made: Int64
    ) throws(SpoolError) {
        let statement = try database.use(.insert, Table(header.priority))
        statement.bind(1, key)
        statement.bind(2, made)
        statement.bind(3, header.topic)
        statement.bind(4, header.qos)
        statement.bind(5, header.retain ? 1 : 0)
        statement.bind(6, header.isHistory ? 1 : 0)
        statement.bind(7, StoredContent.text(header))
        if let expiry = header.expiry { statement.bind(8, Int64(expiry)) }
        if let event = header.event {
            statement.bind(9, event.id)
            statement.bind(10, event.part.rawValue)
        }
        statement.bind(11, StoredMessage.checksum(key, header, payload, made: made))
        statement.bind(12, payload)
        try statement.run()
        inventory.add(Table(header.priority), StoredMessage.size(header, payload.count))
    }

    /// The number of a message is taken from a range that was noted before: so it is never given again, at the price of
    /// one more write every 4096 messages.
    private mutating func takeNumber() throws(SpoolError) -> Int64 {
        if next >= inventory.reserved {
            inventory.reserved = next + 4096
            try database.set(.reserved, numbers: [inventory.reserved])
        }
        next += 1
        return next - 1
    }

    /// Messages that wait, in the order in which they were put.
    /// - Parameters:
    ///   - key: only those after this number; 0: from the first.
    ///   - messages: at most so many.
    ///   - bytes: at most so many of payload, but at least one message.
    public mutating func next(
        _ line: SpoolLine, after key: Int64 = 0, messages: Int = .max, bytes: Int = .max
    ) throws(SpoolError) -> [StoredMessage] {
        var found: [StoredMessage] = []
        var damaged: [Int64] = []
        do throws(SpoolError) {
            var total = 0
            let row = try database.use(line == .essential ? .next : .nextOfTheRest)
            row.bind(1, key)
            row.bind(2, Int64(clamping: messages))
            while try row.step() {
                guard let message = StoredMessage(row) else {
                    damaged.append(row.int64(0))
                    continue
                }
                total += message.payload.count
                if total > bytes, !found.isEmpty { break }
                found.append(message)
            }
        } catch { throw undo(error) }
        for key in damaged { try dropDamaged(key) }
        return found
    }

    /// The broker has a message, or never will: messages of events are kept, others are deleted.
    /// - Returns: false when it was not there any more.
    @discardableResult
    public mutating func settle(_ key: Int64, _ outcome: MessageFate) throws(SpoolError) -> Bool {
        guard let table = Table(rawValue: Int(key & 3)) else { return false }
        do throws(SpoolError) {
            try begin()
            guard let row = try look(key, table), row.waits else { return false }
            inventory.remove(table, row.size)
            guard row.isOfEvent else {
                try delete(key, table)
                return true
            }
            try keep(key, state: outcome == .delivered ? 1 : 2)
            inventory.keep(row.size)
            return true
        } catch { throw undo(error) }
    }

    func keep(_ key: Int64, state: Int) throws(SpoolError) {
        let statement = try database.use(.deliver)
        statement.bind(1, key)
        statement.bind(2, state)
        statement.bind(3, StoredMessage.mark(state: state))
        try statement.run()
    }

    func look(
        _ key: Int64, _ table: Table
    ) throws(SpoolError) -> (size: Int, waits: Bool, isOfEvent: Bool)? {
        let row = try database.use(.look, table)
        row.bind(1, key)
        guard try row.step() else { return nil }
        return (row.int(0), row.int(1) == 0, row.int(2) != 0 && table == .essential)
    }

    func delete(_ key: Int64, _ table: Table) throws(SpoolError) {
        let statement = try database.use(.delete, table)
        statement.bind(1, key)
        try statement.run()
    }

    /// Deletes a message, whatever became of it.
    /// - Returns: false when it was not there any more.
    @discardableResult
    private mutating func drop(_ key: Int64, _ table: Table? = nil) throws(SpoolError) -> Bool {
        guard let table = table ?? Table(rawValue: Int(key & 3)), let row = try look(key, table) else { return false }
        try delete(key, table)
        if row.waits { inventory.remove(table, row.size) } else { inventory.forget(row.size) }
        return true
    }

    /// A row that is not what was written.
    /// - Parameter table: that has it; nil: by its number.
    /// - Returns: false when it cannot be found.
    @discardableResult
    private mutating func dropDamaged(_ key: Int64, _ table: Table? = nil) throws(SpoolError) -> Bool {
        do throws(SpoolError) {
            try begin()
            if let table = table ?? Table(rawValue: Int(key & 3)) {
                let row = try database.use(.row, table)
                row.bind(1, key)
                if try row.step(), StoredMessage(row) != nil { throw wrongNumber() }
            }
            guard try drop(key, table) else { return false }
            inventory.statistics.damaged += 1
            try database.set(.damaged, numbers: inventory.damaged)
            return true
        } catch { throw undo(error) }
    }

    mutating func oldestMade() -> Int64? {
        var oldest: Int64?
        for table in Table.allCases where inventory.statistics.messages[table.priority] > 0 {
            guard let row = try? database.use(.oldest, table) else { continue }
            row.bind(1, 1)
            if (try? row.step()) == true { oldest = min(oldest ?? .max, row.int64(2)) }
        }
        return oldest
    }
}

/// An event whose end was never written.
public struct UnfinishedEvent: Sendable, Equatable {
    public var id: String
    /// Its newest onset or update.
    public var trigger: StoredMessage
}

extension Spool {
    /// Events with an onset or an update and without an end after it, delivered or not, the oldest first: for the one who
    /// closes them after a kill. (A recording that is played again gives its events the same ids.)
    public mutating func unfinishedEvents() throws(SpoolError) -> [UnfinishedEvent] {
        var ids: [(id: String, ended: Int64)] = []
        do throws(SpoolError) {
            let row = try database.use(.unfinished)
            while try row.step() { ids.append((row.text(0), row.int64(1))) }
        } catch { throw undo(error) }
        var events: [UnfinishedEvent] = []
        for (id, ended) in ids {
            if let trigger = try newestTrigger(of: id, after: ended) {
                events.append(UnfinishedEvent(id: id, trigger: trigger))
            }
        }
        return events
    }

    private mutating func newestTrigger(of id: String, after ended: Int64) throws(SpoolError) -> StoredMessage? {
        var before = Int64.max
        while true {
            do throws(SpoolError) {
                let row = try database.use(.newestTrigger)
                row.bind(1, id)
                row.bind(2, before)
                row.bind(3, ended)
                guard try row.step() else { return nil }
                if let message = StoredMessage(row) { return message }
                before = row.int64(0)
            } catch { throw undo(error) }
        }
    }

    /// Hands out the messages of an event's waveform in their order, one at a time: those after its last end.
    public mutating func forEachWaveform(
        of event: String, _ body: (StoredMessage) -> Void
    ) throws(SpoolError) {
        do throws(SpoolError) {
            let row = try database.use(.waveforms)
            row.bind(1, event)
            while try row.step() {
                if let message = StoredMessage(row) { body(message) }
            }
        } catch { throw undo(error) }
    }

    /// The newest end of an event that is still here.
    public mutating func lastEnd() throws(SpoolError) -> StoredMessage? {
        do throws(SpoolError) {
            let row = try database.use(.lastEnd)
            while try row.step() {
                if let message = StoredMessage(row) { return message }
            }
            return nil
        } catch { throw undo(error) }
    }

    /// Hands out the ends of events, the newest first. Two indices name them: what one of them has lost is found by the other.
    /// What cannot be read counts as ``unread``.
    /// - Parameter isWanted: by the event's id.
    /// - Throws: the first error, when all that can be read has been handed out.
    public mutating func forEachEnd(
        where isWanted: (String) -> Bool, _ body: (StoredMessage) -> Void
    ) throws(SpoolError) {
        var keys: Set<Int64> = []
        var problem: SpoolError?
        for query in [Query.ends, .endsOfEvents] {
            do throws(SpoolError) {
                let row = try database.use(query)
                while try row.step() {
                    if isWanted(row.text(1)) { keys.insert(row.int64(0)) }
                }
            } catch { problem = problem ?? error }
        }
        for key in keys.sorted(by: >) {
            do throws(SpoolError) {
                let row = try database.use(.row)
                row.bind(1, key)
                guard try row.step(), let message = StoredMessage(row) else {
                    unread += 1
                    continue
                }
                guard let event = message.header.event, event.part == .end, isWanted(event.id) else { continue }
                body(message)
            } catch { problem = problem ?? error }
        }
        if let problem { throw undo(problem) }
    }

    /// Messages of an event in their order, whatever became of them.
    /// - Parameters:
    ///   - parts: which.
    ///   - key: only those after this number.
    ///   - count: at most so many.
    public mutating func messages(
        of event: String, _ parts: ClosedRange<EventMark.Part>, after key: Int64 = 0, count: Int = .max
    ) throws(SpoolError) -> [StoredMessage] {
        var found: [StoredMessage] = []
        do throws(SpoolError) {
            let row = try database.use(.ofEvent)
            row.bind(1, event)
            row.bind(2, parts.lowerBound.rawValue)
            row.bind(3, parts.upperBound.rawValue)
            row.bind(4, key)
            row.bind(5, count)
            while try row.step() {
                if let message = StoredMessage(row) { found.append(message) } else { unread += 1 }
            }
        } catch { throw undo(error) }
        return found
    }

    /// All events of which there is an onset, an update or an end, the newest first.
    public mutating func events() throws(SpoolError) -> [String] {
        var ids: [String] = []
        do throws(SpoolError) {
            let row = try database.use(.eventParts)
            while try row.step() { ids.append(row.text(0)) }
        } catch { throw undo(error) }
        return ids
    }
}

/// Facts about events, one each, under the event's id.
extension Spool {
    public enum EventNote: String, Sendable {
        /// People's word for what it was.
        case label = "label."
        /// Confirmation by a network of stations.
        case confirmation = "confirmation."
    }

    /// Notes of a kind, by the ids of the events.
    public mutating func notes(_ kind: EventNote) throws(SpoolError) -> [String: String] {
        var found: [String: String] = [:]
        for name in try facts(beginningWith: kind.rawValue) {
            guard let value = try fact(name) else {
                unread += 1
                continue
            }
            found[String(name.dropFirst(kind.rawValue.count))] = String(decoding: value, as: UTF8.self)
        }
        return found
    }

    /// Note of one event; nil: there is none.
    public mutating func note(_ kind: EventNote, of event: String) throws(SpoolError) -> String? {
        let name = kind.rawValue + event
        if let value = try fact(name) { return String(decoding: value, as: UTF8.self) }
        if try facts(beginningWith: name).contains(name) { unread += 1 }
        return nil
    }

    /// Puts a note beside an event; nil takes it away.
    /// - Parameter most: notes of the kind that are kept; of more the oldest go, by the time in their event's id.
    public mutating func setNote(
        _ kind: EventNote, _ note: String?, of event: String, most: Int = 2000
    ) throws(SpoolError) {
        try setFact(kind.rawValue + event, note.map { Array($0.utf8) })
        let names = try facts(beginningWith: kind.rawValue)
        for oldest in names.sorted(by: { $0.suffix(19) < $1.suffix(19) }).dropLast(most) {
            try setFact(oldest, nil)
        }
        try commit()
    }

    /// Labels by the ids of the events.
    public mutating func labels() throws(SpoolError) -> [String: String] { try notes(.label) }

    /// Label of one event; nil: it has none.
    public mutating func label(of event: String) throws(SpoolError) -> String? { try note(.label, of: event) }

    /// Labels an event; nil takes its label away.
    public mutating func setLabel(_ label: String?, of event: String, most: Int = 2000) throws(SpoolError) {
        try setNote(.label, label, of: event, most: most)
    }
}

extension Spool {
    /// A message that the broker has refused for so long that it is not tried any more: it counts as dropped.
    public mutating func giveUp(_ key: Int64) throws(SpoolError) {
        guard let table = Table(rawValue: Int(key & 3)), try settle(key, .refused(reason: 128)) else { return }
        do throws(SpoolError) {
            inventory.statistics.dropped[table.priority] += 1
            try database.set(.dropped, numbers: inventory.dropped)
        } catch { throw undo(error) }
        try commit()
    }
}

/// Order of deletion when there is no room: delivered events, the oldest first; then the oldest traces; then the oldest
/// summaries. Of essential messages, when nothing else is left, the oldest waveforms, then messages of no event, then
/// those of events. A message never displaces a more important one; the ring has its own part.
extension Spool {
    /// Deletes what is too old or too much. To be called now and then; a call takes some milliseconds.
    /// - Parameter now: of a clock that never jumps (ns): what is too old is not told by that of the day.
    /// - Returns: false when there is more to do.
    @discardableResult
    public mutating func trim(now: Int64) throws(SpoolError) -> Bool {
        do throws(SpoolError) {
            try begin()
            try trimRing()
            if inventory.ages.look(now: now, next: next, keep: options.keepEvents) {
                try database.set(.ages, numbers: inventory.ages.numbers)
            }
            let areEventsYoung = try forgetOldEvents()
            let isVibrationYoung = try forgetOldVibration()
            let hasRoom = try makeRoom(0, for: .essential)
            return areEventsYoung && isVibrationYoung && hasRoom
        } catch { throw undo(error) }
    }

    /// Bytes that find room while nothing has to go that waits for the broker.
    public mutating func room() throws(SpoolError) -> Int {
        do throws(SpoolError) {
            let free = (options.pages - (try database.usedPages())) * Database.pageBytes
            return max(0, free + inventory.statistics.keptBytes)
        } catch { throw undo(error) }
    }

    /// How old a message is at least (ns).
    public func age(of key: Int64) -> Int64 { inventory.ages.age(of: key >> 2) }

    private mutating func forgetOldEvents() throws(SpoolError) -> Bool {
        guard inventory.statistics.keptMessages > 0, let limit = inventory.ages.limit(age: options.keepEvents) else {
            return true
        }
        let rows = try candidates(.oldestKept, .essential, count: 64)
        let old = rows.prefix { $0.key >> 2 < limit }
        for row in old { try forget(row) }
        inventory.statistics.deletedForAge += old.count
        if !old.isEmpty { try noteDeleted() }
        return old.count < 64
    }

    private mutating func forget(_ row: Candidate) throws(SpoolError) {
        try delete(row.key, .essential)
        inventory.forget(row.size)
    }

    private func noteDeleted() throws(SpoolError) {
        let statistics = inventory.statistics
        try database.set(.deleted, numbers: [Int64(statistics.deletedForAge), Int64(statistics.deletedForRoom)])
    }

    /// Deletes until so many bytes more of a class find room.
    /// - Returns: whether they do.
    private mutating func makeRoom(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        let (dropped, deleted) = (inventory.statistics.dropped, inventory.statistics.deletedForRoom)
        // (Some pages more for what lies above a row.)
        let pages = bytes > 0 ? bytes / Database.pageBytes + 8 : 0
        var hasRoom = false
        for _ in 0..<64 {
            let excess = try database.usedPages() + pages - options.pages
            hasRoom = excess <= 0
            guard !hasRoom, try deleteSome(excess * Database.pageBytes, for: priority) else { break }
        }
        if deleted != inventory.statistics.deletedForRoom { try noteDeleted() }
        if dropped != inventory.statistics.dropped { try database.set(.dropped, numbers: inventory.dropped) }
        return hasRoom
    }

    /// Deletes about so many bytes of the least important there is, at most 64 messages.
    /// - Returns: false when nothing is left that may go.
    private mutating func deleteSome(_ bytes: Int, for priority: Priority) throws(SpoolError) -> Bool {
        if inventory.statistics.keptMessages > 0 {
            var left = bytes
            for row in try candidates(.oldestKept, .essential, count: 64) where left > 0 {
                try forget(row)
                inventory.statistics.deletedForRoom += 1
                left -= row.size
            }
            return true
        }
        for table in [Table.trace, .state, .essential] where table.rawValue >= priority.rawValue {
            if table == .essential, try deleteOldestVibration(before: .max) > 0 { return true }
            guard inventory.statistics.messages[table.priority] > 0 else { continue }
            let queries = table == .essential ? [Query.oldestWaveforms, .oldestOthers, .oldest] : [.oldest]
            for query in queries {
                let rows = try candidates(query, table, count: 64)
                guard !rows.isEmpty else { continue }
                try drop(rows, table, bytes)
                return true
            }
        }
        return false
    }

    private mutating func drop(_ rows: [Candidate], _ table: Table, _ bytes: Int) throws(SpoolError) {
        var left = bytes
        for row in rows where left > 0 {
            try delete(row.key, table)
            inventory.remove(table, row.size)
            inventory.statistics.dropped[table.priority] += 1
            left -= row.size
        }
    }

    private struct Candidate {
        var key: Int64
        var size: Int
    }

    private func candidates(_ query: Query, _ table: Table, count: Int) throws(SpoolError) -> [Candidate] {
        var found: [Candidate] = []
        let row = try database.use(query, table)
        row.bind(1, count)
        while try row.step() { found.append(Candidate(key: row.int64(0), size: row.int(1))) }
        return found
    }
}

/// The ring holds the last `ringSeconds` of what was recorded, in the order in which it was added: a clock that is set,
/// forwards or back, deletes nothing and keeps nothing for ever.
extension Spool {
    /// Adds a piece and removes what is too much. Nothing happens when the ring is off.
    public mutating func appendSegment(
        _ segment: RingSegment, _ records: UnsafeRawBufferPointer
    ) throws(SpoolError) {
        guard options.ringSeconds > 0, records.count <= options.ringBytes / 4 else { return }
        do throws(SpoolError) {
            try begin()
            // Nothing essential goes for the ring: if need be it does without its own oldest pieces, or this one.
            while try !makeRoom(records.count, for: .state) {
                guard !inventory.ring.entries.isEmpty else { return }
                try removeOldestSegments(1)
            }
            var segment = segment
            segment.bytes = records.count
            segment.number = inventory.ring.nextNumber
            segment.slot = inventory.ring.freshSlot
            inventory.ring.append(segment)
            // The new piece takes the place of the oldest that has to go: one page is written instead of many.
            let surplus = inventory.ring.surplus(seconds: options.ringSeconds, bytes: options.ringBytes)
            if surplus > 0 {
                segment.slot = inventory.ring.entries[surplus - 1].slot
                inventory.ring.moveNewest(to: segment.slot)
                try removeOldestSegments(surplus, except: segment.slot)
            }
            try write(segment, records, surplus > 0 ? .replaceSegment : .appendSegment)
            try takeLevels(segment, records)
        } catch { throw undo(error) }
    }

    func write(
        _ segment: RingSegment, _ records: UnsafeRawBufferPointer, _ query: Query
    ) throws(SpoolError) {
        let statement = try database.use(query)
        statement.bind(1, segment.slot)
        statement.bind(2, segment.number)
        statement.bind(3, segment.start)
        statement.bind(4, segment.end)
        statement.bind(5, segment.samples)
        statement.bind(6, segment.storedRate)
        statement.bind(7, segment.format)
        statement.bind(8, segment.checksum(records))
        statement.bind(9, records)
        if let unit = segment.unit { statement.bind(10, unit) }
        try statement.run()
    }

    /// The pieces that have something between two times (nanoseconds of UTC, both included), in the order of adding.
    public func segments(from: Int64, to: Int64) -> [RingSegment] {
        inventory.ring.entries.filter { $0.start <= to && $0.end >= from }
    }

    /// The same for an answer. Pieces that must have been there, and such whose time is not that of their neighbours and
    /// which are not as they were written, count as unread.
    public mutating func segments(answering range: ClosedRange<Int64>) throws(SpoolError) -> [RingSegment] {
        let entries = inventory.ring.entries
        var found: [RingSegment] = []
        for (index, piece) in entries.enumerated() {
            if piece.start <= range.upperBound, piece.end >= range.lowerBound {
                found.append(piece)
            }
            guard index > 0, case let before = entries[index - 1] else { continue }
            // Where the clock was set, or a row is damaged.
            if before.number &+ 1 != piece.number, Self.overlaps(before.end, piece.start, range) { unread += 1 }
            guard index + 1 < entries.count, case let after = entries[index + 1],
                piece.start > range.upperBound || piece.end < range.lowerBound,
                Self.overlaps(before.end, after.start, range)
            else { continue }
            _ = try records(of: piece)
        }
        return found
    }

    private static func overlaps(_ a: Int64, _ b: Int64, _ range: ClosedRange<Int64>) -> Bool {
        min(a, b) <= range.upperBound && max(a, b) >= range.lowerBound
    }

    /// The newest piece.
    public var newestSegment: RingSegment? { inventory.ring.entries.last }

    /// The records of a piece; nil when it is gone by now, or is not what was written.
    public mutating func records(of segment: RingSegment) throws(SpoolError) -> [UInt8]? {
        do throws(SpoolError) {
            let row = try database.use(.records)
            row.bind(1, segment.slot)
            row.bind(2, segment.number)
            let isThere = try row.step()
            if isThere, row.int64(1) == segment.checksum(row.blob(0)) { return row.bytes(0) }
            // Of a piece whose place was taken by a newer one nothing is wrong.
            if isThere || inventory.ring.has(segment) { unread += 1 }
            return nil
        } catch { throw undo(error) }
    }

    private mutating func trimRing() throws(SpoolError) {
        let count =
            options.ringSeconds > 0
            ? inventory.ring.surplus(seconds: options.ringSeconds, bytes: options.ringBytes)
            : inventory.ring.entries.count
        try removeOldestSegments(count)
    }

    private mutating func removeOldestSegments(_ count: Int, except slot: Int64 = 0) throws(SpoolError) {
        guard count > 0 else { return }
        for segment in inventory.ring.entries.prefix(count) where segment.slot != slot {
            let statement = try database.use(.deleteSegment)
            statement.bind(1, segment.slot)
            try statement.run()
        }
        inventory.ring.removeFirst(count)
    }
}

/// Levels of the ground in each minute of the last month. They are made of the pieces of the ring as they come, and
/// written once in ten minutes, together with the first piece after them; after a kill the open ten minutes are made
/// again from the ring.
extension Spool {
    /// Ten minutes each: 31 days, less where the budget is small (a row has 640 bytes).
    var levelSlots: Int64 { Int64(min(31 * 144, max(144, options.pages / 16 * 6))) }

    /// Adds a piece of the ring, in the transaction in which that is written.
    private mutating func takeLevels(_ segment: RingSegment, _ records: UnsafeRawBufferPointer) throws(SpoolError) {
        guard let unit = segment.unit, segment.end >= segment.start else { return }
        let first = StepLevels.block(at: segment.start)
        for number in first...min(first + 1, StepLevels.block(at: segment.end)) {
            if inventory.levels?.block != number {
                try storeLevels()
                inventory.levels = try row(number) ?? StepLevels(block: number)
            }
            inventory.levels?.add(records, unit: unit, with: &decoder, &samples)
        }
    }

    /// Writes the open ten minutes down, as far as they are.
    public mutating func storeLevels() throws(SpoolError) {
        guard let levels = inventory.levels, levels.samples > 0 else { return }
        try store(levels)
    }

    /// Writes ten minutes down.
    private mutating func store(_ levels: StepLevels) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            let columns = levels.columns
            let place = try place(for: levels.block)
            guard try makeRoom(columns.count, for: .state) else { return }
            let result = columns.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
                do throws(SpoolError) {
                    let statement = try database.use(.setLevels)
                    statement.bind(1, place)
                    statement.bind(2, levels.block)
                    statement.bind(3, Self.sum(levels.block, bytes))
                    statement.bind(4, bytes)
                    return .success(try statement.run())
                } catch { return .failure(error) }
            }
            try result.get()
        } catch { throw undo(error) }
    }

    /// Ten minutes by their number (see ``StepLevels/block(at:)``); nil: nothing is known of them.
    public mutating func levels(_ number: Int64) throws(SpoolError) -> StepLevels? {
        if let open = inventory.levels, open.block == number { return open }
        do throws(SpoolError) { return try row(number) } catch { throw undo(error) }
    }

    /// The two places of a row: one by its time, and one beside it for a clock that is not that of the rows before.
    func places(of number: Int64) -> [Int64] {
        let slot = (number % levelSlots + levelSlots) % levelSlots
        return [slot, slot + 1 << 32]
    }

    /// Where a row is written: over the one of a month before. One of another time stays, whatever the clock says now, if there
    /// is another place; of two of them the earlier goes.
    private func place(for number: Int64) throws(SpoolError) -> Int64 {
        var found: [(place: Int64, number: Int64?)] = []
        for place in places(of: number) {
            let row = try database.use(.levels)
            row.bind(1, place)
            found.append((place, try row.step() ? row.int64(2) : nil))
        }
        if let same = found.first(where: { $0.number == number }) { return same.place }
        let round = levelSlots
        let free = found.first { one in
            guard let stored = one.number else { return true }
            return number &- stored == round
        }
        return free?.place ?? (found[0].number ?? 0 <= found[1].number ?? 0 ? found[0] : found[1]).place
    }

    mutating func row(_ number: Int64) throws(SpoolError) -> StepLevels? {
        for place in places(of: number) {
            let row = try database.use(.levels)
            row.bind(1, place)
            guard try row.step() else { continue }
            let stored = row.int64(2)
            guard row.int64(1) == Self.sum(stored, row.blob(0)) else {
                unread += 1
                continue
            }
            // (Else those of another time.)
            if stored == number { return StepLevels(block: number, row.blob(0)) }
        }
        return nil
    }

    static func sum(_ number: Int64, _ columns: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowSum(key: number)
        sum.mix(columns)
        return sum.value
    }

    /// After the file has been opened: the ten minutes that were not written down.
    private mutating func makeLevelsAgain() throws(SpoolError) {
        guard let newest = inventory.ring.entries.last else { return }
        let number = StepLevels.block(at: newest.end)
        var made = StepLevels(block: number)
        for piece in inventory.ring.entries.reversed() {
            guard piece.start < made.end, piece.end >= made.start else { break }
            guard let unit = piece.unit, let records = try records(of: piece) else { continue }
            records.withUnsafeBytes { made.add($0, unit: unit, with: &decoder, &samples) }
        }
        let stored = try row(number)
        inventory.levels = (stored?.samples ?? 0) > made.samples ? stored : made
    }
}

/// Stored intervals of vibration, for as long as the settings ask: ten minutes are a row, which is written with each interval
/// of a minute or more. The age of a row is the time that the agent has run since, whatever the clock says; of a clock that
/// was set back it has the intervals of which more was measured.
extension Spool {
    /// Rows that are looked at, or deleted, at once.
    private static let rowsAtOnce = 64

    /// Adds an interval. One that is there already does no harm.
    public mutating func storeVibration(_ record: VibrationRecord) throws(SpoolError) {
        guard options.keepVibrationSeconds > 0 else { return }
        let number = VibrationBlock.number(at: record.start)
        if inventory.vibration.number != number {
            try storeVibration()
            let stored = try vibrationBlocks(number...number).first
            inventory.vibration.begin(
                stored ?? VibrationBlock(number: number, added: inventory.ages.ran / 1_000_000_000))
        }
        inventory.vibration.add(record)
        if inventory.vibration.isDue { try storeVibration() }
    }

    /// Writes the open ten minutes down, as far as they are.
    public mutating func storeVibration() throws(SpoolError) {
        if let block = inventory.vibration.open { try store(block) }
    }

    /// Writes ten minutes down, with what is there of them already.
    private mutating func store(_ new: VibrationBlock) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            let stored = try vibrationRow(new.number)
            var block = stored ?? new
            if stored != nil { block.add(new) }
            let columns = block.columns
            guard try write(block.number, added: block.added, VibrationBlock.format, columns, isNew: stored == nil)
            else {
                return
            }
            inventory.vibration.saved(block)
        } catch { throw undo(error) }
    }

    /// - Returns: false: there is no room.
    private mutating func write(
        _ number: Int64, added: Int64, _ format: Int64, _ columns: [UInt8], isNew: Bool
    ) throws(SpoolError) -> Bool {
        // Two or three rows of 60 s intervals are a page.
        let rowBytes = max(columns.count * 5 / 4, Database.pageBytes / 3)
        while isNew, (inventory.vibration.rows + 1) * rowBytes > options.vibrationBytes {
            guard try deleteOldestVibration(before: .max, most: 1) > 0 else { return false }
        }
        guard try makeRoom(columns.count, for: .state) else { return false }
        let result = columns.withUnsafeBytes { bytes -> Result<Void, SpoolError> in
            do throws(SpoolError) {
                let statement = try database.use(.setVibration)
                statement.bind(1, number)
                statement.bind(2, added)
                statement.bind(3, format)
                statement.bind(4, VibrationBlock.sum(number, added: added, format: format, bytes))
                statement.bind(5, bytes)
                return .success(try statement.run())
            } catch { return .failure(error) }
        }
        try result.get()
        if isNew { inventory.vibration.added() }
        return true
    }

    /// Adds the modes of a period. Such that begin in the same ten minutes take the place of those before.
    public mutating func storeModes(_ message: ModesMessage) throws(SpoolError) {
        guard options.keepVibrationSeconds > 0 else { return }
        try store(StoredModes(message, added: inventory.ages.ran / 1_000_000_000))
    }

    private mutating func store(_ modes: StoredModes) throws(SpoolError) {
        do throws(SpoolError) {
            try begin()
            // (A row keeps its age.)
            if try modesRows(modes.number...modes.number, most: 1, counts: false).first?.added != modes.added {
                try deleteVibrationIfThere(modes.number)
            }
            let isNew = try modesRows(modes.number...modes.number, most: 1, counts: false).isEmpty
            _ = try write(modes.number, added: modes.added, StoredModes.format, modes.columns, isNew: isNew)
        } catch { throw undo(error) }
    }

    private mutating func deleteVibrationIfThere(_ number: Int64) throws(SpoolError) {
        let isThere: Bool
        do {
            let row = try database.use(.vibration)
            row.bind(1, number)
            row.bind(2, number)
            row.bind(3, 1)
            isThere = try row.step()
        }
        if isThere { try deleteVibration(number) }
    }

    /// Modes of periods that begin between two times (ns of UTC), in order of time. Rows that are not as they were written
    /// count as ``unread``.
    /// - Parameter most: periods at most.
    public mutating func modes(from: Int64, to: Int64, most: Int = .max) throws(SpoolError) -> [ModesMessage] {
        do throws(SpoolError) {
            let rows = try modesRows(
                StoredModes.number(at: from)...StoredModes.number(at: to), most: most, counts: true)
            return rows.map(\.message).filter { $0.start >= from && $0.start <= to }
        } catch { throw undo(error) }
    }

    /// The modes that are followed in all stored periods.
    public mutating func followedModes() throws(SpoolError) -> FollowedModes {
        var followed = FollowedModes()
        var numbers = StoredModes.numbers
        do throws(SpoolError) {
            while true {
                let rows = try modesRows(numbers, most: Self.rowsAtOnce, counts: false)
                for row in rows { followed.recall(row.message.modes) }
                guard let last = rows.last, last.number < numbers.upperBound else { return followed }
                numbers = last.number + 1...numbers.upperBound
            }
        } catch { throw undo(error) }
    }

    private mutating func modesRows(
        _ numbers: ClosedRange<Int64>, most: Int, counts: Bool
    ) throws(SpoolError) -> [StoredModes] {
        var found: [StoredModes] = []
        let row = try database.use(.vibration)
        row.bind(1, numbers.lowerBound)
        row.bind(2, numbers.upperBound)
        row.bind(3, Int64(clamping: most))
        while try row.step() {
            if let modes = StoredModes.read(row) { found.append(modes) } else if counts { unread += 1 }
        }
        return found
    }

    /// A row; one that is not as it was written is deleted, and counted.
    private mutating func vibrationRow(_ number: Int64) throws(SpoolError) -> VibrationBlock? {
        do {
            let row = try database.use(.vibration)
            row.bind(1, number)
            row.bind(2, number)
            row.bind(3, 1)
            guard try row.step() else { return nil }
            if let block = VibrationBlock.read(row) { return block }
        }
        try deleteVibration(number)
        try countDamaged(1)
        return nil
    }

    /// Returns dose and floor of the stored intervals of the last two days that were measured in the same way.
    /// - Parameters:
    ///   - offset: hours by which local time is ahead of UTC.
    ///   - now: ns of UTC.
    public mutating func vibrationPast(
        _ measurement: VibrationMeasurement, offset: Double, now: Int64
    ) throws(SpoolError) -> VibrationPast {
        var past = VibrationPast(measurement, offset: offset)
        // (A clock may be set back by an hour at most.)
        var number = VibrationBlock.number(at: now - VibrationPast.reach)
        let last = VibrationBlock.number(at: now + 3_600_000_000_000)
        while number <= last {
            // An hour at once.
            for block in try vibrationBlocks(number...min(last, number + 5)) {
                for record in block.records { record.add(to: &past) }
            }
            number += 6
        }
        return past
    }

    /// Intervals of blocks of ten minutes (see ``VibrationBlock/number(at:)``), in order of time. Rows that are not as they
    /// were written count as ``unread``.
    /// - Parameter most: blocks at most.
    public mutating func vibrationBlocks(
        _ numbers: ClosedRange<Int64>, most: Int = .max
    ) throws(SpoolError) -> [VibrationBlock] {
        var found: [VibrationBlock] = []
        do throws(SpoolError) {
            let row = try database.use(.vibration)
            row.bind(1, numbers.lowerBound)
            row.bind(2, numbers.upperBound)
            row.bind(3, Int64(clamping: most))
            while try row.step() {
                if let block = VibrationBlock.read(row) { found.append(block) } else { unread += 1 }
            }
        } catch { throw undo(error) }
        guard let open = inventory.vibration.open, numbers.contains(open.number) else { return found }
        if let index = found.firstIndex(where: { $0.number == open.number }) {
            found[index] = open
        } else if found.count < most {
            found.insert(open, at: found.firstIndex { $0.number > open.number } ?? found.count)
        }
        return found
    }

    private mutating func deleteVibration(_ number: Int64) throws(SpoolError) {
        let statement = try database.use(.deleteVibration)
        statement.bind(1, number)
        try statement.run()
        inventory.vibration.deleted(number)
    }

    /// - Returns: false when there is more to do.
    private mutating func forgetOldVibration() throws(SpoolError) -> Bool {
        let limit = inventory.ages.ran / 1_000_000_000 - Int64(max(0, min(options.keepVibrationSeconds, 9e9)))
        guard inventory.vibration.rows > 0, limit > 0 || options.keepVibrationSeconds <= 0 else { return true }
        let before = options.keepVibrationSeconds > 0 ? limit : .max
        return try deleteOldestVibration(before: before) < Self.rowsAtOnce
    }

    /// - Parameter before: only rows that were added before this.
    /// - Returns: how many.
    private mutating func deleteOldestVibration(
        before: Int64, most: Int = Self.rowsAtOnce
    ) throws(SpoolError) -> Int {
        var numbers: [Int64] = []
        do {
            let row = try database.use(.oldestVibration)
            row.bind(1, before)
            row.bind(2, Int64(most))
            while try row.step() { numbers.append(row.int64(0)) }
        }
        for number in numbers { try deleteVibration(number) }
        return numbers.count
    }
}
