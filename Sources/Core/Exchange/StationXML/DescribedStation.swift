import Messages
import MiniSEED
import Settings
import SignalProcessing
import Values

/// Description of a station for other programs: who and where it is, which channels it has, how they point, and what
/// their numbers are in m/s². It is made from a station's settings, or from its `state/info` and `state/config`.
public struct DescribedStation: Sendable, Equatable {
    public var identity: StationIdentity
    /// Bearing of the y axis in degrees, clockwise from true north.
    public var north = 0.0
    /// Samples per second of the sensor.
    public var rate: Double
    /// m/s² of one count of waveforms; traces have their own, see ``CountScale``.
    public var unitPerCount: Double
    /// Model of the chip; empty: not known.
    public var chip = ""
    /// The sensor's offset and sensitivity have been measured on the spot.
    public var isCalibrated = false
    /// How traces are made; nil: there are none.
    public var trace: TraceConfiguration?
    /// Since when, and until when, all this holds: nanoseconds of UTC; nil: not known, and still.
    public var begin: Int64?
    public var end: Int64?

    /// - Parameter sensor: as in `state/info`; nil: not known, and the rate is that of the settings.
    public init(_ settings: Configuration, sensor: InfoMessage.Sensor? = nil) {
        identity = settings.station
        north = settings.sensor.mounting.north
        rate = sensor?.rate ?? settings.sensor.rate
        unitPerCount = CountScale(resolution: sensor?.resolution, range: sensor?.range).unitPerCount
        chip = sensor?.chip ?? ""
        isCalibrated = sensor?.calibration != nil
        trace = settings.trace.enabled ? settings.trace : nil
    }

    /// From a station's messages, which may be of another version: what is not there, or is not what it should be, is taken
    /// as the default.
    /// - Parameters:
    ///   - info: `state/info`.
    ///   - config: `state/config`.
    /// - Returns: nil where the sensor's rate is not known.
    public init?(info: Value, config: Value?) {
        var settings = Configuration()
        guard let sensor = info["sensor"], let rate = sensor["rate_hz"]?.number, rate > 0, rate <= 1e6 else {
            return nil
        }
        let station = info["station"]
        settings.station.id = station?["id"]?.rawText ?? ""
        settings.station.network = station?["network"]?.rawText ?? settings.station.network
        settings.station.code = station?["code"]?.rawText ?? ""
        settings.station.location = station?["location"]?.rawText ?? settings.station.location
        settings.station.latitude = station?["latitude"]?.number
        settings.station.longitude = station?["longitude"]?.number
        settings.station.elevation = station?["elevation_m"]?.number
        settings.station.description = station?["description"]?.rawText ?? ""
        let tree = config?["config"]
        settings.sensor.mounting.north = tree?["sensor"]?["mounting"]?["north_deg"]?.number ?? 0
        let trace = tree?["trace"]
        if let isOn = trace?["enabled"]?.flag { settings.trace.enabled = isOn }
        if let rate = trace?["rate_hz"]?.number, rate > 0 { settings.trace.rate = rate }
        if let filter = trace?["filter"]?.rawText.flatMap(DecimationPhase.init) { settings.trace.filter = filter }
        var known = InfoMessage.Sensor(
            driver: sensor["driver"]?.rawText ?? "", chip: sensor["chip"]?.rawText ?? "", rate: rate,
            range: sensor["range"]?.number, resolution: sensor["resolution"]?.number)
        known.calibration = sensor["calibration"]
        self.init(settings, sensor: known)
    }

    /// How its channels are called.
    public var codes: ChannelCodes {
        ChannelCodes(
            network: identity.network, station: identity.code, location: identity.location, id: identity.id,
            north: north)
    }
}

/// One channel of a station: where its numbers come from and what they mean.
public struct DescribedChannel: Sendable, Equatable {
    public var source: SourceIdentifier
    /// Direction in which positive numbers point: degrees clockwise from true north, and down from the horizontal.
    public var azimuth: Double
    public var dip: Double
    /// Samples per second.
    public var rate: Double
    /// From the ground's acceleration to the numbers.
    public var stages: [ResponseStage]

    /// Counts for 1 m/s² of slow motion.
    public var sensitivity: Double {
        stages.reduce(1) { if case .sensor(let gain, _) = $1 { $0 * gain } else { $0 } }
    }
}

/// A stage of a channel's response.
public enum ResponseStage: Sendable, Equatable {
    /// The chip with its converter: counts per m/s², the same at all frequencies as far as its data sheet says.
    case sensor(gain: Double, rate: Double)
    /// A symmetric low pass with decimation, whose delay has been taken off the time; at the rate of its input.
    case decimation(DecimationStage, rate: Double)
    /// A recursive low pass with decimation; of its delay in samples, that of low frequencies has been taken off the time.
    case recursive([Section], factor: Int, delay: Double, rate: Double)
}

extension DescribedStation {
    /// The channels of raw acceleration: of the waveforms at the full rate, and of the traces where they have another rate.
    ///
    /// (Traces at the sensor's own rate have the names of the waveforms, so that only one of both can be described.)
    public var channels: [DescribedChannel] {
        let full = acceleration(rate: rate, stages: [.sensor(gain: 1 / unitPerCount, rate: rate)])
        guard let trace, rate > 0 else { return full }
        let factor = trace.factor(at: rate)
        guard factor > 1 else { return full }
        let filter = DecimationFilter(factor: factor, phase: trace.filter)
        var stages = [ResponseStage.sensor(gain: 1 / CountScale().unitPerCount, rate: rate)]
        var reached = rate
        for stage in filter.stages {
            stages.append(.decimation(stage, rate: reached))
            reached /= Double(stage.factor)
        }
        if !filter.sections.isEmpty {
            stages.append(
                .recursive(filter.sections, factor: factor, delay: Double(filter.delay) + filter.fraction, rate: rate))
        }
        return full + acceleration(rate: rate / Double(factor), stages: stages)
    }

    private func acceleration(rate: Double, stages: [ResponseStage]) -> [DescribedChannel] {
        let codes = codes
        // Of x, y and z, with z up.
        return [(north + 90, 0.0), (north, 0), (0, -90)].enumerated().map { axis, place in
            let turned = place.0.truncatingRemainder(dividingBy: 360)
            return DescribedChannel(
                source: codes.source(.acceleration, axis: axis, rate: rate),
                azimuth: turned < 0 ? turned + 360 : turned,
                dip: place.1, rate: rate, stages: stages)
        }
    }
}
