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
