/// How far the truth can be from a line, by observations that only say "not before" and "not after": the tightest of
/// them, each wider by what the line may have drifted since. All in nanoseconds after the line.
public struct LineBounds: Sendable, Equatable {
    /// The truth is not before and not after this.
    public private(set) var lower: Double
    public private(set) var upper: Double

    public init(lower: Double = -.infinity, upper: Double = .infinity) {
        self.lower = lower
        self.upper = upper
    }

    public var middle: Double { (lower + upper) / 2 }
    public var width: Double { upper - lower }

    /// Widens the bounds with age.
    public mutating func widen(_ drift: Double) {
        lower -= drift
        upper += drift
    }

    /// The line itself was moved: the truth stays where it is.
    public mutating func move(_ correction: Double) {
        lower -= correction
        upper -= correction
    }

    /// Takes one observation. One that excludes what was known shows that the line has drifted more than thought: the
    /// truth is then at its near end.
    public mutating func narrow(lower newLower: Double, upper newUpper: Double) {
        if newLower > upper {
            (lower, upper) = (newLower, newLower)
        } else if newUpper < lower {
            (lower, upper) = (newUpper, newUpper)
        } else {
            lower = max(lower, newLower)
            upper = min(upper, newUpper)
        }
    }

    /// A correction of the line, limited to what is possible.
    public func nearest(to correction: Double) -> Double { min(max(correction, lower), upper) }
}
