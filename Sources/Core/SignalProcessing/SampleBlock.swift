/// A block of consecutive three-axis samples at a constant rate, with the time of its first sample.
///
/// The three axes lie in one allocation as three planes of `capacity` numbers, so that a block that is
/// reused never touches the heap. Units are m/s² once the sensor has applied its scale.
public struct SampleBlock: Sendable {
    /// Largest number of samples per axis that fit.
    public let capacity: Int
    /// Samples per axis present now, at most `capacity`.
    public private(set) var count = 0
    /// Time of the first sample: nanoseconds of UTC since 1970-01-01, leap seconds not counted.
    public var time: Int64 = 0
    /// True when samples are missing between the block before and this one, or when this is the first block
    /// after a start: every stage then resets its state, never its settings.
    public var gapBefore = false
    /// Samples that were lost in that gap, 0 when it is not known.
    public var lostBefore = 0

    private var planes: [Double]

    /// An empty block.
    /// - Parameter capacity: samples per axis, at least 1.
    public init(capacity: Int) {
        self.capacity = max(1, capacity)
        planes = [Double](repeating: 0, count: 3 * self.capacity)
    }

    /// Takes all samples away and clears the gap mark; the memory stays.
    public mutating func removeAll() {
        count = 0
        gapBefore = false
        lostBefore = 0
    }

    /// Appends one sample, in m/s²; ignored (returns false) when the block is full.
    @discardableResult
    @inlinable
    public mutating func append(_ x: Double, _ y: Double, _ z: Double) -> Bool {
        withPlanes(count: count + 1) { px, py, pz, n in
            px[n - 1] = x
            py[n - 1] = y
            pz[n - 1] = z
        }
    }

    /// One value: axis 0, 1, 2 is x, y, z.
    public subscript(axis: Int, index: Int) -> Double {
        get { planes[axis * capacity + index] }
        set { planes[axis * capacity + index] = newValue }
    }

    /// Copies samples of an axis.
    public func copy(axis: Int, from start: Int, count: Int, to target: UnsafeMutablePointer<Double>) {
        precondition(start >= 0 && count >= 0 && start + count <= self.count)
        planes.withUnsafeBufferPointer { planes in
            guard let base = planes.baseAddress else { return }
            target.update(from: base + axis * capacity + start, count: count)
        }
    }

    /// Gives a body the three planes to write or change, after setting `count` to the given number.
    /// Returns false, and does nothing, when the count does not fit.
    @discardableResult
    public mutating func withPlanes(
        count newCount: Int,
        _ body: (UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>, UnsafeMutablePointer<Double>, Int) -> Void
    ) -> Bool {
        guard newCount >= 0, newCount <= capacity else { return false }
        count = newCount
        let stride = capacity
        planes.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            body(base, base + stride, base + 2 * stride, newCount)
        }
        return true
    }

    /// Gives a body the three planes to read.
    public func withPlanes<R>(
        _ body: (UnsafePointer<Double>, UnsafePointer<Double>, UnsafePointer<Double>, Int) -> R
    ) -> R? {
        planes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return nil }
            return body(base, base + capacity, base + 2 * capacity, count)
        }
    }
}

/// Three values of the same kind, one for each axis.
public struct PerAxis<Value: Sendable & Equatable>: Sendable, Equatable {
    public var x: Value
    public var y: Value
    public var z: Value

    public init(_ all: Value) { (x, y, z) = (all, all, all) }
    public init(x: Value, y: Value, z: Value) { (self.x, self.y, self.z) = (x, y, z) }

    /// 0, 1, 2 is x, y, z.
    public subscript(axis: Int) -> Value {
        get { axis == 0 ? x : axis == 1 ? y : z }
        set {
            switch axis {
            case 0: x = newValue
            case 1: y = newValue
            default: z = newValue
            }
        }
    }
}
