import MiniSEED

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
    func isText(_ column: Int) -> Bool { columns[column].type >= 13 && columns[column].type % 2 == 1 }
    func isBlob(_ column: Int) -> Bool { columns[column].type >= 12 && columns[column].type % 2 == 0 }

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
        case 13 where isNull(0) && isText(3) && isText(7) && isInt(11) && isBlob(12):
            return Table(rawValue: Int(key & 3)).map { .message($0) }
        case 9 where isNull(0) && isInt(7) && isBlob(8), 10 where isNull(0) && isInt(7) && isBlob(8): return .segment
        case 4 where isNull(0) && isInt(2) && isBlob(3): return .levels
        case 5 where isNull(0) && isInt(3) && isBlob(4): return .vibration
        case 3 where isText(0) && isBlob(1) && isInt(2): return .fact
        default: return nil
        }
    }
}

/// Kind of a row.
enum RowKind: Hashable {
    case message(Table)
    case segment, levels, vibration, fact
}
