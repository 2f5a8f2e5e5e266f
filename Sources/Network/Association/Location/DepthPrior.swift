import Glibc

/// How deep the earthquakes of a region are before any onset tells: usually within its seismogenic depths, now and then
/// anywhere below. Times of P waves at the surface of a small network hardly tell the depth, and a magnitude computed with
/// a depth that is too small is too small.
public struct DepthPrior: Sendable, Equatable {
    /// Kilometres: usual depth, and its standard deviation.
    public var middle: Double
    public var spread: Double

    /// Part of the density that the tail has at the middle: of a Cauchy distribution twice as wide, so that deep earthquakes
    /// stay possible.
    private static let tail = 0.02
    private static let tailWidth = 2.0

    public init(middle: Double = 10, spread: Double = 4) { (self.middle, self.spread) = (middle, spread) }

    /// Cost of a depth (km), as the negative logarithm of a probability; 0 at the middle.
    func cost(_ depth: Double) -> Double {
        let x = (depth - middle) / spread
        let far = x / Self.tailWidth
        return log(1 + Self.tail) - log(exp(-x * x / 2) + Self.tail / (1 + far * far))
    }

    /// Kilometres of depth with which the rarity of an earthquake is reckoned: within the usual depths (two standard
    /// deviations) none is rarer than another, which is what the prior itself says.
    func rarityDepth(_ depth: Double) -> Double { max(middle, depth - 2 * spread) }
}
