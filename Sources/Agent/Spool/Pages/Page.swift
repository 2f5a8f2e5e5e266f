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
