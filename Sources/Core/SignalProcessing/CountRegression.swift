/// Regression of a count of samples on a clock: when the last sample was taken, and the time from one to the next.
///
/// A line is fitted to observations "that sample was there at that time" by recursive least squares, the older the
/// observation, the less it counts: the Kalman filter of a clock whose rate walks at random (Galleani and Tavella 2010,
/// IEEE Control Systems 30(2), 44). Its memory sets itself: (r / q)^¼ seconds, with r the variance of an observation
/// times the seconds between two, and q the walk of the rate; long for coarse observations, short for fine ones.
/// Times are in nanoseconds.
public struct CountRegression: Sendable, Equatable {
    /// Time from one sample to the next.
    public private(set) var period: Double
    /// Time of the last sample, in two parts so that no rounding adds up: whole nanoseconds and the rest.
    private var whole: Int64
    private var part = 0.0
    /// Covariance of the time of the last sample and of the period.
    private var timeVariance: Double
    private var covariance = 0.0
    private var periodVariance: Double

    /// Walk of the rate: variance of its relative change per second, (1 ppm)². The temperature of a chip in a case
    /// moves its rate by some 20 ppm in minutes.
    private static let walk = 1e-12

    /// - Parameters:
    ///   - time: of the last sample, with its standard uncertainty.
    ///   - period: from one sample to the next, with its standard uncertainty.
    public init(time: Int64, uncertainty: Double, period: Double, periodUncertainty: Double) {
        whole = time
        self.period = period
        timeVariance = uncertainty * uncertainty
        periodVariance = periodUncertainty * periodUncertainty
    }

    /// Standard uncertainty of the period.
    public var periodUncertainty: Double { periodVariance.squareRoot() }

    /// Standard uncertainty of the time of a sample, counted from the last one; it may be a fraction.
    public func uncertainty(ahead: Double = 0) -> Double {
        max(0, timeVariance + ahead * (2 * covariance + ahead * periodVariance)).squareRoot()
    }

    /// Time of a sample, counted from the last one; it may be a fraction.
    public func time(ahead: Double = 0) -> Int64 {
        whole &+ Int64(min(max((part + ahead * period).rounded(), -1e18), 1e18))
    }

    /// How much later something was than the time of a sample, counted from the last one.
    public func residual(_ time: Int64, ahead: Double) -> Double { Double(time &- whole) - part - ahead * period }

    /// So many samples have followed: the last of them is now the last one.
    public mutating func advance(_ count: Int) {
        guard count > 0 else { return }
        let n = Double(count)
        timeVariance += n * (2 * covariance + n * periodVariance)
        covariance += n * periodVariance
        let walked = Self.walk * n * period * 1e-9 * period * period
        timeVariance += walked * n * n / 3
        covariance += walked * n / 2
        periodVariance += walked
        shift(n * period)
    }

    /// Moves the line as a whole.
    public mutating func shift(_ time: Double) {
        // Never out of what a clock can say, whatever was observed.
        let moved = min(max(part + time, -1e18), 1e18)
        let rounded = moved.rounded()
        whole &+= Int64(rounded)
        part = moved - rounded
    }

    /// Takes one observation of the time of a sample.
    /// - Parameters:
    ///   - residual: how much later than the line it was seen.
    ///   - ahead: which sample, counted from the last one.
    ///   - variance: of the observation.
    /// - Returns: how much later the line says now that the last sample was taken.
    @discardableResult
    public mutating func observe(_ residual: Double, ahead: Double, variance: Double) -> Double {
        let (a, b) = (timeVariance + ahead * covariance, covariance + ahead * periodVariance)
        let sum = a + ahead * b + max(variance, 1)
        let (gain, periodGain) = (a / sum, b / sum)
        let correction = gain * residual
        shift(correction)
        period += periodGain * residual
        timeVariance = max(timeVariance - gain * a, 1e-3)
        covariance -= gain * b
        periodVariance = max(periodVariance - periodGain * b, 1e-20)
        return correction
    }
}

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
