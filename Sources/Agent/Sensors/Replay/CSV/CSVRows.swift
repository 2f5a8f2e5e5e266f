import Instruments
import SignalProcessing

/// One line of a recording.
struct CSVRow: Equatable {
    /// Nanoseconds since 1970-01-01.
    var time: Int64
    /// Smallest step of the time's text in nanoseconds.
    var quantum: Int64
    /// m/s².
    var x: Double
    var y: Double
    var z: Double
}

/// The rows of a CSV file, one after the other, each checked: as many columns as the header names, finite numbers, a
/// time that does not go back.
///
/// Columns are separated by commas, semicolons, tabs or blanks; which, is seen from the first line that is not a
/// comment. That line may be a header, which says which columns are t, x, y and z, and in which unit; without one there
/// are four, in this order. Lines that are empty or start with `#` are passed over.
struct CSVRows {
    enum Separator { case comma, semicolon, tab, blank }

    let path: String
    private let settings: ReplaySettings
    private let isUnitGiven: Bool
    private var lines: LineReader
    private var separator: Separator?
    private(set) var columns = CSVColumns()
    /// m/s² per unit of each column.
    private var factor: (x: Double, y: Double, z: Double)
    private var last: (time: Int64, absolute: Bool)?
    /// Nanoseconds of the midnights that times of day have passed.
    private var days: Int64 = 0
    /// Line of the first row that has the same time as the one above.
    private(set) var firstRepeatedTime: Int?
    private var fields = CSVFields()

    /// - Parameter isUnitGiven: somebody has said `settings.unit`; it is not the default.
    init(_ file: RecordingFile, settings: ReplaySettings, isUnitGiven: Bool = false) {
        path = file.path
        lines = LineReader(file)
        (self.settings, self.isUnitGiven) = (settings, isUnitGiven)
        let unit = settings.unit.factor
        let scale = settings.scale ?? PerAxis(1)
        factor = (scale.x * unit, scale.y * unit, scale.z * unit)
    }

    /// Back to the first row.
    mutating func rewind() {
        lines.rewind()
        separator = nil
        last = nil
        days = 0
    }

    /// The next row; nil at the end.
    mutating func next() throws(SensorError) -> CSVRow? {
        while true {
            let (known, columns) = (separator, self.columns)
            // (Moved out and in again: a copy would be an allocation for each line.)
            var fields = self.fields
            self.fields = CSVFields()
            guard let line = try lines.next({ Self.read($0, known, columns, &fields) }) else { return nil }
            self.fields = fields
            switch line {
            case .empty: continue
            case .header(let found, let columns):
                separator = found
                self.columns = columns
                do throws(CSVColumns.Failure) {
                    factor = try columns.factors(settings, isUnitGiven: isUnitGiven)
                } catch { throw fail(error.text) }
            case .wrong(let reason):
                throw fail(reason.text)
            case .row(let found, let stamp, let x, let y, let z):
                separator = found
                return try row(stamp, x, y, z)
            }
        }
    }

    /// An error that names file and line.
    func fail(_ reason: String, line: Int? = nil) -> SensorError {
        SensorError(.format, "\(path):\(line ?? lines.number): \(reason)")
    }

    private mutating func row(
        _ stamp: StampedTime, _ x: Double, _ y: Double, _ z: Double
    ) throws(SensorError) -> CSVRow {
        var time = stamp.nanoseconds
        guard time.magnitude < 9_000_000_000_000_000_000 else { throw fail("the time is out of range") }
        if let last {
            guard last.absolute == stamp.absolute else {
                throw fail("seconds from a start and absolute times are mixed")
            }
            if stamp.isOfDay {
                time += days
                if time < last.time - Self.halfDay {
                    days += 2 * Self.halfDay
                    time += 2 * Self.halfDay
                }
            }
            guard time >= last.time else { throw fail(Self.backwards(last.time - time)) }
            if time == last.time, firstRepeatedTime == nil { firstRepeatedTime = lines.number }
        }
        last = (time, stamp.absolute)
        return CSVRow(time: time, quantum: stamp.quantum, x: x * factor.x, y: y * factor.y, z: z * factor.z)
    }

    private static let halfDay: Int64 = 43_200_000_000_000

    /// The sentence on a time that is so many nanoseconds before the one above.
    static func backwards(_ nanoseconds: Int64) -> String {
        "the time does not increase: \(Double(nanoseconds) / 1e9) s before the line above"
    }

    /// A sentence made only where it is needed.
    struct Reason {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private enum Line {
        case empty
        case header(Separator, CSVColumns)
        case row(Separator, StampedTime, Double, Double, Double)
        case wrong(Reason)
    }

    /// Takes one line apart. Without a known separator it is the first, and may be a header.
    private static func read(
        _ line: UnsafeRawBufferPointer, _ known: Separator?, _ columns: CSVColumns, _ fields: inout CSVFields
    ) -> Line {
        let text = trimmed(line, tabs: known != .tab)
        guard let first = text.first, first != 0x23 else { return .empty }
        let separator = known ?? guess(text, &fields)
        fields.split(text, separator)
        if known == nil {
            let first = fields.field(text, 0)
            // (No name for the first column: a table whose rows are numbered.)
            let others = 1..<max(1, fields.count)
            if isName(first) || first.isEmpty && others.contains(where: { isName(fields.field(text, $0)) }) {
                return header(text, separator, fields)
            }
        }
        var count = fields.count
        // A separator at the end of each line, as some programs write it.
        if count == columns.count + 1, fields.field(text, count - 1).isEmpty { count -= 1 }
        guard count == columns.count else {
            let number = count > 64 ? "more than 64" : "\(count)"
            let wanted = columns.names.isEmpty ? "four: t, x, y, z" : "\(columns.count), as in the header"
            return .wrong(.init("\(number) column\(count == 1 ? "" : "s"), there must be \(wanted)"))
        }
        let time = fields.field(text, columns.places[0])
        guard let stamp = TimeText.parse(time, unit: columns.timeUnit) else {
            return .wrong(.init("t is neither seconds nor a date with time: \"\(shown(time))\""))
        }
        do throws(ColumnFailure) {
            return .row(
                separator, stamp, try number(fields.field(text, columns.places[1]), "x"),
                try number(fields.field(text, columns.places[2]), "y"),
                try number(fields.field(text, columns.places[3]), "z"))
        } catch {
            return .wrong(.init(error.text))
        }
    }

    private struct ColumnFailure: Error { var text: String }

    private static func number(_ text: UnsafeRawBufferPointer, _ name: String) throws(ColumnFailure) -> Double {
        do throws(NumberText.Failure) {
            return try NumberText.double(text, decimalComma: true)
        } catch {
            switch error {
            case .notFinite: throw ColumnFailure(text: "\(name) is not a finite number: \"\(shown(text))\"")
            case .notANumber: throw ColumnFailure(text: "\(name) is not a number: \"\(shown(text))\"")
            }
        }
    }

    /// A header names the columns; one from which it does not follow which is which is refused.
    private static func header(_ text: UnsafeRawBufferPointer, _ separator: Separator, _ fields: CSVFields) -> Line {
        var names: [String] = []
        for number in 0..<fields.count {
            let field = fields.field(text, number)
            // (An empty name at the end: a separator behind the last column.)
            if field.isEmpty, number == fields.count - 1 { continue }
            names.append(shownName(field))
        }
        guard fields.count <= CSVFields.most else { return .wrong(.init("more than \(CSVFields.most) columns")) }
        let scalars = String(decoding: text, as: UTF8.self).unicodeScalars
        guard scalars.allSatisfy({ $0.value >= 0x20 && $0 != "\u{FFFD}" || $0 == "\t" }) else {
            return .wrong(.init("the header is no text: \"\(shown(fields.field(text, 0)))\""))
        }
        do throws(CSVColumns.Failure) { return .header(separator, try CSVColumns(header: names)) } catch {
            return .wrong(.init(error.text))
        }
    }

    /// Starts with a letter and is not a number such as `nan`.
    private static func isName(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let first = field.first else { return false }
        let letter = first | 0x20
        guard letter >= 0x61 && letter <= 0x7A || first >= 0x80 else { return false }
        do throws(NumberText.Failure) {
            _ = try NumberText.double(field)
            return false
        } catch {
            if case .notFinite = error { return false }
            return true
        }
    }

    private static func guess(_ text: UnsafeRawBufferPointer, _ fields: inout CSVFields) -> Separator {
        if text.contains(0x3B) { return .semicolon }
        if text.contains(0x09) {
            fields.split(text, .tab)
            if fields.count >= 4 { return .tab }
        }
        return text.contains(0x2C) ? .comma : .blank
    }

    fileprivate static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    fileprivate static func trimmed(_ text: UnsafeRawBufferPointer, tabs: Bool = true) -> UnsafeRawBufferPointer {
        var (first, last) = (0, text.count)
        while first < last, text[first] == 0x20 || tabs && text[first] == 0x09 { first += 1 }
        while last > first, text[last - 1] == 0x20 || tabs && text[last - 1] == 0x09 { last -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[first..<last])
    }

    /// A text from outside, fit for a message.
    private static func shown(_ text: UnsafeRawBufferPointer) -> String {
        String(decoding: text.prefix(32).map { $0 >= 0x20 && $0 < 0x7F ? $0 : 0x3F }, as: UTF8.self)
    }

    /// The same of a name, which may have letters beyond ASCII (µ, ², °).
    private static func shownName(_ text: UnsafeRawBufferPointer) -> String {
        String(
            String(decoding: text.prefix(64), as: UTF8.self).unicodeScalars.map {
                $0.value >= 0x20 && $0.value != 0x7F && $0.value != 0xFFFD ? Character($0) : "?"
            })
    }
}

/// Where the columns of one line lie. Kept from line to line, so that none is allocated for each.
struct CSVFields {
    /// Columns that are kept.
    static let most = 256

    private var ranges: [Range<Int>] = []
    /// Columns of the line.
    private(set) var count = 0

    /// One column, without blanks and quotation marks around it.
    func field(_ text: UnsafeRawBufferPointer, _ number: Int) -> UnsafeRawBufferPointer {
        guard number < ranges.count else { return UnsafeRawBufferPointer(rebasing: text[0..<0]) }
        let field = CSVRows.trimmed(UnsafeRawBufferPointer(rebasing: text[ranges[number]]))
        guard field.count >= 2, field.first == 0x22, field.last == 0x22 else { return field }
        return CSVRows.trimmed(UnsafeRawBufferPointer(rebasing: field[1..<field.count - 1]))
    }

    /// Finds the columns; a separator within quotation marks is none.
    mutating func split(_ text: UnsafeRawBufferPointer, _ separator: CSVRows.Separator) {
        ranges.removeAll(keepingCapacity: true)
        count = 0
        var (start, index, isQuoted) = (0, 0, false)
        while index < text.count {
            let byte = text[index]
            let ends: Bool
            switch separator {
            case .comma: ends = byte == 0x2C
            case .semicolon: ends = byte == 0x3B
            case .tab: ends = byte == 0x09
            case .blank: ends = CSVRows.isBlank(byte)
            }
            if byte == 0x22 {
                isQuoted.toggle()
            } else if ends, !isQuoted {
                keep(start..<index)
                if separator == .blank {
                    while index + 1 < text.count, CSVRows.isBlank(text[index + 1]) { index += 1 }
                }
                start = index + 1
            }
            index += 1
        }
        keep(start..<text.count)
    }

    private mutating func keep(_ range: Range<Int>) {
        if count < Self.most { ranges.append(range) }
        count += 1
    }
}
