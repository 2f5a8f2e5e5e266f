import SignalProcessing

/// The ratio of a short-term to a long-term average of a signal's power, and the trigger on it (Allen, Automatic
/// earthquake recognition and timing from single traces, BSSA 68, 1978; the averages as in Withers et al., BSSA 88,
/// 1998, and ObsPy).
///
/// Triggered from the first sample whose ratio is at least `on` to the last before one below `off`; the detector is on
/// when that has lasted for the minimum duration.
public struct STALTA: Sendable {
    public enum Method: String, Sendable, CaseIterable {
        /// Moving averages that both end at the sample; 0 until the long one is full.
        case classic
        /// Exponential averages a += (x² − a)/n from the second sample on; 0 for as many samples as the long one has.
        case recursive
        /// As `recursive`, but the long one stands still while triggered, for a given time at most: where noise has
        /// come to stay, the trigger ends after it.
        case frozen
    }

    /// Ratios above it say nothing: after a quiet that is exactly zero, the long-term average is next to nothing.
    public static let largest = 1e6

    /// Lengths in samples.
    public struct Settings: Sendable, Equatable {
        public var method: Method
        var shortTerm: Int
        var longTerm: Int
        public var on: Double
        public var off: Double
        /// How long the trigger must have lasted for the detector to be on.
        public var minimumDuration: Int
        public var maximumFrozen: Int

        public init(
            method: Method, shortTerm: Int, longTerm: Int, on: Double, off: Double, minimumDuration: Int = 0,
            maximumFrozen: Int = .max
        ) {
            self.method = method
            self.shortTerm = max(1, shortTerm)
            self.longTerm = max(1, longTerm)
            self.on = on
            self.off = off
            self.minimumDuration = max(0, minimumDuration)
            self.maximumFrozen = maximumFrozen
        }
    }

    public private(set) var settings: Settings
    private var short: SlidingSum
    private var long: SlidingSum
    private var shortAverage = 0.0
    private var longAverage = 0.0
    /// Samples so far, until the ratio is valid.
    private var seen = 0
    /// Samples since the trigger; −1 when there is none.
    private var lasted = -1

    public init(_ settings: Settings) {
        self.settings = settings
        let isClassic = settings.method == .classic
        short = SlidingSum(length: isClassic ? settings.shortTerm : 1)
        long = SlidingSum(length: isClassic ? settings.longTerm : 1)
    }

    /// Samples from now on until the long-term average is full.
    public var blindSamples: Int { settings.longTerm - (settings.method == .classic ? long.count : seen) }

    /// Forgets all samples.
    public mutating func reset() {
        short.reset()
        long.reset()
        (shortAverage, longAverage, seen, lasted) = (0, 0, 0, -1)
    }

    /// Goes on with the averages of another one where they are the same ones, whatever its levels; begins anew where
    /// they are not.
    public mutating func takeOver(_ old: STALTA) {
        let (s, o) = (settings, old.settings)
        guard s.method == o.method, s.shortTerm == o.shortTerm, s.longTerm == o.longTerm else { return }
        let changed = settings
        self = old
        settings = changed
    }

    /// Replaces the power (m²/s⁴) of `count` samples by the ratio, and sets `bit` of `on` where the detector is on.
    public mutating func process(
        _ plane: UnsafeMutablePointer<Double>, _ on: UnsafeMutablePointer<UInt8>, bit: UInt8, count: Int
    ) {
        if settings.method == .classic {
            classic(plane, count)
        } else {
            recursive(plane, count)
        }
        var lasted = self.lasted
        for i in 0..<count {
            let ratio = plane[i]
            lasted = lasted >= 0 ? (ratio < settings.off ? -1 : lasted + 1) : (ratio >= settings.on ? 0 : -1)
            if lasted >= settings.minimumDuration { on[i] |= bit }
        }
        self.lasted = lasted
    }

    private mutating func classic(_ plane: UnsafeMutablePointer<Double>, _ count: Int) {
        let scale = Double(settings.longTerm) / Double(settings.shortTerm)
        for i in 0..<count {
            let (shortSum, longSum) = (short.push(plane[i]), long.push(plane[i]))
            plane[i] = long.count == settings.longTerm && longSum > 0 ? shortSum / longSum * scale : 0
        }
    }

    private mutating func recursive(_ plane: UnsafeMutablePointer<Double>, _ count: Int) {
        let (shortWeight, longWeight) = (1 / Double(settings.shortTerm), 1 / Double(settings.longTerm))
        let freezes = settings.method == .frozen
        let (on, off, warmUp) = (settings.on, settings.off, settings.longTerm)
        var (sta, lta, seen) = (shortAverage, longAverage, seen)
        // Samples since the trigger, the same as the caller's.
        var (lasted, maximum) = (lasted, settings.maximumFrozen)
        for i in 0..<count {
            let power = plane[i]
            if seen > 0 {
                sta += (power - sta) * shortWeight
                if !freezes || lasted < 0 || lasted >= maximum { lta += (power - lta) * longWeight }
            }
            if seen < warmUp {
                seen += 1
                plane[i] = 0
            } else {
                let ratio = lta > 0 ? min(sta / lta, Self.largest) : 0
                lasted = lasted >= 0 ? (ratio < off ? -1 : lasted + 1) : (ratio >= on ? 0 : -1)
                plane[i] = ratio
            }
        }
        (shortAverage, longAverage, self.seen) = (sta, lta, seen)
    }
}
