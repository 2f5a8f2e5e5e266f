/// How two horizontal components become one number.
public enum HorizontalDefinition: String, Sendable, CaseIterable {
    /// The larger of the two peaks, as in the relations' own data.
    case larger
    /// The peak of √(x² + y²).
    case vector
    /// √(peak x · peak y).
    case geometricMean = "geometric_mean"
}
