import MiniSEED

/// The levels of three axes in equal steps of time.
public struct StepLevels: Sendable, Equatable {
    /// Begin of the first step, and length of one; nanoseconds of UTC.
    public let start: Int64
    public let step: Int64
    /// x, y and z of the first step, and so on.
    public private(set) var cells: [AxisLevels]

    public var count: Int { cells.count / 3 }

    public init(start: Int64, step: Int64, count: Int) {
        (self.start, self.step) = (start, max(1, step))
        cells = [AxisLevels](repeating: AxisLevels(), count: 3 * count)
    }

    /// In nanoseconds of UTC; not part of the last step.
    public var end: Int64 { start &+ step &* Int64(count) }

    /// Samples of all axes together.
    var samples: Int { cells.reduce(0) { $0 + $1.samples } }

    /// Adds the samples of records that lie within. A record that is damaged ends it.
    /// - Parameter unit: m/s² of a count.
    public mutating func add(
        _ records: UnsafeRawBufferPointer, unit: Double, with decoder: inout MiniSEEDDecoder, _ values: inout [Double]
    ) {
        var offset = 0
        while offset < records.count {
            let rest = UnsafeRawBufferPointer(rebasing: records[offset...])
            guard let header = try? MiniSEEDParser.header(rest), header.rate > 0,
                let axis = Self.axis(header.source),
                (try? decoder.decode(header.payload, of: rest, into: &values)) != nil
            else { return }
            add(values, axis: axis, start: header.start, rate: header.rate, unit: unit)
            offset += header.length
        }
    }

    private static func axis(_ source: SourceIdentifier) -> Int? {
        switch source.subsource {
        case "E", "1": 0
        case "N", "2": 1
        case "Z": 2
        default: nil
        }
    }

    private mutating func add(_ values: [Double], axis: Int, start first: Int64, rate: Double, unit: Double) {
        // Numbers of samples before a time.
        func index(_ time: Int64) -> Int {
            let (wait, overflow) = time.subtractingReportingOverflow(first)
            let samples = (Double(wait) * rate / 1e9 - 1e-6).rounded(.up)
            return overflow || samples <= 0 ? 0 : Int(min(samples, Double(values.count)))
        }
        var begin = index(start)
        let last = index(end)
        while begin < last {
            let time = first &+ Int64(Double(begin) / rate * 1e9)
            let place = min(count - 1, max(0, Int((time &- start &+ 1000) / step)))
            let next = min(last, max(begin + 1, index(start + step * Int64(place + 1))))
            cells[3 * place + axis].add(values[begin..<next], unit: unit)
            begin = next
        }
    }

    /// Adds the steps of another grid, whose begin lies within.
    /// - Parameter limit: its steps are longer: they stand for those of ours that end before this time and have nothing;
    ///   nil: they are as long, or shorter.
    public mutating func add(_ other: StepLevels, fillingUntil limit: Int64? = nil) {
        let fills = limit != nil
        let empty =
            limit.map { limit in
                cells.indices.map { cells[$0].samples == 0 && start + step * Int64($0 / 3 + 1) <= limit }
            } ?? []
        for i in 0..<other.count {
            let begin = other.start + Int64(i) * other.step
            let places = Int((begin - start) / step)...Int((begin + other.step - 1 - start) / step)
            for place in fills ? places : places.lowerBound...places.lowerBound {
                guard (0..<count).contains(place), begin >= start || fills else { continue }
                for axis in 3 * place..<3 * place + 3 where !fills || empty[axis] {
                    cells[axis].add(other.cells[3 * i + axis % 3])
                }
            }
        }
    }
}

/// Ten minutes, minute by minute: a row of the table.
extension StepLevels {
    static let blockLength: Int64 = 600_000_000_000
    public static let minute: Int64 = 60_000_000_000

    /// Time of the block that contains a time.
    public static func block(at time: Int64) -> Int64 {
        let (number, rest) = time.quotientAndRemainder(dividingBy: blockLength)
        return rest < 0 ? number - 1 : number
    }

    init(block: Int64) { self.init(start: block &* Self.blockLength, step: Self.minute, count: 10) }

    var block: Int64 { Self.block(at: start) }

    /// Columns of the row.
    var columns: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(cells.count * AxisLevels.bytes)
        for cell in cells { cell.write(to: &bytes) }
        return bytes
    }

    /// A row as it stands in its page; nil: it is not what was written.
    static func read(_ row: PageRecord) -> StepLevels? {
        guard row.isInt(1) else { return nil }
        return Array(row.blob(3)).withUnsafeBytes { columns in
            guard row.int64(2) == Spool.sum(row.int64(1), columns) else { return nil }
            return StepLevels(block: row.int64(1), columns)
        }
    }

    /// Nil when the bytes are none.
    init?(block: Int64, _ columns: UnsafeRawBufferPointer) {
        self.init(block: block)
        guard columns.count == cells.count * AxisLevels.bytes else { return nil }
        for i in cells.indices { cells[i] = AxisLevels(columns, at: i * AxisLevels.bytes) }
    }
}

/// Smallest and largest value, mean and scatter of the samples of one axis in a stretch of time.
public struct AxisLevels: Sendable, Equatable {
    public private(set) var samples = 0
    /// m/s², gravity included.
    public private(set) var least = 0.0
    public private(set) var most = 0.0
    private var mean = 0.0
    /// Sum of the squared differences from the mean.
    private var squares = 0.0

    /// As a row of the table has it.
    static let bytes = 20

    init() {}

    /// Root mean square about the mean, m/s².
    public var rms: Double { samples > 0 ? (squares / Double(samples)).squareRoot() : 0 }

    /// Adds samples in counts.
    /// - Parameter unit: m/s² of a count.
    mutating func add(_ counts: ArraySlice<Double>, unit: Double) {
        guard var least = counts.first else { return }
        var (most, sum, squares) = (least, 0.0, 0.0)
        for count in counts {
            least = min(least, count)
            most = max(most, count)
            sum += count
        }
        let mean = sum / Double(counts.count)
        for count in counts { squares += (count - mean) * (count - mean) }
        var other = AxisLevels()
        other.samples = counts.count
        (other.least, other.most) = (least * unit, most * unit)
        (other.mean, other.squares) = (mean * unit, squares * unit * unit)
        add(other)
    }

    /// Adds another stretch (T. Chan et al. 1979, "Updating formulae and a pairwise algorithm for computing sample
    /// variances").
    mutating func add(_ other: AxisLevels) {
        guard other.samples > 0 else { return }
        guard samples > 0 else { return self = other }
        let (a, b) = (Double(samples), Double(other.samples))
        let difference = other.mean - mean
        (least, most) = (min(least, other.least), max(most, other.most))
        mean += difference * b / (a + b)
        squares += other.squares + difference * difference * a * b / (a + b)
        samples += other.samples
    }

    // MARK: Rows

    func write(to bytes: inout [UInt8]) {
        let numbers = [
            UInt32(clamping: samples), Float(least).bitPattern, Float(most).bitPattern, Float(mean).bitPattern,
            Float(rms).bitPattern,
        ]
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
    }

    init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        func word(_ index: Int) -> UInt32 {
            UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset + 4 * index, as: UInt32.self))
        }
        func number(_ index: Int) -> Double { Double(Float(bitPattern: word(index))) }
        samples = Int(word(0))
        (least, most, mean) = (number(1), number(2), number(3))
        squares = number(4) * number(4) * Double(samples)
    }
}
