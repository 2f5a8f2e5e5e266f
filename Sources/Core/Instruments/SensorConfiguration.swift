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

/// Which accelerometer of the kernel's IIO subsystem, and how its buffer is paced.
public struct IIOSettings: Sendable, Equatable {
    public enum Trigger: String, Sendable, CaseIterable {
        /// Whatever works: own trigger or FIFO, the one that the device has, hrtimer, sysfs, none.
        case auto
        /// The device's own trigger or FIFO.
        case device
        /// A timer of the kernel, made through configfs.
        case hrtimer
        /// A trigger that the agent fires itself.
        case sysfs
        /// No buffer: values are read one by one.
        case none
    }

    /// Name, label or id (`iio:device0`) of the device; `auto`: the first with the channels of an accelerometer.
    public var device = "auto"
    /// Context of libiio: `local:`, `ip:host`, `usb:`.
    public var uri = "local:"
    public var trigger = Trigger.auto

    public init() {}
}

/// Which chip on which I2C bus.
public struct I2CSettings: Sendable, Equatable {
    /// N of `/dev/i2c-N`.
    public var bus = 1
    /// Address of 7 bits; nil: each at which the chip may be.
    public var address: Int?
    /// Name of the chip, or `auto`.
    public var chip = "auto"
    /// GPIO line that rises when the FIFO has reached its watermark, `gpiochip0:17`; empty: none.
    public var dataReady = ""

    public init() {}
}

/// Which recording is played, and how.
public struct ReplaySettings: Sendable, Equatable {
    public enum Unit: String, Sendable, CaseIterable {
        case metresPerSecondSquared = "m/s^2", g

        /// m/s² of one unit.
        package var factor: Double { self == .g ? standardGravity : 1 }
    }

    /// Path of a CSV or miniSEED file; the content decides which.
    public var file: String
    /// Times real time; 0 is as fast as possible.
    public var speed = 1.0
    /// Start again at the end: time goes on and a gap is declared.
    public var loop = false
    /// m/s² per count of miniSEED, or per unit of the file. Nil: what the recording itself says, and 1 for
    /// samples that are no counts; counts of which nothing is known are refused.
    public var scale: PerAxis<Double>?
    /// Unit of a CSV file's columns, before `scale`.
    public var unit = Unit.metresPerSecondSquared

    public init(file: String = "") { self.file = file }
}

/// Settings of a simulated sensor.
public struct SimulateSettings: Sendable, Equatable {
    public enum Scenario: String, Sendable, CaseIterable {
        /// Gravity and the sensor's own noise.
        case quiet
        /// An earthquake every two minutes, the first P wave 40 s after the start.
        case quake
        /// Somebody carries the sensor: 1.9 steps a second.
        case walk
        /// A knock on the table every 10 s.
        case tableKnock = "table-knock"
        /// Shake's test signals on all three axes, bare: no gravity, no noise, 20 samples of zero first.
        case sine, step, impulse
    }

    public var scenario = Scenario.quiet
    /// RMS of the noise on each axis in m/s².
    public var noise = 0.3e-3 * standardGravity
    public var seed: UInt64 = 1
    /// Amplitude in m/s² of `sine`, `step` and `impulse`.
    public var amplitude = standardGravity
    /// Hz, of `sine`.
    public var frequency = 1.0

    public init() {}
}
