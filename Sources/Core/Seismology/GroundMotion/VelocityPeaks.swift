/// Largest absolute values of the ground velocity: of each axis, of the horizontal and of the 3-D vector.
public struct VelocityPeaks: Sendable, Equatable {
    public private(set) var horizontal = HorizontalPeaks()
    public private(set) var z = 0.0
    /// Square of the 3-D vector.
    private var square = 0.0

    public init() {}

    public var v3: Double { square.squareRoot() }

    /// Takes a sample; true when one of the peaks has grown.
    @inline(__always)
    @discardableResult
    mutating func take(_ x: Double, _ y: Double, _ z: Double) -> Bool {
        let square = x * x + y * y + z * z
        let grown = abs(z) > self.z || square > self.square
        self.z = max(self.z, abs(z))
        self.square = max(self.square, square)
        return horizontal.take(x, y) || grown
    }

    @inline(__always)
    mutating func take(_ other: VelocityPeaks) {
        horizontal.take(other.horizontal)
        z = max(z, other.z)
        square = max(square, other.square)
    }
}
