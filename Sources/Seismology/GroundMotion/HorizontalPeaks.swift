/// Largest absolute values of a horizontal motion: of x, of y and of the vector √(x² + y²).
public struct HorizontalPeaks: Sendable, Equatable {
    public private(set) var x = 0.0
    public private(set) var y = 0.0
    public private(set) var vector = 0.0

    public init() {}

    /// Takes a sample; true when one of the peaks has grown.
    @inline(__always)
    @discardableResult
    mutating func take(_ x: Double, _ y: Double) -> Bool {
        take(abs(x), abs(y), vector: (x * x + y * y).squareRoot())
    }

    @inline(__always)
    mutating func take(_ other: HorizontalPeaks) { take(other.x, other.y, vector: other.vector) }

    @inline(__always)
    @discardableResult
    private mutating func take(_ x: Double, _ y: Double, vector: Double) -> Bool {
        let grown = x > self.x || y > self.y || vector > self.vector
        self.x = max(self.x, x)
        self.y = max(self.y, y)
        self.vector = max(self.vector, vector)
        return grown
    }

    /// One number from the three.
    public func combined(_ definition: HorizontalDefinition) -> Double {
        definition.combine(x: x, y: y, vector: vector)
    }
}
