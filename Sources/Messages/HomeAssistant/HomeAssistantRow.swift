import Seismology

/// A line of the table of entities, for one axis or relation where it is for several.
struct HomeAssistantRow {
    /// `sensor`, `number` ...
    private(set) var kind = ""
    private(set) var isForRelations = false
    private(set) var isForAxes = false
    private var columns: [[UInt8]] = []
    private var subject = ""
    private var scale = ""
    private var base = ""

    static let axes = ["x", "y", "z"]

    /// One after the other, in order: each line, those for several once for each of them.
    static func all(base: String, _ body: (HomeAssistantRow) -> Void) {
        let table = HomeAssistantEntities.table
        var row = HomeAssistantRow(base: base)
        for byte in UnsafeBufferPointer(start: table.utf8Start, count: table.utf8CodeUnitCount) {
            if byte != UInt8(ascii: "\n") {
                row.take(byte)
            } else {
                row.finish()
                for one in row.each { body(one) }
                row = HomeAssistantRow(base: base)
            }
        }
        row.finish()
        for one in row.each { body(one) }
    }

    private init(base: String) {
        self.base = base
        columns = [[]]
    }

    private mutating func take(_ byte: UInt8) {
        if byte == UInt8(ascii: ";") {
            columns.append([])
        } else if byte != UInt8(ascii: " ") || !columns[columns.count - 1].isEmpty {
            columns[columns.count - 1].append(byte)
        }
    }

    private mutating func finish() {
        isForRelations = columns[0].last == UInt8(ascii: "*")
        isForAxes = columns[0].last == UInt8(ascii: "+")
        if isForAxes || isForRelations { columns[0].removeLast() }
        kind = text(0)
    }

    /// The line for each axis, or each relation there is; itself where it is not for several.
    private var each: [HomeAssistantRow] {
        if isForAxes { return Self.axes.map { with(subject: $0, scale: "") } }
        guard isForRelations else { return [self] }
        return IntensityRelation.allCases.map { relation in
            with(
                subject: relation.rawValue,
                scale: relation.scale == .mmi ? "MMI" : relation.scale == .jma ? "JMA" : "CWA")
        }
    }

    private func with(subject: String, scale: String) -> HomeAssistantRow {
        var row = self
        (row.subject, row.scale) = (subject, scale)
        return row
    }

    var key: String { text(1) }
    /// Nil: it changes none.
    var setting: String? { columns[2].count > 1 ? text(2) : nil }
    var name: String { text(3) }
    /// Below the station's.
    var topic: String { text(4) }
    /// Empty: there is no value.
    var template: String { text(5) }
    /// Members of the object.
    var others: [UInt8] { filled(6) }

    /// Whether a station has it.
    func isThere(_ station: HomeAssistantStation) -> Bool {
        if let setting, station.locked.contains(setting) { return false }
        return !isForRelations || station.relations.contains { $0.rawValue == subject }
    }

    private func text(_ column: Int) -> String { String(decoding: filled(column), as: UTF8.self) }

    private func filled(_ column: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for byte in columns[column] {
            switch byte {
            case UInt8(ascii: "$"): bytes += subject.utf8
            case UInt8(ascii: "^"): bytes += scale.utf8
            case UInt8(ascii: "~"): bytes += base.utf8
            case UInt8(ascii: "@"): HomeAssistantEntities.filters.withUTF8Buffer { bytes += $0 }
            default: bytes.append(byte)
            }
        }
        return bytes
    }
}
