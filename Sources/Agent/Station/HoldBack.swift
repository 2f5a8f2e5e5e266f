/// Keeps the first samples after a start or a gap until their mean is known.
struct HoldBack: Sendable {
    /// Samples to wait for; 0 keeps none.
    let length: Int
    private(set) var count = 0
    private(set) var isOpen: Bool
    /// x, y, z one after the other, sample by sample.
    private(set) var samples: [Double] = []

    init(length: Int) {
        self.length = length
        isOpen = length > 0
        samples.reserveCapacity(3 * length)
    }

    mutating func reset() {
        samples.removeAll(keepingCapacity: true)
        count = 0
        isOpen = length > 0
    }

    /// Takes a sample; true when it was the last one to wait for.
    mutating func push(_ x: Double, _ y: Double, _ z: Double) -> Bool {
        samples.append(x)
        samples.append(y)
        samples.append(z)
        count += 1
        return count >= length
    }

    /// Ends the waiting and returns the means.
    mutating func close() -> (x: Double, y: Double, z: Double) {
        isOpen = false
        var (x, y, z) = (0.0, 0.0, 0.0)
        for i in 0..<count {
            x += samples[3 * i]
            y += samples[3 * i + 1]
            z += samples[3 * i + 2]
        }
        let n = Double(max(1, count))
        return (x / n, y / n, z / n)
    }
}
