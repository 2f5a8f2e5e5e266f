#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A sine cardinal below Kaiser's window: weights of samples for a value between them.
public struct KaiserSinc: Sendable {
    /// Samples on each side that count.
    private let half: Double
    private let beta: Double
    private let full: Double

    /// - Parameters:
    ///   - half: samples on each side that count.
    ///   - beta: of the window; larger ones have less ripple and a wider transition.
    public init(half: Int, beta: Double) { (self.half, self.beta, full) = (Double(half), beta, bessel0(beta)) }

    /// The weight of a sample that is so many samples away: 1 at 0.
    public func weight(at distance: Double) -> Double {
        let position = distance / half
        let angle = Double.pi * distance
        let window = bessel0(beta * max(0, 1 - position * position).squareRoot()) / full
        return (distance == 0 ? 1 : sin(angle) / angle) * window
    }
}

/// Modified Bessel function I₀ by its power series.
func bessel0(_ x: Double) -> Double {
    let y = x * x / 4
    var term = 1.0
    var sum = 1.0
    var k = 1.0
    while term > sum * 1e-17 {
        term *= y / (k * k)
        sum += term
        k += 1
    }
    return sum
}
