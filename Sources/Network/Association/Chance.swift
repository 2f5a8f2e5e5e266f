import Glibc

/// How often onsets of noise alone agree as those of a source do. Of many stations some always do; of a few that are quiet
/// hardly ever, and so fewer of them are enough for an event.
struct Chance {
    /// Onsets a second that a station has of noise, where it is not known to be noisier.
    static let usualRate = 1e-3
    /// Events a second below which noise makes none: one in some weeks.
    static let least = 3e-7
    /// Errors of times, s, below which an agreement is no closer.
    private static let pickError = 0.2

    /// Stations that could have an onset, and how many of them have one that agrees.
    var stations: Int
    var agreeing: Int
    /// Onsets a second of one station.
    var rate: Double
    /// Seconds after the first of them within which the onsets of a source are, wherever it is.
    var window: Double
    /// Root mean square of the residuals, s.
    var residual: Double

    /// Events a second: the sets of so many stations whose onsets lie within the window, as far as they agree as closely. (Three
    /// of them agree with some source always.)
    var events: Double {
        var ways = 1.0
        for i in 0..<agreeing { ways *= Double(stations - i) / Double(i + 1) }
        let sharp = min(1, 4 * max(residual, Self.pickError) / window)
        return ways * Double(agreeing) * rate * pow(rate * window, Double(agreeing - 1))
            * pow(sharp, Double(max(0, agreeing - 3)))
    }

    /// Onsets a second that a station has of noise where some have had so many in so many station seconds: the mean of what
    /// is likely then, by an exponential distribution of rates around the usual one (Gelman et al. 2013, 2.6).
    static func rate(_ onsets: Int, seconds: Double) -> Double { Double(1 + onsets) / (1 / usualRate + seconds) }
}
