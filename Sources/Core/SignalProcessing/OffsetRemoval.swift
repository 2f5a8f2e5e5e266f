#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// How the sensor's offset and gravity are taken away.
public enum OffsetSpecification: Sendable, Equatable {
    case none
    /// Minus the mean of the first `seconds`; the samples of that time are held back until it is known.
    case meanFirst(seconds: Double)
    /// Exponential average g₀ = x₀, gₙ = k xₙ + (1−k) gₙ₋₁; the output is x − g.
    case ema(EMACoefficient)
    /// Butterworth high pass started in steady state for the first sample.
    case highpass(corner: Double, order: Int)

    public enum EMACoefficient: Sendable, Equatable {
        /// k itself, above 0 and at most 1; 0.1 is the classic 10 %/90 % split.
        case alpha(Double)
        /// k = dt / (dt + 1/(2π fc)), fc in Hz.
        case corner(Double)
    }

    /// The same removal for another rate.
    /// - Parameter rate: samples per second that it is meant for.
    public func independent(of rate: Double) -> OffsetSpecification {
        guard case .ema(.alpha(let k)) = self else { return self }
        return k < 1 ? .ema(.corner(k / (1 - k) * rate / (2 * Double.pi))) : .none
    }
}

/// Takes a sensor's offset and gravity away from three planes, in place.
///
/// `meanFirst` needs the mean of samples that are yet to come: its owner holds the first `holdBack` samples after a
/// start or a gap, gives their means to ``setMean(_:_:_:)``, and only then processes them. All other modes work on any
/// sample at once.
public struct OffsetRemoval: Sendable {
    private enum Mode {
        case none
        case mean
        case average(k: Double)
        case highpass
    }
    private let mode: Mode
    private var filter: AxisFilter
    /// The average (`ema`) or the mean (`meanFirst`) of each axis.
    private var x0 = 0.0
    private var y0 = 0.0
    private var z0 = 0.0
    private var started = false
    /// Samples after a start or a gap whose mean the owner has to find; 0 for most modes.
    public let holdBack: Int
    /// Seconds until the error of the first sample, taken for the offset, has decayed to 5 %.
    public let settlingTime: Double

    /// - Parameter rate: samples per second.
    public init(_ specification: OffsetSpecification, rate: Double) throws(FilterDesignError) {
        var design = FilterSpecification.Design(sections: [], starts: [])
        var holdBack = 0
        switch specification {
        case .none:
            mode = .none
            settlingTime = 0
        case .meanFirst(let seconds):
            mode = .mean
            holdBack = WindowLength.seconds(seconds).samples(at: rate)
            settlingTime = seconds
        case .ema(let coefficient):
            let k: Double
            switch coefficient {
            case .alpha(let alpha): k = alpha
            case .corner(let corner):
                let interval = 1 / rate
                k = interval / (interval + 1 / (2 * Double.pi * corner))
            }
            mode = .average(k: k)
            settlingTime = k >= 1 ? 0 : -3 / log1p(-k) / rate
        case .highpass(let corner, let order):
            mode = .highpass
            let filter = FilterSpecification.butterworth(
                .init(band: .highpass, corners: [corner], order: order, start: .steady))
            design = try filter.design(rate: rate)
            settlingTime = design.settlingTime(rate: rate)
        }
        self.holdBack = holdBack
        filter = AxisFilter(design, design, design)
    }

    /// The means that `meanFirst` subtracts from now on.
    public mutating func setMean(_ x: Double, _ y: Double, _ z: Double) {
        (x0, y0, z0) = (x, y, z)
    }

    /// Forgets all samples.
    public mutating func reset() {
        started = false
        filter.reset()
    }

    /// Removes the offset from `count` samples.
    public mutating func process(
        _ x: UnsafeMutablePointer<Double>, _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>,
        count: Int
    ) {
        guard count > 0 else { return }
        switch mode {
        case .none: break
        case .highpass: filter.process(x, y, z, count: count)
        case .mean:
            for i in 0..<count {
                x[i] -= x0
                y[i] -= y0
                z[i] -= z0
            }
        case .average(let k):
            if !started {
                (x0, y0, z0) = (x[0], y[0], z[0])
                started = true
            }
            // The first sample is its own average: k x₀ + (1 − k) x₀ is computed as x₀ + k (x₀ − x₀), exactly x₀.
            var (gx, gy, gz) = (x0, y0, z0)
            for i in 0..<count {
                gx += k * (x[i] - gx)
                gy += k * (y[i] - gy)
                gz += k * (z[i] - gz)
                x[i] -= gx
                y[i] -= gy
                z[i] -= gz
            }
            (x0, y0, z0) = (gx, gy, gz)
        }
    }
}
