import SignalProcessing

/// The instrumental intensity of a record by its definition, ``JMAIntensity``, in parts of bounded work, so that a
/// sampler can do it beside its samples. The record's mean does not matter: its weight is 0.
public struct JMACalculation: Sendable {
    private enum Part { case weights, horizontal, horizontalBack, vertical, verticalBack, rank, done }

    /// ``JMAIntensity/raw(a0:)`` of the last record.
    public private(set) var raw = 0.0
    private let rate: Double
    private var transform: FourierTransform
    private var part = Part.done
    private var inTransform = false
    private var count = 0
    /// Weights divided by the length, of the frequencies from 0 to the middle, and the length they are for.
    private var weights: [Double]
    private var weighted = 0
    /// Complex numbers; x and y go through one transform as real and imaginary part, for the weights are real.
    private var one: [Double]
    private var other: [Double]
    /// Squares of the vector.
    private var squares: [Double]
    /// The largest of them, the smallest first (a heap).
    private var largest: [Double]

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - longest: the longest record, samples.
    public init(rate: Double, longest: Int) {
        self.rate = rate
        transform = FourierTransform(longest: longest)
        weights = [Double](repeating: 0, count: longest / 2 + 1)
        one = [Double](repeating: 0, count: 2 * longest)
        other = one
        squares = [Double](repeating: 0, count: longest)
        largest = [Double](repeating: 0, count: JMAIntensity.rank(rate: rate))
    }

    /// Begins with a record of so many samples, at least as many as ``JMAIntensity/rank(rate:)``.
    public mutating func begin(count: Int) {
        self.count = count
        inTransform = false
        part = count == weighted ? .horizontal : .weights
    }

    /// Does the next part; true when all is done and ``raw`` is there.
    /// - Parameter copy: writes the record's samples of an axis (0, 1, 2; m/s²) to a pointer.
    public mutating func step(_ copy: (Int, UnsafeMutablePointer<Double>) -> Void) -> Bool {
        switch part {
        case .weights:
            for k in 0...count / 2 { weights[k] = JMAIntensity.gain(Double(k) * rate / Double(count)) / Double(count) }
            weighted = count
            part = .horizontal
        case .horizontal:
            if !inTransform {
                load(0, copy, to: 0)
                load(1, copy, to: 1)
            }
            if forward() { part = .horizontalBack }
        case .horizontalBack:
            if back() {
                for i in 0..<count { squares[i] = one[2 * i] * one[2 * i] + one[2 * i + 1] * one[2 * i + 1] }
                part = .vertical
            }
        case .vertical:
            if !inTransform {
                load(2, copy, to: 0)
                for i in 0..<count { one[2 * i + 1] = 0 }
            }
            if forward() { part = .verticalBack }
        case .verticalBack:
            if back() {
                for i in 0..<count { squares[i] += one[2 * i] * one[2 * i] }
                part = .rank
            }
        case .rank:
            raw = JMAIntensity.raw(a0: rankedSquare().squareRoot())
            part = .done
        case .done: break
        }
        return part == .done
    }

    /// See ``FourierTransform/giveBackRoom()``; not between the parts of a calculation.
    public mutating func giveBackRoom() { transform.giveBackRoom() }

    /// Puts an axis, less its mean, into the real (0) or the imaginary (1) parts.
    private mutating func load(_ axis: Int, _ copy: (Int, UnsafeMutablePointer<Double>) -> Void, to place: Int) {
        copy(axis, &other)
        var sum = 0.0
        for i in 0..<count { sum += other[i] }
        let mean = sum / Double(count)
        for i in 0..<count { one[2 * i + place] = other[i] - mean }
    }

    private mutating func forward() -> Bool {
        if !inTransform { transform.begin(length: count) }
        inTransform = !transform.step(one, &other)
        return !inTransform
    }

    /// Weights the spectrum and transforms it back, as the forward transform of the conjugate: what comes out is the
    /// conjugate of the weighted motion, whose parts have the same squares.
    private mutating func back() -> Bool {
        if !inTransform {
            for k in 0..<count {
                let weight = weights[min(k, count - k)]
                other[2 * k] *= weight
                other[2 * k + 1] *= -weight
            }
            transform.begin(length: count)
        }
        inTransform = !transform.step(other, &one)
        return !inTransform
    }

    /// The square that is in the place of the rank from above.
    private mutating func rankedSquare() -> Double {
        let size = min(largest.count, count)
        for i in 0..<size { largest[i] = -1 }
        for i in 0..<count where squares[i] > largest[0] {
            let value = squares[i]
            var hole = 0
            while true {
                var child = 2 * hole + 1
                if child + 1 < size, largest[child + 1] < largest[child] { child += 1 }
                guard child < size, largest[child] < value else { break }
                largest[hole] = largest[child]
                hole = child
            }
            largest[hole] = value
        }
        return max(0, largest[0])
    }
}
