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

/// The rows of a CSV file `t,x,y,z`, one after the other, each checked: four columns, finite numbers, rising time.
///
/// Columns are separated by commas, semicolons, or blanks; which, is seen from the first line that is not a comment.
/// That line may be a header. Lines that are empty or start with `#` are passed over.
struct CSVRows {
    enum Separator { case comma, semicolon, blank }

    let path: String
    private var lines: LineReader
    private var separator: Separator?
    /// m/s² per unit of each column.
    private let factor: (x: Double, y: Double, z: Double)
    private var last: (time: Int64, absolute: Bool)?

    init(_ file: RecordingFile, settings: ReplaySettings) {
        path = file.path
        lines = LineReader(file)
        let unit = settings.unit.factor
        let scale = settings.scale ?? PerAxis(1)
        factor = (scale.x * unit, scale.y * unit, scale.z * unit)
    }

    /// Back to the first row.
    mutating func rewind() {
        lines.rewind()
        separator = nil
        last = nil
    }

    /// The next row; nil at the end.
    mutating func next() throws(SensorError) -> CSVRow? {
        while true {
            let known = separator
            guard let line = try lines.next({ Self.read($0, separator: known) }) else { return nil }
            switch line {
            case .empty: continue
            case .header(let found):
                separator = found
                continue
            case .wrong(let reason):
                throw fail(reason)
            case .row(let found, let stamp, let x, let y, let z):
                separator = found
                return try row(stamp, x, y, z)
            }
        }
    }

    private func fail(_ reason: Reason) -> SensorError {
        SensorError(.format, "\(path):\(lines.number): \(reason.text)")
    }

    private mutating func row(
        _ stamp: StampedTime, _ x: Double, _ y: Double, _ z: Double
    ) throws(SensorError) -> CSVRow {
        let time = stamp.nanoseconds
        guard time.magnitude < 9_000_000_000_000_000_000 else { throw fail(.init("the time is out of range")) }
        if let last {
            guard last.absolute == stamp.absolute else {
                throw fail(.init("seconds from a start and absolute times are mixed"))
            }
            guard time > last.time else {
                throw fail(
                    .init("the time does not increase: \(Self.seconds(last.time - time)) s before the line above"))
            }
        }
        last = (time, stamp.absolute)
        return CSVRow(time: time, quantum: stamp.quantum, x: x * factor.x, y: y * factor.y, z: z * factor.z)
    }

    private static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }

    /// A sentence made only where it is needed.
    struct Reason {
        var text: String
        init(_ text: String) { self.text = text }
    }

    private enum Line {
        case empty
        case header(Separator)
        case row(Separator, StampedTime, Double, Double, Double)
        case wrong(Reason)
    }

    /// Takes one line apart. Without a known separator it is the first, and may be a header.
    private static func read(_ line: UnsafeRawBufferPointer, separator known: Separator?) -> Line {
        let text = trimmed(line)
        guard let first = text.first, first != 0x23 else { return .empty }
        let separator = known ?? guess(text)
        // Where the four columns lie.
        var columns = (0..<0, 0..<0, 0..<0, 0..<0)
        let count = split(text, separator, into: &columns)
        guard count == 4 else {
            let number = count > 16 ? "more than 16" : "\(count)"
            return .wrong(.init("\(number) column\(count == 1 ? "" : "s"), there must be four: t, x, y, z"))
        }
        let fields = (
            field(text, columns.0), field(text, columns.1), field(text, columns.2), field(text, columns.3)
        )
        guard let stamp = TimeText.parse(fields.0) else {
            if known == nil, isName(fields.0) { return header(fields, separator) }
            return .wrong(.init("t is neither seconds nor a date with time: \"\(shown(fields.0))\""))
        }
        do throws(ColumnFailure) {
            return .row(
                separator, stamp, try number(fields.1, "x"), try number(fields.2, "y"), try number(fields.3, "z"))
        } catch {
            return .wrong(.init(error.text))
        }
    }

    private struct ColumnFailure: Error { var text: String }

    private static func number(_ text: UnsafeRawBufferPointer, _ name: String) throws(ColumnFailure) -> Double {
        do throws(NumberText.Failure) {
            return try NumberText.double(text)
        } catch {
            switch error {
            case .notFinite: throw ColumnFailure(text: "\(name) is not a finite number: \"\(shown(text))\"")
            case .notANumber: throw ColumnFailure(text: "\(name) is not a number: \"\(shown(text))\"")
            }
        }
    }

    /// A header names the columns; one that clearly names another order is refused.
    private static func header(
        _ fields: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer),
        _ separator: Separator
    ) -> Line {
        for (field, name) in [(fields.1, "x"), (fields.2, "y"), (fields.3, "z")] {
            let letter = String(decoding: field.map { $0 | 0x20 }, as: UTF8.self)
            if ["t", "x", "y", "z"].contains(letter), letter != name {
                return .wrong(.init("the columns must be t, x, y, z in this order"))
            }
            if !isName(field) { return .wrong(.init("the header contains a number: \"\(shown(field))\"")) }
        }
        return .header(separator)
    }

    /// Starts with a letter and is not a number such as `nan`.
    private static func isName(_ field: UnsafeRawBufferPointer) -> Bool {
        guard let first = field.first(where: { $0 != 0x22 }) else { return false }
        let letter = first | 0x20
        guard letter >= 0x61, letter <= 0x7A else { return false }
        do throws(NumberText.Failure) {
            _ = try NumberText.double(field)
            return false
        } catch {
            if case .notFinite = error { return false }
            return true
        }
    }

    private static func guess(_ text: UnsafeRawBufferPointer) -> Separator {
        text.contains(0x3B) ? .semicolon : text.contains(0x2C) ? .comma : .blank
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ text: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        var (first, last) = (0, text.count)
        while first < last, isBlank(text[first]) { first += 1 }
        while last > first, isBlank(text[last - 1]) { last -= 1 }
        return UnsafeRawBufferPointer(rebasing: text[first..<last])
    }

    private static func field(_ text: UnsafeRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
        trimmed(UnsafeRawBufferPointer(rebasing: text[range]))
    }

    /// Finds the columns; gives their number, of which the first four are kept.
    private static func split(
        _ text: UnsafeRawBufferPointer, _ separator: Separator,
        into columns:
            inout (
                Range<Int>, Range<Int>, Range<Int>, Range<Int>
            )
    ) -> Int {
        var (count, start, index) = (0, 0, 0)
        func keep(_ range: Range<Int>, _ columns: inout (Range<Int>, Range<Int>, Range<Int>, Range<Int>)) {
            switch count {
            case 0: columns.0 = range
            case 1: columns.1 = range
            case 2: columns.2 = range
            case 3: columns.3 = range
            default: break
            }
            count += 1
        }
        while index < text.count {
            let byte = text[index]
            let ends =
                switch separator {
                case .comma: byte == 0x2C
                case .semicolon: byte == 0x3B
                case .blank: isBlank(byte)
                }
            if ends {
                keep(start..<index, &columns)
                if separator == .blank { while index + 1 < text.count, isBlank(text[index + 1]) { index += 1 } }
                start = index + 1
            }
            index += 1
        }
        keep(start..<text.count, &columns)
        return count
    }

    /// A text from outside, fit for a message.
    private static func shown(_ text: UnsafeRawBufferPointer) -> String {
        String(decoding: text.prefix(32).map { $0 >= 0x20 && $0 < 0x7F ? $0 : 0x3F }, as: UTF8.self)
    }
}
