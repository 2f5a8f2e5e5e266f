import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Calibration at rest: what one recording of a sensor that nobody touches says of its offset and its noise.
///
/// One position cannot tell an offset from a tilt. With the vertical axis given, the sensor is taken to be level: what
/// the other two axes show, and what the vertical one shows beside 1 g, is offset (1° of tilt becomes 17 mg). Without,
/// only the length of gravity is known, and the smallest offset that makes it 1 g is taken.
public struct RestCalibration: Sendable, Equatable {
    public struct Axis: Sendable, Equatable {
        /// m/s².
        public var mean: Double
        public var offset: Double
        /// RMS of the noise, m/s², and its density in m/s²/√Hz.
        public var noise: Double
        public var density: Double
        /// Density in µg/√Hz, as data sheets have it.
        public var microG: Double { density / standardGravity * 1e6 }
    }
    public var x: Axis
    public var y: Axis
    public var z: Axis
    public var seconds: Double
    /// Length of the mean, m/s².
    public var magnitude: Double
    /// Whether gravity is 1 g within 10 %: beyond that the scale is wrong, and an offset mends nothing.
    public var isPlausible: Bool { (magnitude / standardGravity - 1).magnitude <= Self.tolerance }
    public var correction: Correction { Correction(offset: [x.offset, y.offset, z.offset]) }

    public static let tolerance = 0.1

    /// - Parameter vertical: the sensor's axis that points up (0, 1, 2) and its sign when the sensor is known to be level.
    /// - Throws: when it was not at rest.
    public init(_ rest: RestRecording, vertical: (axis: Int, sign: Double)?) throws(CalibrationError) {
        if let movement = rest.movement() { throw CalibrationError("the sensor was not at rest: \(movement)") }
        let mean = rest.mean
        let length = (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]).squareRoot()
        magnitude = length
        seconds = rest.seconds
        var expected = mean.map { length > 0 ? $0 * standardGravity / length : 0 }
        if let vertical {
            guard vertical.sign * mean[vertical.axis] > 0.8 * length else {
                let name = (vertical.sign < 0 ? "-" : "+") + ["x", "y", "z"][vertical.axis]
                throw CalibrationError(
                    "the sensor does not lie as the settings say: \(name) does not point up (sensor.mounting)")
            }
            expected = [0, 0, 0]
            expected[vertical.axis] = vertical.sign * standardGravity
        }
        func axis(_ i: Int, _ values: [Double]) -> Axis {
            let noise = RestRecording.noise(values, rate: rest.rate)
            return Axis(mean: mean[i], offset: mean[i] - expected[i], noise: noise.rms, density: noise.density)
        }
        (x, y, z) = (axis(0, rest.x), axis(1, rest.y), axis(2, rest.z))
    }
}

/// Samples of a sensor that is to be at rest: collects them, says whether it was, and what they say.
public struct RestRecording: Sendable {
    public private(set) var x: [Double] = []
    public private(set) var y: [Double] = []
    public private(set) var z: [Double] = []
    /// Samples per second.
    public let rate: Double

    /// Shortest recording that says something, seconds.
    public static let shortest = 2.0

    public init(rate: Double) { self.rate = rate }

    public var count: Int { x.count }
    public var seconds: Double { Double(count) / rate }

    public mutating func append(_ block: SampleBlock) {
        for i in 0..<block.count where block[0, i].isFinite && block[1, i].isFinite && block[2, i].isFinite {
            x.append(block[0, i])
            y.append(block[1, i])
            z.append(block[2, i])
        }
    }

    public mutating func removeAll() {
        x.removeAll(keepingCapacity: true)
        y.removeAll(keepingCapacity: true)
        z.removeAll(keepingCapacity: true)
    }

    /// Mean of each axis, m/s².
    public var mean: [Double] { [Self.mean(x[...]), Self.mean(y[...]), Self.mean(z[...])] }

    static func mean(_ values: ArraySlice<Double>) -> Double {
        values.reduce(0, +) / Double(max(1, values.count))
    }

    /// Noise of one axis by the differences of neighbours, which leave out tilt and drift. Differences beyond five times
    /// the spread are left out: knocks.
    ///
    /// White noise of density d has a variance of d²·rate/2, and differences have twice that. A chip whose low pass is
    /// far below half of the rate, or a coarse one, is told too small or too large a density: it is what the samples
    /// show.
    /// - Returns: RMS in m/s² and density in m/s²/√Hz.
    public static func noise(_ values: [Double], rate: Double) -> (rms: Double, density: Double) {
        guard values.count > 1 else { return (0, 0) }
        let squares = zip(values, values.dropFirst()).map { ($1 - $0) * ($1 - $0) }
        var limit = Double.infinity
        var variance = 0.0
        for _ in 0..<3 {
            var sum = 0.0
            var count = 0
            for square in squares where square <= limit {
                sum += square
                count += 1
            }
            variance = sum / Double(max(1, count)) / 2
            limit = 25 * 2 * variance
        }
        return (variance.squareRoot(), (2 * variance / rate).squareRoot())
    }

    /// Reason why these samples are not of a sensor at rest; nil when they are.
    ///
    /// At rest the means of the single seconds agree to five standard errors, or to 2 mg, whichever is more (1/f noise and
    /// warming move the mean by about that), and no second's deviation is more than 2.2 times that of the noise (a chip's
    /// low pass at a quarter of the rate makes 1.7 of it) or 2 mg.
    public func movement() -> String? {
        let second = max(2, Int(rate.rounded()))
        guard seconds >= Self.shortest, count >= 2 * second else {
            return "it is only \(count) samples: at least \(Int(Self.shortest)) s are needed"
        }
        let small = 0.002 * standardGravity
        for (name, values) in [("x", x), ("y", y), ("z", z)] {
            let noise = Self.noise(values, rate: rate).rms
            let all = Self.mean(values[...])
            let allowedMean = max(5 * noise / Double(second).squareRoot(), small)
            let allowedDeviation = max(2.2 * noise, small)
            for number in 0..<count / second {
                let part = values[number * second..<(number + 1) * second]
                let mean = Self.mean(part)
                let variance = part.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(second)
                if variance.squareRoot() > allowedDeviation {
                    return "it was shaken: axis \(name) in second \(number + 1)"
                }
                if (mean - all).magnitude > allowedMean {
                    return "it was tilted or drifts: axis \(name) in second \(number + 1)"
                }
            }
        }
        return nil
    }
}
