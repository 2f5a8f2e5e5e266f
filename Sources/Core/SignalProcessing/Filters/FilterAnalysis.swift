#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A pole of a digital filter.
public struct FilterPole: Sendable, Equatable {
    /// In the z plane; the filter is stable when it lies inside the unit circle.
    public var re: Double
    public var im: Double
    /// Natural frequency |s| / 2π in Hz of the pole s = ln(z) fs.
    public var frequency: Double
    /// Quality |s| / (−2 Re s): 0.5 for a real pole, large for a ringing one.
    public var quality: Double

    /// - Parameter delta: z − 1, which keeps the digits of a pole close to 1.
    init(delta: Complex, rate: Double) {
        re = 1 + delta.re
        im = delta.im
        let s = Complex(
            re: log1p(2 * delta.re + delta.squaredMagnitude) / 2 * rate, im: atan2(delta.im, 1 + delta.re) * rate)
        let magnitude = s.squaredMagnitude.squareRoot()
        frequency = magnitude / (2 * Double.pi)
        quality = magnitude / (-2 * s.re)
    }
}

/// Response of a filter to a sine.
public struct FilterResponse: Sendable, Equatable {
    /// Hz.
    public var frequency: Double
    /// Output amplitude over input amplitude.
    public var gain: Double
    /// Radians from −π to π; positive where the output is ahead.
    public var phase: Double
    /// −dφ/dω in seconds; nil where the gain is 0.
    public var groupDelay: Double?
}

extension Section {
    /// The roots of δ² + e₁δ + e₂, without the one at z = 0 that a section of first order has beside a zero there.
    fileprivate var deltaPoles: [Complex] {
        if e1 == 0, e2 == 0 { return [] }
        if abs(a2) < 1e-14, abs(b2) < 1e-14 { return [Complex(re: -e2, im: 0)] }
        let half = Complex(re: -e1 / 2, im: 0)
        let discriminant = e1 * e1 / 4 - e2
        if discriminant < 0 {
            let root = Complex(re: 0, im: (-discriminant).squareRoot())
            return [half + root, half - root]
        }
        let larger = -(e1 / 2 + discriminant.squareRoot())
        return [Complex(re: larger, im: 0), Complex(re: e2 / larger, im: 0)]
    }

    /// −dφ/dω in samples at ω = 2πf/fs.
    fileprivate func groupDelay(at frequency: Double, rate: Double) -> Double? {
        let delta = Self.delta(at: frequency, rate: rate)
        let square = delta * delta
        let numerator = b0 * square + beta1 * delta + Complex(re: beta2, im: 0)
        let denominator = square + e1 * delta + Complex(re: e2, im: 0)
        guard numerator.squaredMagnitude > 0, denominator.squaredMagnitude > 0 else { return nil }
        let slope =
            (2 * b0 * delta + Complex(re: beta1, im: 0)) / numerator
            - (2 * delta + Complex(re: e1, im: 0)) / denominator
        // dδ/dω = i (1 + δ)
        return -(slope * Complex(re: 1 + delta.re, im: delta.im)).re
    }
}

extension FilterSpecification.Design {
    /// The poles of all sections in their order; those of adaptive parts are not among them (see ``held(motion:)``).
    public func poles(rate: Double) -> [FilterPole] {
        sections.flatMap { section in section.deltaPoles.map { FilterPole(delta: $0, rate: rate) } }
    }

    /// The response at a frequency from 0 to half of the rate, both in Hz.
    public func response(at frequency: Double, rate: Double) -> FilterResponse {
        var h = Complex(re: 1, im: 0)
        var delay: Double? = 0
        for section in sections {
            let one = section.response(at: frequency, rate: rate)
            h = h * Complex(re: one.re, im: one.im)
            let own = section.groupDelay(at: frequency, rate: rate)
            delay = delay.flatMap { sum in own.map { sum + $0 } }
        }
        return FilterResponse(
            frequency: frequency, gain: h.squaredMagnitude.squareRoot(),
            phase: h == Complex(re: 0, im: 0) ? 0 : atan2(h.im, h.re),
            groupDelay: delay.map { $0 / rate })
    }
}
