/// The sum of the last N values, N fixed, exact for ever: a constant amount of work per value and no drift.
///
/// A running sum that adds the new value and subtracts the old one drifts, and after a strong shock it leaves the
/// quiet that follows with no right digit. Here no value is ever subtracted. The window is cut at fixed places N
/// values apart: the part after the cut is a running sum that starts from zero at each cut, the part before it is read
/// from suffix sums made once at the cut (the two-stack queue of sliding-window aggregation, Tangwongsan et al.,
/// In-order sliding-window aggregation in worst-case constant time, VLDB Journal 2021). Both sums carry Neumaier's
/// compensation, so the result is that of one correctly rounded sum of at most N numbers but for the last digit.
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
        let sum = head + value
        headCarry += abs(head) >= abs(value) ? (head - sum) + value : (value - sum) + head
        head = sum
        let result = (head + headCarry) + ring[position + 1]
        ring[position] = value
        position += 1
        if count < length { count += 1 }
        if position == length { cut() }
        return result
    }

    /// Replaces the values of a full ring by the sums from each place to the end.
    private mutating func cut() {
        position = 0
        head = 0
        headCarry = 0
        var sum = 0.0
        var carry = 0.0
        var i = length - 1
        while i >= 0 {
            let value = ring[i]
            let next = sum + value
            carry += abs(sum) >= abs(value) ? (sum - next) + value : (value - next) + sum
            sum = next
            ring[i] = sum + carry
            i -= 1
        }
    }
}
