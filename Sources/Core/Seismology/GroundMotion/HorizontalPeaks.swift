/// Rule by which two horizontal components become one number.
public enum HorizontalDefinition: String, Sendable, CaseIterable {
    /// The larger of the two peaks, as in the relations' own data.
    case larger
    /// The peak of √(x² + y²).
    case vector
    /// √(peak x · peak y).
    case geometricMean = "geometric_mean"

    /// One number from the peaks of x, of y and of the horizontal vector.
    public func combine(x: Double, y: Double, vector: Double) -> Double {
        switch self {
        case .larger: max(x, y)
        case .vector: vector
        case .geometricMean: (x * y).squareRoot()
        }
    }
}

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
