import Seismology
import Settings
import SignalProcessing

/// Analysis of an event's whole record when it has ended: JMA intensity and strongest frequency, in parts like those of
/// ``GroundMonitor``. Where samples are missing, it uses the longest stretch without a gap. Of a stretch of more than
/// 65 536 samples (five minutes at 200 Hz, one at 1000 Hz) it computes only the frequency, from so many at its
/// beginning; the intensity stays the largest of the sliding windows.
struct EventAnalysis: Sendable {
    /// Before rounding; nil when the record is shorter than 3 s or nobody asked for it.
    private(set) var jma: Double?
    /// Hz.
    private(set) var dominant: Double?

    /// Longest record whose whole intensity is computed. Of a longer record it is that of so many samples at its end as
    /// make a good length for a Fourier transform, at most 5.2 % less: any length is exact, but takes three times the
    /// memory and the time.
    private static let anyLength = 8192
    /// Longer transforms would keep the sampler from its work.
    private static let longest = 65_536

    private enum Part { case plans, intensity, frequency, done }
    private let wantsIntensity: Bool
    private let lowest: Double
    private let range: Range<Int>
    /// Samples from which the intensity is computed.
    private let intensityRange: Range<Int>
    private let rate: Double
    private var part = Part.plans
    private var intensity: JMACalculation?
    private var frequency: DominantFrequency?

    init(_ configuration: Configuration, of record: EventRecord) {
        lowest = configuration.spectrum.lowest
        rate = record.rate
        var longest = 0..<0
        for (i, segment) in record.segments.enumerated() {
            let end = i + 1 < record.segments.count ? record.segments[i + 1].first : record.count
            if end - segment.first > longest.count { longest = segment.first..<end }
        }
        range = longest.prefix(Self.longest)
        let isLong = range.count > Self.anyLength
        intensityRange = range.suffix(isLong ? FourierPlan.length(atMost: range.count) : range.count)
        wantsIntensity = configuration.intensity.scales.contains(.jma) && longest.count <= Self.longest
        if Double(longest.count) < JMAIntensity.shortest * rate { part = .done }
    }

    /// Does the next part; true when all is done.
    mutating func step(_ record: EventRecord) -> Bool {
        switch part {
        case .plans:
            if wantsIntensity { intensity = JMACalculation(rate: rate, longest: intensityRange.count) }
            intensity?.begin(count: intensityRange.count)
            part = .intensity
        case .intensity:
            guard intensity?.step({ record.copy(axis: $0, intensityRange, to: $1) }) ?? true else { return false }
            jma = intensity?.raw
            intensity = nil
            frequency = DominantFrequency(rate: rate, longest: range.count, lowest: lowest)
            frequency?.begin(count: range.count)
            part = .frequency
        case .frequency:
            guard frequency?.step({ record.copy(axis: $0, range, to: $1) }) ?? true else { return false }
            dominant = frequency?.frequency
            frequency = nil
            part = .done
        case .done: break
        }
        return part == .done
    }
}
