import Instruments
import Settings
import Values

/// A sensor's reading of gravity and its own offset, along the station's axes: it outlives a restart where the sensor and
/// its mounting are the same.
public struct RestLevel: Sendable, Equatable {
    /// m/s².
    public var x: Double
    public var y: Double
    public var z: Double
    /// When it was measured, nanoseconds of UTC.
    public var time: Int64
    /// Stands for the sensor and all that turns its numbers into the station's.
    public var origin: UInt64

    /// A sensor's offset drifts with its temperature: older levels are not used, ns.
    private static let longestAge: Int64 = 24 * 3_600_000_000_000

    public init(x: Double, y: Double, z: Double, time: Int64, origin: UInt64) {
        (self.x, self.y, self.z, self.time, self.origin) = (x, y, z, time, origin)
    }

    /// Whether it is one of this sensor, and not too old or of the future.
    /// - Parameter now: nanoseconds of UTC.
    public func fits(origin: UInt64, now: Int64) -> Bool {
        let (age, isOver) = now.subtractingReportingOverflow(time)
        return self.origin == origin && !isOver && (0...Self.longestAge).contains(age) && isUsable(x, y, z)
    }

    /// A number for a sensor and its mounting: of others it is another. Nil: gravity is only found after the start, or the
    /// samples are made up.
    public static func origin(
        driver: String, chip: String, _ sensor: StationSensor, _ configuration: Configuration
    ) -> UInt64? {
        let (settings, axes) = (configuration.sensor, configuration.axes)
        let mounting = settings.mounting
        guard !mounting.level else { return nil }
        var hash = FNV1a()
        for text in [driver, chip, settings.driver.rawValue] {
            hash.add(text)
            hash.add(UInt8(0))
        }
        let numbers: [Double] = [sensor.rate, sensor.range ?? -1, sensor.resolution ?? -1]
        for number in numbers { hash.add(number) }
        for axis in 0..<3 {
            guard axes[axis].signal == .sensor else { return nil }
            hash.add(Double(mounting.sources[axis].axis))
            hash.add(mounting.sources[axis].sign)
            hash.add(mounting.rotation[axis])
            hash.add(settings.calibration.offset[axis])
        }
        for number in settings.calibration.matrix { hash.add(number) }
        return hash.value
    }
}

/// The mean of the last minute, second by second.
struct RestMean: Sendable {
    private var seconds = 0
    private var mean = SIMD3<Double>.zero
    /// Seconds of the mean at most.
    private static let longest = 60

    /// Takes the mean of a second, m/s².
    mutating func take(_ x: Double, _ y: Double, _ z: Double) {
        seconds = min(seconds + 1, Self.longest)
        mean += (SIMD3(x, y, z) - mean) / Double(seconds)
    }

    mutating func reset() { self = RestMean() }

    /// Nil while it is of less than ten seconds.
    var value: (x: Double, y: Double, z: Double)? { seconds < 10 ? nil : (mean.x, mean.y, mean.z) }
}

/// Keeps the first samples after a start or a gap until their mean is known.
struct HoldBack: Sendable {
    /// Samples to wait for; 0 keeps none.
    let length: Int
    private(set) var count = 0
    private(set) var isOpen: Bool
    /// x, y, z one after the other, sample by sample.
    private(set) var samples: [Double] = []

    init(length: Int) {
        self.length = length
        isOpen = length > 0
        samples.reserveCapacity(3 * length)
    }

    mutating func reset() {
        samples.removeAll(keepingCapacity: true)
        count = 0
        isOpen = length > 0
    }

    /// Takes a sample; true when it was the last one to wait for.
    mutating func push(_ x: Double, _ y: Double, _ z: Double) -> Bool {
        samples.append(x)
        samples.append(y)
        samples.append(z)
        count += 1
        return count >= length
    }

    /// Ends the waiting and returns the means.
    mutating func close() -> (x: Double, y: Double, z: Double) {
        isOpen = false
        var (x, y, z) = (0.0, 0.0, 0.0)
        for i in 0..<count {
            x += samples[3 * i]
            y += samples[3 * i + 1]
            z += samples[3 * i + 2]
        }
        let n = Double(max(1, count))
        return (x / n, y / n, z / n)
    }
}
