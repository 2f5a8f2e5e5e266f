import SignalProcessing

/// Standardised cumulative absolute velocity of one component: the integral of |a| over those seconds only whose peak
/// is above 0.025 g, so that it does not grow with the length of the record (Reed & Kassawara 1990, EPRI TR-100082;
/// Campbell & Bozorgnia 2010, Earthquake Spectra 26).
///
/// Window i runs from sample round(i × rate) to sample round((i + 1) × rate), both included in its peak, counted from
/// the first sample or from the last gap; the last one may be shorter.
struct StandardizedCAV: Sendable {
    /// m/s².
    static let threshold = 0.025 * standardGravity

    private var sum = 0.0
    private var window = 0.0
    private var peak = 0.0

    /// m/s.
    var value: Double { sum + (peak > Self.threshold ? window : 0) }

    /// Begins a window with a sample of this absolute value.
    @inline(__always)
    mutating func begin(_ magnitude: Double) {
        sum = value
        (window, peak) = (0, magnitude)
    }

    /// - Parameter area: of |a| from the sample before, m/s.
    @inline(__always)
    mutating func add(_ magnitude: Double, area: Double) {
        window += area
        if magnitude > peak { peak = magnitude }
    }
}
