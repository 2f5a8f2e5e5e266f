import SignalProcessing

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
