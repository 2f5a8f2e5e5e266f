import Glibc
import MiniSEED

/// A page of SQLite's file (sqlite.org/fileformat2.html) as nodes of trees have it. Whatever is in it: nothing outside of it
/// is read.
struct Page {
    enum Kind: UInt8 {
        case indexNode = 2
        case tableNode = 5
        case indexLeaf = 10
        case tableLeaf = 13

        var isLeaf: Bool { self == .indexLeaf || self == .tableLeaf }
        var isTable: Bool { self == .tableNode || self == .tableLeaf }
        var headBytes: Int { isLeaf ? 8 : 12 }
    }

    /// A row, or an entry of an index, as far as it stands in its page.
    struct Cell {
        var offset: Int
        /// Bytes in this page.
        var count = 0
        /// Page of smaller entries.
        var child = 0
        /// Number of a row in a table.
        var key: Int64 = 0
        /// Bytes of the row's record, of these in this page, and the place of the first.
        var total = 0
        var local = 0
        var start = 0
        /// The first page with more of the record; 0: all is here.
        var overflow = 0
    }

    var bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isEmpty: Bool { bytes.withUnsafeBytes { $0.allSatisfy { $0 == 0 } } }

    var kind: Kind? { Kind(rawValue: bytes[0]) }
    /// Page of the largest entries of a node.
    var lastChild: Int { number(8) }

    func short(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }

    func number(_ offset: Int) -> Int { short(offset) << 16 | short(offset + 2) }

    /// A number of up to nine bytes, and the place behind it.
    static func number(_ bytes: [UInt8], _ offset: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset < bytes.count else { return nil }
            let byte = bytes[offset]
            offset += 1
            if index == 8 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        return nil
    }

    /// Cell of a kind of page at a place; nil: there is none.
    func cell(_ kind: Kind, at offset: Int) -> Cell? {
        var cell = Cell(offset: offset)
        var place = offset
        let end = bytes.count
        if !kind.isLeaf {
            guard place + 4 <= end else { return nil }
            cell.child = number(place)
            place += 4
        }
        if kind == .tableNode {
            guard let key = Self.number(bytes, &place) else { return nil }
            cell.key = Int64(bitPattern: key)
            cell.count = max(4, place - offset)
            return cell
        }
        guard let total = Self.number(bytes, &place), total < 1 << 31 else { return nil }
        cell.total = Int(total)
        if kind == .tableLeaf {
            guard let key = Self.number(bytes, &place) else { return nil }
            cell.key = Int64(bitPattern: key)
        }
        cell.start = place
        let most = kind.isTable ? end - 35 : (end - 12) * 64 / 255 - 23
        cell.local = cell.total
        if cell.total > most {
            let least = (end - 12) * 32 / 255 - 23
            let wanted = least + (cell.total - least) % (end - 4)
            cell.local = wanted <= most ? wanted : least
            guard place + cell.local + 4 <= end else { return nil }
            cell.overflow = number(place + cell.local)
            place += 4
        }
        place += cell.local
        cell.count = max(4, place - offset)
        guard offset + cell.count <= end else { return nil }
        return cell
    }

    /// The cells of a node of which every byte is accounted for, in their order; nil: something is wrong with it.
    func cells() -> [Cell]? {
        guard let kind else { return nil }
        let head = kind.headBytes
        let (count, fragments) = (short(3), Int(bytes[7]))
        let begin = short(5) == 0 ? 65_536 : short(5)
        guard head + 2 * count <= begin, begin <= bytes.count else { return nil }
        var used: [(Int, Int)] = []
        used.reserveCapacity(count + 8)
        var cells: [Cell] = []
        cells.reserveCapacity(count)
        var sum = fragments
        for index in 0..<count {
            let offset = short(head + 2 * index)
            guard offset >= begin, offset + 4 <= bytes.count, let cell = cell(kind, at: offset) else { return nil }
            if kind.isTable, let last = cells.last, last.key >= cell.key { return nil }
            sum += cell.count
            guard sum <= bytes.count - begin else { return nil }
            used.append((offset, cell.count))
            cells.append(cell)
        }
        var free = short(1)
        var before = 0
        while free != 0 {
            guard free >= begin, free > before, free + 4 <= bytes.count else { return nil }
            let size = short(free + 2)
            guard size >= 4, free + size <= bytes.count else { return nil }
            sum += size
            used.append((free, size))
            before = free + size - 1
            free = short(free)
        }
        guard sum == bytes.count - begin else { return nil }
        used.sort { $0.0 < $1.0 }
        for (one, next) in zip(used, used.dropFirst()) where one.0 + one.1 > next.0 { return nil }
        return cells
    }

    /// Bits that say how the page is divided, as it stands: those whose change may make a damaged one whole.
    func structure() -> [Int] {
        var places = Set(0..<12)
        let head = kind?.headBytes ?? 12
        let most = max(0, min(short(3), (bytes.count - head) / 2, 256)) + 1
        for index in 0..<most where head + 2 * index + 1 < bytes.count {
            places.formUnion([head + 2 * index, head + 2 * index + 1])
            let offset = short(head + 2 * index)
            if offset < bytes.count { places.formUnion(offset..<min(bytes.count, offset + 14)) }
        }
        var free = short(1)
        for _ in 0..<32 where free > 0 && free + 4 <= bytes.count {
            places.formUnion(free..<free + 4)
            free = short(free)
        }
        return places.sorted()
    }
}

/// The pages of a database and its log, past SQLite: for reading what SQLite cannot read any more. Nobody may write to the
/// files meanwhile.
final class PageFile {
    static let pageBytes = Database.pageBytes

    /// SEEK_DATA of Linux, which Glibc's module does not have.
    private static let seekData: Int32 = 3

    private let file: Int32
    private let log: LogScan?
    /// Frames of the log that hold a page's newest version.
    private let frames: [Int: Int]
    /// Pages of the file and its log.
    let count: Int
    /// Pages that could not be read at the second attempt either.
    private(set) var unreadable: Set<Int> = []

    /// Files by their name. Nil: there is nothing.
    convenience init?(_ path: String) {
        func open(_ path: String) -> Int32 { Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) }
        self.init(file: open(path), log: open(path + "-wal"))
    }

    /// Takes the descriptors over.
    init?(file: Int32, log: Int32) {
        self.file = file
        self.log = LogScan(file: log)
        frames = self.log?.newest() ?? [:]
        var status = stat()
        let isFile = file >= 0 && fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        let size = isFile ? Int(status.st_size) : 0
        // (64 GB: more than any budget.)
        count = min(max((size + Self.pageBytes - 1) / Self.pageBytes, frames.keys.max() ?? 0), 1 << 24)
        guard count > 0 else { return nil }
    }

    deinit { if file >= 0 { close(file) } }

    /// The next page, after one of zeros, for which the file has room on the disk or its log has a frame.
    func next(after number: Int) -> Int {
        let data = lseek(file, off_t(number * Self.pageBytes), Self.seekData)
        let next = data < 0 ? count + 1 : max(number + 1, Int(data) / Self.pageBytes + 1)
        return min(next, frames.keys.filter { $0 > number }.min() ?? next)
    }

    /// A page by its number, from 1; nil: it cannot be read, or there is none. Of a file that is cut short the rest is
    /// zeros.
    func read(_ number: Int) -> [UInt8]? {
        guard number > 0, number <= count else { return nil }
        if let frame = frames[number] { return log?.page(of: frame) }
        for _ in 0..<2 {
            var read = 0
            let page = [UInt8](unsafeUninitializedCapacity: Self.pageBytes) { buffer, filled in
                read = pread(file, buffer.baseAddress, Self.pageBytes, off_t((number - 1) * Self.pageBytes))
                for place in max(0, read)..<Self.pageBytes { buffer[place] = 0 }
                filled = Self.pageBytes
            }
            if read > 0 { return page }
        }
        unreadable.insert(number)
        return nil
    }
}

/// A row as SQLite has it in its pages: the types of its columns, and then their values.
struct PageRecord {
    /// Number of the row in its table.
    let key: Int64
    private let bytes: [UInt8]
    private var columns: [(type: Int, offset: Int)] = []

    /// Nil when the bytes are none.
    /// - Parameter total: bytes of all of it, when only the beginning is here: then only its shape is known.
    init?(_ bytes: [UInt8], key: Int64, of total: Int? = nil) {
        self.bytes = bytes
        self.key = key
        var place = 0
        guard let head = Page.number(bytes, &place), head <= UInt64(bytes.count) else { return nil }
        var offset = Int(head)
        while place < Int(head) {
            guard columns.count < 16, let type = Page.number(bytes, &place), type < 1 << 32,
                let length = Self.length(Int(type))
            else { return nil }
            columns.append((Int(type), offset))
            offset += length
        }
        guard place == Int(head), offset == total ?? bytes.count else { return nil }
    }

    private static func length(_ type: Int) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: type
        case 5: 6
        case 6, 7: 8
        case 10, 11: nil
        default: (type - 12) / 2
        }
    }

    var count: Int { columns.count }

    func isNull(_ column: Int) -> Bool { columns[column].type == 0 }
    func isInt(_ column: Int) -> Bool { (1...9).contains(columns[column].type) && columns[column].type != 7 }
    func isNumber(_ column: Int) -> Bool { (1...9).contains(columns[column].type) }
    /// A text or a blob: one bit tells which.
    func isBytes(_ column: Int) -> Bool { columns[column].type >= 12 }

    private func word(_ column: Int) -> UInt64 {
        let (type, offset) = columns[column]
        guard let length = Self.length(type), length > 0, length <= 8 else { return type == 9 ? 1 : 0 }
        let first = type != 7 && bytes[offset] >= 0x80 ? UInt64.max : 0
        return bytes[offset..<offset + length].reduce(first) { $0 << 8 | UInt64($1) }
    }

    func int64(_ column: Int) -> Int64 { isInt(column) ? Int64(bitPattern: word(column)) : 0 }
    func int(_ column: Int) -> Int { Int(int64(column)) }

    func double(_ column: Int) -> Double {
        columns[column].type == 7 ? Double(bitPattern: word(column)) : Double(int64(column))
    }

    func blob(_ column: Int) -> ArraySlice<UInt8> {
        let (type, offset) = columns[column]
        return type < 12 ? [] : bytes[offset..<offset + (type - 12) / 2]
    }

    func text(_ column: Int) -> String { String(decoding: blob(column), as: UTF8.self) }

    /// Which table a row is of, by its shape; nil: of none of ours.
    var kind: RowKind? {
        switch count {
        case 13 where isNull(0) && isBytes(3) && isBytes(7) && isInt(11) && isBytes(12):
            return Table(rawValue: Int(key & 3)).map { .message($0) }
        case 9 where isNull(0) && isInt(7) && isBytes(8), 10 where isNull(0) && isInt(7) && isBytes(8): return .segment
        case 4 where isNull(0) && isInt(2) && isBytes(3): return .levels
        case 5 where isNull(0) && isInt(3) && isBytes(4): return .vibration
        case 3 where isBytes(0) && isBytes(1) && isInt(2): return .fact
        default: return nil
        }
    }
}

/// Kind of a row.
enum RowKind: Hashable {
    case message(Table)
    case segment, levels, vibration, fact
}

/// Which pages of a database are in use, and which are free.
struct PageTree {
    private(set) var pages: Set<Int> = []
    /// True while every page in use has been found.
    private(set) var isWhole = true

    init(_ file: PageFile, _ head: Page?) {
        guard let head else {
            isWhole = false
            return
        }
        // (The first page has the file's own head before that of the tree of the tables.)
        let count = head.short(103)
        var roots: [Int] = []
        for index in 0..<min(count, 64) {
            let offset = head.short(108 + 2 * index)
            guard let cell = head.cell(.tableLeaf, at: offset), cell.overflow == 0,
                let record = PageRecord(Array(head.bytes[cell.start..<cell.start + cell.local]), key: cell.key),
                record.count == 5, record.isInt(3)
            else { continue }
            if record.int(3) > 0 { roots.append(record.int(3)) }
        }
        isWhole = head.bytes[100] == Page.Kind.tableLeaf.rawValue && roots.count == Schema.statements.count
        var waiting = roots
        while let number = waiting.popLast() {
            guard (2...file.count).contains(number), pages.insert(number).inserted,
                let page = file.read(number).map({ Page($0) }), let kind = page.kind, let cells = page.cells()
            else {
                isWhole = false
                continue
            }
            if !kind.isLeaf {
                waiting += cells.map(\.child)
                waiting.append(page.lastChild)
            }
            for cell in cells where cell.overflow != 0 { follow(cell, file) }
        }
    }

    private mutating func follow(_ cell: Page.Cell, _ file: PageFile) {
        var (next, rest) = (cell.overflow, cell.total - cell.local)
        while rest > 0 {
            guard (2...file.count).contains(next), pages.insert(next).inserted, let page = file.read(next) else {
                isWhole = false
                return
            }
            rest -= page.count - 4
            next = Page(page).number(0)
        }
        if next != 0 { isWhole = false }
    }

    /// The list of free pages, as far as it can be read.
    static func free(_ file: PageFile, _ head: Page?) -> Set<Int> {
        var free: Set<Int> = []
        guard let head else { return free }
        var trunk = head.number(32)
        while (2...file.count).contains(trunk), free.insert(trunk).inserted,
            let page = file.read(trunk).map({ Page($0) })
        {
            let count = page.number(4)
            guard count <= page.bytes.count / 4 - 2 else { break }
            for index in 0..<count { free.insert(page.number(8 + 4 * index)) }
            trunk = page.number(0)
        }
        return free
    }
}
