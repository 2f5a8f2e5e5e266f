import Messages
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
