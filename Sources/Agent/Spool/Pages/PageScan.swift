import Glibc
import Platform

/// The rows of a damaged database, found page by page. The trees only serve to tell pages in use from those that were
/// freed: a damaged node hides nothing. Each row counts by its own checksum.
final class PageScan {
    /// Where a row is.
    struct Place {
        var key: Int64
        var page: Int
        var offset: Int
    }

    let file: PageFile
    /// Places of each kind, each key once.
    private(set) var places: [RowKind: [Place]] = [:]
    /// Rows that were there and are not as they were written: keys of messages, and how many others.
    private(set) var lostMessages: Set<Int64> = []
    private(set) var lostOthers = 0
    /// There are pages of which nobody knows what was in them.
    private(set) var isUnknown = false
    /// Rows of version 2 and before: their checksums do not tell what became of a message.
    private var isOld = false
    private var known: [RowKind: Set<Int64>] = [:]
    private var mended: [Int: Page] = [:]
    /// Pages that continue rows.
    private var continuing: Set<Int> = []
    /// Pages of which bits were tried.
    private static let mostMendings = 8
    private var mendings = 0
    /// Rows of which bits of the number were tried.
    private static let mostNumbers = 64
    private var numbers = 0
    /// Every row that is read is in use.
    private var isTreeWhole = false
    private var last: (number: Int, page: Page)?

    /// Seconds that the search may take: 1 GB of a slow card; what is found later is left in the file.
    private static let patience = 60
    private let end = seconds() + patience

    private static func seconds() -> Int { Int(HostClock.monotonic() / 1_000_000_000) }

    init(_ file: PageFile) {
        self.file = file
        guard file.count > 1 else {
            isUnknown = true
            return
        }
        let head = file.read(1).map { Page($0) }
        isOld = (head?.number(60) ?? 3) < 3
        let tree = PageTree(file, head)
        isTreeWhole = tree.isWhole
        let free = tree.isWhole ? [] : PageTree.free(file, head).subtracting(tree.pages)
        var suspects: [Int] = []
        var next = 2
        while next <= file.count {
            let number = next
            next += 1
            if tree.isWhole ? !tree.pages.contains(number) : free.contains(number) { continue }
            guard number % 256 != 0 || Self.seconds() < end else {
                isUnknown = true
                break
            }
            guard let page = page(number) else {
                isUnknown = true
                continue
            }
            guard let kind = page.kind, let cells = page.cells() else {
                if page.isEmpty {
                    (isUnknown, next) = (true, file.next(after: number))
                } else {
                    suspects.append(number)
                }
                continue
            }
            if kind != .tableNode { take(cells, of: page, kind, number) }
        }
        for number in suspects where !continuing.contains(number) {
            guard Self.seconds() < end else {
                isUnknown = true
                break
            }
            repair(number)
        }
        known = [:]
    }

    // MARK: Reading

    func page(_ number: Int) -> Page? {
        if let page = mended[number] { return page }
        if let last, last.number == number { return last.page }
        guard let page = file.read(number).map({ Page($0) }) else { return nil }
        last = (number, page)
        return page
    }

    /// The row at a place, when it is as it was written.
    func row(_ place: Place, isFact: Bool) -> PageRecord? {
        guard let page = page(place.page), let kind = page.kind,
            let cell = page.cell(isFact ? kind : .tableLeaf, at: place.offset)
        else { return nil }
        return record(cell, of: page)
    }

    private func record(_ cell: Page.Cell, of page: Page) -> PageRecord? {
        guard cell.total > 0, cell.total < 64 << 20 else { return nil }
        var bytes = Array(page.bytes[cell.start..<cell.start + cell.local])
        var next = cell.overflow
        while bytes.count < cell.total {
            guard next > 1, let more = file.read(next) else { return nil }
            continuing.insert(next)
            bytes += more[4..<4 + min(more.count - 4, cell.total - bytes.count)]
            next = Page(more).number(0)
        }
        return PageRecord(bytes, key: cell.key)
    }

    private func isWhole(_ record: PageRecord, _ kind: RowKind) -> Bool {
        switch kind {
        case .message: StoredMessage.read(record, isOld: isOld) != nil
        case .segment: RingSegment.read(record) != nil
        case .levels: StepLevels.read(record) != nil
        case .vibration: VibrationBlock.read(record) != nil || StoredModes.read(record) != nil
        case .fact: record.int64(2) == record.blob(1).withUnsafeBytes { StoredMessage.checksum(record.text(0), $0) }
        }
    }

    func message(_ place: Place) -> (message: StoredMessage, state: Int)? {
        row(place, isFact: false).flatMap { StoredMessage.read($0, isOld: isOld) }
    }

    // MARK: Taking

    private func add(_ kind: RowKind, _ place: Place, _ record: PageRecord) {
        // (A fact has no number: its name is looked up when it is taken over. Of vibration there may be what a row was
        // before it grew: the rows are put together. Segments and levels have numbers beside that of their row, which
        // no check sum covers.)
        let number = kind == .segment || kind == .levels ? record.int64(1) : place.key
        guard kind == .fact || kind == .vibration || known[kind, default: []].insert(number).inserted else { return }
        places[kind, default: []].append(place)
        if case .message = kind, lostMessages.remove(place.key) != nil, isTreeWhole { isUnknown = true }
    }

    /// A row whose number is wrong by one bit stands under another, which may be that of a good row: turns the bit back.
    /// - Returns: whether that makes it what was written; it has been taken then.
    private func mendNumber(of cell: Page.Cell, on number: Int, _ damaged: Page) -> Bool {
        var (page, start) = (mended[number] ?? damaged, cell.offset)
        // (The number stands between the length and the record.)
        guard numbers < Self.mostNumbers, Page.number(page.bytes, &start) != nil else { return false }
        numbers += 1
        let before = continuing
        for place in start..<cell.start {
            for bit in 0..<8 {
                page.bytes[place] ^= 1 << bit
                if let cell = page.cell(.tableLeaf, at: cell.offset), let record = record(cell, of: page),
                    let row = record.kind, row != .fact, isWhole(record, row)
                {
                    mended[number] = page
                    add(row, Place(key: cell.key, page: number, offset: cell.offset), record)
                    return true
                }
                page.bytes[place] ^= 1 << bit
            }
        }
        continuing = before
        return false
    }

    private func take(_ cells: [Page.Cell], of page: Page, _ kind: Page.Kind, _ number: Int) {
        var bad: [(Page.Cell, RowKind?)] = []
        var (kinds, hasEntries) = (Set<RowKind>(), false)
        for cell in cells {
            let record = record(cell, of: page)
            let row = record?.kind
            if let record, let row, kind.isTable == (row != .fact), isWhole(record, row) {
                add(row, Place(key: cell.key, page: number, offset: cell.offset), record)
                kinds.insert(row)
            } else if !kind.isTable, let record, record.isIndexEntry {
                hasEntries = true
            } else {
                bad.append((cell, kind.isTable ? row : nil))
            }
        }
        // Entries of an index say nothing that the rows do not.
        if hasEntries, kinds.isEmpty { return }
        for (cell, row) in bad where kind != .tableLeaf || !mendNumber(of: cell, on: number, page) {
            switch row ?? kinds.first {
            case .message:
                if !known.contains(where: { $0.value.contains(cell.key) }) {
                    lostMessages.insert(cell.key)
                } else if isTreeWhole {
                    isUnknown = true
                }
            case .segment, .levels, .vibration, .fact: lostOthers += 1
            case nil: isUnknown = true
            }
        }
    }

    // MARK: Damaged pages

    /// A page that is not divided as it should be: tries which single bit makes it so, and gives the most rows; else looks
    /// for a row at each of its bytes.
    private func repair(_ number: Int) {
        guard let damaged = page(number) else { return }
        var (best, most) = (Page?.none, -1)
        var page = damaged
        // (More pages than a few are not damaged by single bits.)
        mendings += 1
        for place in mendings <= Self.mostMendings ? damaged.structure() : [] {
            for bit in 0..<8 {
                page.bytes[place] = damaged.bytes[place] ^ 1 << bit
                defer { page.bytes[place] = damaged.bytes[place] }
                guard let kind = page.kind, let cells = page.cells() else { continue }
                let good = cells.count { cell in
                    if kind == .tableNode { return (2...file.count).contains(cell.child) }
                    guard let record = record(cell, of: page) else { return false }
                    if !kind.isTable, record.isIndexEntry { return true }
                    return record.kind.map { isWhole(record, $0) } ?? false
                }
                if good > most { (best, most) = (page, good) }
            }
        }
        if let best, let kind = best.kind, let cells = best.cells(), most > 0 || cells.isEmpty {
            mended[number] = best
            if kind != .tableNode { take(cells, of: best, kind, number) }
            return
        }
        // What continues a row that cannot be read begins with the number of the next page, or with 0.
        if damaged.bytes[0] != 0 { isUnknown = true }
        carve(damaged, number)
    }

    private func carve(_ page: Page, _ number: Int) {
        for offset in 0..<page.bytes.count - 4 where page.bytes[offset] != 0 {
            for kind in [Page.Kind.tableLeaf, .indexLeaf] {
                guard let cell = page.cell(kind, at: offset), cell.local > 4, (4...40).contains(page.bytes[cell.start]),
                    PageRecord(Array(page.bytes[cell.start..<cell.start + cell.local]), key: cell.key, of: cell.total)?
                        .kind.map({ ($0 == .fact) == (kind == .indexLeaf) }) == true,
                    let record = record(cell, of: page), let row = record.kind, isWhole(record, row)
                else { continue }
                if kind == .indexLeaf {
                    var made = page
                    made.bytes[0] = kind.rawValue
                    if mended[number] == nil { mended[number] = made }
                }
                add(row, Place(key: cell.key, page: number, offset: offset), record)
            }
        }
    }
}

extension PageRecord {
    /// Whether it is an entry of one of our indices.
    var isIndexEntry: Bool {
        count == 2 && isInt(0) && isInt(1) || count == 3 && (isBytes(0) || isNull(0)) && isInt(2) && !isBytes(1)
    }
}
