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
