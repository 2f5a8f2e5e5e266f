import SignalProcessing

/// The settings below `sensor`: where the samples come from, and what is corrected in them.
public struct SensorConfiguration: Sendable, Equatable {
    public enum Driver: String, Sendable, CaseIterable { case auto, iio, i2c, simulate, replay }
    public var driver = Driver.auto
    /// Nominal rate in Hz.
    public var rate = 100.0
    /// Full scale in m/s².
    public var range = 2 * standardGravity
    /// How long samples are collected before they are read, s.
    public var block = 0.16
    /// Put the samples on the grid of the nominal rate, aligned to whole seconds of UTC.
    public var resample = false
    /// Run the chip's self-test each time the agent has started.
    public var selfTest = false
    public var mounting = MountingConfiguration()
    public var calibration = CalibrationConfiguration()
    public var iio = IIOSettings()
    public var i2c = I2CSettings()
    public var simulate = SimulateSettings()
    public var replay = ReplaySettings()

    public init() {}
}

/// Which sensor axis, and with which sign, is the station's x, y, z.
public struct MountingConfiguration: Sendable, Equatable {
    /// Sensor axis 0, 1, 2 with sign, for the station's x, y, z: `+x` is (0, +1).
    public struct Source: Sendable, Equatable {
        public var axis: Int
        public var sign: Double
        public init(axis: Int, sign: Double) {
            self.axis = axis
            self.sign = sign
        }
    }
    public var sources = PerAxis(Source(axis: 0, sign: 1))
    /// Bearing of the station's y axis in degrees, clockwise from true north.
    public var north = 0.0
    /// Roll, pitch and yaw in degrees: the sensor as it lies, after the axis map, is turned back by these about x, then
    /// y, then z.
    public var rotation = PerAxis(0.0)
    /// Turn z to where gravity pulls from, as found at rest.
    public var level = false

    public init() {
        sources.y = Source(axis: 1, sign: 1)
        sources.z = Source(axis: 2, sign: 1)
    }
}

/// Correction of the sensor's own errors, in its own axes: true = matrix · (measured − offset).
public struct CalibrationConfiguration: Sendable, Equatable {
    /// m/s².
    public var offset = PerAxis(0.0)
    /// Scale on the diagonal, cross-axis beside it; rows.
    public var matrix: [Double] = [1, 0, 0, 0, 1, 0, 0, 0, 1]

    public init() {}
}
