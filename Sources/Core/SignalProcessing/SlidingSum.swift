/// The sum of the last N values, N fixed, exact for ever: the work per value does not depend on N, and nothing drifts.
///
/// A running sum that adds the new value and subtracts the old one drifts, and after a strong shock it leaves the
/// quiet that follows with no right digit. Here no value is ever subtracted. The window is cut at fixed places N
/// values apart: the part after the cut is a running sum that starts from zero at each cut, the part before it is read
/// from suffix sums made once at the cut (the two-stack queue of sliding-window aggregation, Tangwongsan et al.,
/// In-order sliding-window aggregation in worst-case constant time, VLDB Journal 2021). Both sums carry what each
/// addition rounds off (Neumaier 1974), so the result is that of one correctly rounded sum of at most N numbers but for
/// the last digit.
public struct SlidingSum: Sendable {
    /// Window length N in values, at least 1.
    public let length: Int
    /// Values present, at most N.
    public private(set) var count = 0
    /// Before the cut: suffix sums; after it, as they come: values.
    private var ring: [Double]
    private var position = 0
    private var head = 0.0
    private var headCarry = 0.0

    public init(length: Int) {
        self.length = max(1, length)
        ring = [Double](repeating: 0, count: self.length + 1)
    }

    /// Forgets all values.
    public mutating func reset() {
        count = 0
        position = 0
        head = 0
        headCarry = 0
        for i in ring.indices { ring[i] = 0 }
    }

    /// Adds a value and returns the sum of the last `count` ones.
    public mutating func push(_ value: Double) -> Double {
        var sum = 0.0
        run(1, { _ in value }, { _, total, _ in sum = total })
        return sum
    }

    /// Adds `n` values and tells of each the sum that ends with it, and of how many values that is.
    @inline(__always)
    mutating func run(_ n: Int, _ value: (Int) -> Double, _ tell: (Int, Double, Int) -> Void) {
        var done = 0
        while done < n {
            let end = min(n, done + length - position)
            var (head, carry, present) = (self.head, headCarry, count)
            let length = self.length
            let shift = position - done
            ring.withUnsafeMutableBufferPointer { ring in
                for i in done..<end {
                    let x = value(i)
                    (head, carry) = Self.add(x, head, carry)
                    if present < length { present += 1 }
                    tell(i, (head + carry) + ring[i + shift + 1], present)
                    ring[i + shift] = x
                }
            }
            (self.head, headCarry, count) = (head, carry, present)
            position += end - done
            done = end
            if position == length { cut() }
        }
    }

    /// A sum and what has been rounded off it, with one more value (Knuth's exact addition).
    @inline(__always)
    private static func add(_ x: Double, _ sum: Double, _ carry: Double) -> (Double, Double) {
        let next = sum + x
        let part = next - sum
        return (next, carry + ((sum - (next - part)) + (x - part)))
    }

    /// Replaces the values of a full ring by the sums from each place to the end.
    private mutating func cut() {
        position = 0
        head = 0
        headCarry = 0
        var (sum, carry) = (0.0, 0.0)
        ring.withUnsafeMutableBufferPointer { ring in
            var i = length - 1
            while i >= 0 {
                (sum, carry) = Self.add(ring[i], sum, carry)
                ring[i] = sum + carry
                i -= 1
            }
        }
    }
}

/// Root mean square of the last N samples of one axis; while fewer have come, of those (as in Shake's JdRMS).
public struct SlidingRMS: Sendable {
    private var squares: SlidingSum

    /// - Parameter window: N in samples.
    public init(window: Int) { squares = SlidingSum(length: window) }

    /// Forgets all samples.
    public mutating func reset() { squares.reset() }

    /// Writes the RMS at each of `count` samples of `input` to `output`.
    public mutating func process(
        _ input: UnsafePointer<Double>, _ output: UnsafeMutablePointer<Double>, count: Int
    ) {
        squares.run(count, { input[$0] * input[$0] }, { output[$0] = ($1 / Double($2)).squareRoot() })
    }
}

/// The last samples of three axes.
public struct SampleRing: Sendable {
    /// Samples that are kept.
    public let capacity: Int
    /// Samples pushed since the start or the last reset.
    public private(set) var pushed = 0
    private var place = 0
    /// Three planes of `capacity` numbers.
    private var samples: [Double]

    public init(capacity: Int) {
        self.capacity = max(1, capacity)
        samples = [Double](repeating: 0, count: 3 * self.capacity)
    }

    /// Forgets all samples.
    public mutating func reset() { (pushed, place) = (0, 0) }

    /// Takes the last samples of another ring, as many as there are and have room; they count from the start here.
    public mutating func takeOver(_ old: SampleRing) {
        reset()
        for back in stride(from: min(capacity, old.capacity, old.pushed), to: 0, by: -1) {
            let i = (old.pushed - back) % old.capacity
            push(old.samples[i], old.samples[old.capacity + i], old.samples[2 * old.capacity + i])
        }
    }

    @inline(__always)
    public mutating func push(_ x: Double, _ y: Double, _ z: Double) {
        samples[place] = x
        samples[capacity + place] = y
        samples[2 * capacity + place] = z
        place = place + 1 == capacity ? 0 : place + 1
        pushed += 1
    }

    /// Pushes `count` samples of three planes.
    public mutating func push(
        _ x: UnsafePointer<Double>, _ y: UnsafePointer<Double>, _ z: UnsafePointer<Double>, count: Int
    ) {
        var (done, place) = (0, place)
        samples.withUnsafeMutableBufferPointer { samples in
            guard let base = samples.baseAddress else { return }
            while done < count {
                let n = min(count - done, capacity - place)
                (base + place).update(from: x + done, count: n)
                (base + capacity + place).update(from: y + done, count: n)
                (base + 2 * capacity + place).update(from: z + done, count: n)
                done += n
                place = place + n == capacity ? 0 : place + n
            }
        }
        self.place = place
        pushed += count
    }

    /// Copies samples of an axis (0, 1, 2), which must still be there.
    /// - Parameter range: numbers of samples since the start or the last reset.
    public func copy(axis: Int, _ range: Range<Int>, to target: UnsafeMutablePointer<Double>) {
        precondition(range.lowerBound >= max(0, pushed - capacity) && range.upperBound <= pushed)
        guard !range.isEmpty else { return }
        let first = range.lowerBound % capacity
        let head = min(range.count, capacity - first)
        samples.withUnsafeBufferPointer { buffer in
            guard let plane = buffer.baseAddress.map({ $0 + axis * capacity }) else { return }
            target.update(from: plane + first, count: head)
            (target + head).update(from: plane, count: range.count - head)
        }
    }
}
