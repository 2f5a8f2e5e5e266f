#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Shake's artificial signals: a function of the sample's index, zero for the first samples so that a filter is seen
/// to start from rest.
enum TestSignal {
    /// Samples of zero before the signal begins.
    static let leadIn = 20
}

/// A sine that starts at phase zero behind the lead-in: x[n] = A sin(2π f (n − 20) / fs).
public struct SineSource: Sendable, Equatable {
    /// In the unit of the samples.
    public let amplitude: Double
    /// Hz, below half the rate.
    public let frequency: Double
    /// Samples per second.
    public let rate: Double

    public init(amplitude: Double, frequency: Double, rate: Double) {
        self.amplitude = amplitude
        self.frequency = frequency
        self.rate = rate
    }

    /// - Parameter index: of the sample, from 0.
    public func value(at index: Int) -> Double {
        guard index >= TestSignal.leadIn else { return 0 }
        let turns = frequency * Double(index - TestSignal.leadIn) / rate
        // Whole turns are taken away first, so that the sine stays exact for hours.
        return amplitude * sin(2 * .pi * (turns - turns.rounded(.down)))
    }
}

/// Zero, and the amplitude for ever from the end of the lead-in on.
public struct StepSource: Sendable, Equatable {
    public let amplitude: Double

    public init(amplitude: Double) { self.amplitude = amplitude }

    public func value(at index: Int) -> Double { index >= TestSignal.leadIn ? amplitude : 0 }
}

/// The amplitude in the one sample behind the lead-in, zero in all others.
public struct ImpulseSource: Sendable, Equatable {
    public let amplitude: Double

    public init(amplitude: Double) { self.amplitude = amplitude }

    public func value(at index: Int) -> Double { index == TestSignal.leadIn ? amplitude : 0 }
}
