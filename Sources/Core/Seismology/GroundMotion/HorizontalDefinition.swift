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
