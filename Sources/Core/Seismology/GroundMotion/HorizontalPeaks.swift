/// Largest absolute values of a horizontal motion: of x, of y and of the vector √(x² + y²).
public struct HorizontalPeaks: Sendable, Equatable {
    public private(set) var x = 0.0
    public private(set) var y = 0.0
    /// Square of the vector: the root is only needed when somebody asks.
    private var square = 0.0

    public init() {}

    public var vector: Double { square.squareRoot() }

    /// Takes a sample; true when one of the peaks has grown.
    @inline(__always)
    @discardableResult
    mutating func take(_ x: Double, _ y: Double) -> Bool {
        take(abs(x), abs(y), square: x * x + y * y)
    }

    @inline(__always)
    mutating func take(_ other: HorizontalPeaks) { take(other.x, other.y, square: other.square) }

    @inline(__always)
    @discardableResult
    private mutating func take(_ x: Double, _ y: Double, square: Double) -> Bool {
        let grown = x > self.x || y > self.y || square > self.square
        self.x = max(self.x, x)
        self.y = max(self.y, y)
        self.square = max(self.square, square)
        return grown
    }

    /// One number from the three.
    public func combined(_ definition: HorizontalDefinition) -> Double {
        definition.combine(x: x, y: y, vector: vector)
    }
}
