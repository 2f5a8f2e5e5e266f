import Messages
import MiniSEED
import Settings
import SignalProcessing
import Values

/// Writes FDSN StationXML 1.2 of stations, for everyone who asks what their counts are.
public enum StationXMLWriter {
    /// Level of detail, as in `fdsnws-station`.
    public enum Level: Int, Sendable, CaseIterable, Comparable {
        case network, station, channel, response
        public static func < (a: Level, b: Level) -> Bool { a.rawValue < b.rawValue }
    }

    /// - Parameters:
    ///   - created: nanoseconds of UTC.
    ///   - channels: those of a station that are told of; all where it is nil.
    public static func document(
        _ stations: [DescribedStation], created: Int64, level: Level = .response,
        channels: ((DescribedStation) -> [DescribedChannel])? = nil
    ) -> String {
        var xml = XMLText()
        xml.begin("FDSNStationXML", [("xmlns", "http://www.fdsn.org/xml/station/1"), ("schemaVersion", "1.2")])
        xml.leaf("Source", "Seismote")
        xml.leaf("Sender", "Seismote")
        xml.leaf("Module", "seismote \(productVersion)")
        xml.leaf("Created", Timestamp(nanoseconds: created).description)
        var networks: [String] = []
        for station in stations where !networks.contains(station.identity.network) {
            networks.append(station.identity.network)
        }
        for network in networks {
            xml.begin("Network", [("code", network)])
            for station in stations where level >= .station && station.identity.network == network {
                write(station, level >= .channel ? channels?(station) ?? station.channels : [], level, &xml)
            }
            xml.end()
        }
        xml.end()
        return xml.text
    }

    private static func write(
        _ station: DescribedStation, _ channels: [DescribedChannel], _ level: Level, _ xml: inout XMLText
    ) {
        let identity = station.identity
        let dates = [("startDate", station.begin), ("endDate", station.end)].compactMap { name, time in
            time.map { (name, Timestamp(nanoseconds: $0).description) }
        }
        xml.begin("Station", [("code", station.codes.station)] + dates)
        if identity.latitude == nil || identity.longitude == nil {
            xml.comment(
                "The station's settings give no position (station.latitude, station.longitude): 0 stands for it.")
        }
        place(of: identity, &xml)
        xml.begin("Site")
        xml.leaf("Name", identity.description.isEmpty ? identity.id : identity.description)
        xml.end()
        for channel in channels {
            xml.begin(
                "Channel", [("code", channel.source.channel), ("locationCode", channel.source.location)] + dates)
            xml.comment(
                station.isCalibrated
                    ? "Offset and sensitivity were measured on the spot; the frequency response is nominal."
                    : "Nominal, from the data sheet of the sensor; not calibrated.")
            place(of: identity, &xml)
            xml.leaf("Depth", 0)
            xml.leaf("Azimuth", channel.azimuth)
            xml.leaf("Dip", channel.dip)
            xml.leaf("Type", "CONTINUOUS")
            xml.leaf("Type", "GEOPHYSICAL")
            xml.leaf("SampleRate", channel.rate)
            xml.begin("Sensor")
            xml.leaf("Type", "Accelerometer")
            xml.leaf("Description", station.chip.isEmpty ? "MEMS accelerometer" : "MEMS accelerometer \(station.chip)")
            if !station.chip.isEmpty { xml.leaf("Model", station.chip) }
            xml.end()
            if level >= .response { ResponseXML.write(channel, &xml) }
            xml.end()
        }
        xml.end()
    }

    private static func place(of identity: StationIdentity, _ xml: inout XMLText) {
        xml.leaf("Latitude", identity.latitude ?? 0)
        xml.leaf("Longitude", identity.longitude ?? 0)
        xml.leaf("Elevation", identity.elevation ?? 0)
    }
}

/// The element `Response` of a channel.
enum ResponseXML {
    static func write(_ channel: DescribedChannel, _ xml: inout XMLText) {
        // Where every filter passes all: well below the corner.
        let frequency = min(1, channel.rate / 20)
        xml.begin("Response")
        xml.begin("InstrumentSensitivity")
        xml.leaf("Value", channel.sensitivity)
        xml.leaf("Frequency", frequency)
        units("InputUnits", "m/s**2", "Acceleration", &xml)
        units("OutputUnits", "count", "Digital counts", &xml)
        xml.end()
        for (index, stage) in channel.stages.enumerated() {
            xml.begin("Stage", [("number", "\(index + 1)")])
            write(stage, frequency, &xml)
            xml.end()
        }
        xml.end()
    }

    private static func write(_ stage: ResponseStage, _ frequency: Double, _ xml: inout XMLText) {
        switch stage {
        case .sensor(let gain, let rate):
            xml.begin("PolesZeros")
            units("InputUnits", "m/s**2", "Acceleration", &xml)
            units("OutputUnits", "count", "Digital counts", &xml)
            xml.leaf("PzTransferFunctionType", "DIGITAL (Z-TRANSFORM)")
            xml.leaf("NormalizationFactor", 1)
            xml.leaf("NormalizationFrequency", frequency)
            xml.end()
            decimation(factor: 1, rate: rate, delay: 0, &xml)
            self.gain(gain, frequency, &xml)
        case .decimation(let stage, let rate):
            xml.begin("FIR")
            counts(&xml)
            xml.leaf("Symmetry", "ODD")
            // Up to the centre; the rest mirrors them.
            for (i, value) in stage.coefficients.reversed().enumerated() {
                xml.leaf("NumeratorCoefficient", value, [("i", "\(i + 1)")])
            }
            xml.end()
            decimation(factor: stage.factor, rate: rate, delay: Double(stage.halfLength) / rate, &xml)
            self.gain(1, frequency, &xml)
        case .recursive(let sections, let factor, let delay, let rate):
            xml.begin("PolesZeros")
            counts(&xml)
            xml.leaf("PzTransferFunctionType", "DIGITAL (Z-TRANSFORM)")
            xml.leaf("NormalizationFactor", sections.reduce(1) { $0 * $1.b0 })
            xml.leaf("NormalizationFrequency", frequency)
            for (name, roots) in [("Zero", sections.flatMap(\.zeros)), ("Pole", sections.flatMap(\.poles))] {
                for (i, root) in roots.enumerated() {
                    xml.begin(name, [("number", "\(i)")])
                    xml.leaf("Real", root.re)
                    xml.leaf("Imaginary", root.im)
                    xml.end()
                }
            }
            xml.end()
            decimation(factor: factor, rate: rate, delay: delay / rate, &xml)
            self.gain(1, frequency, &xml)
        }
    }

    private static func counts(_ xml: inout XMLText) {
        units("InputUnits", "count", "Digital counts", &xml)
        units("OutputUnits", "count", "Digital counts", &xml)
    }

    private static func units(_ element: StaticString, _ name: String, _ words: String, _ xml: inout XMLText) {
        xml.begin("\(element)")
        xml.leaf("Name", name)
        xml.leaf("Description", words)
        xml.end()
    }

    /// - Parameter delay: seconds, all of which the time stamps have been corrected for.
    private static func decimation(factor: Int, rate: Double, delay: Double, _ xml: inout XMLText) {
        xml.begin("Decimation")
        xml.leaf("InputSampleRate", rate)
        xml.leaf("Factor", "\(factor)")
        xml.leaf("Offset", "0")
        xml.leaf("Delay", delay)
        xml.leaf("Correction", delay)
        xml.end()
    }

    private static func gain(_ value: Double, _ frequency: Double, _ xml: inout XMLText) {
        xml.begin("StageGain")
        xml.leaf("Value", value)
        xml.leaf("Frequency", frequency)
        xml.end()
    }
}

extension Section {
    /// In the z plane.
    var zeros: [(re: Double, im: Double)] { Self.roots(b0, beta1, beta2) }
    var poles: [(re: Double, im: Double)] { Self.roots(1, e1, e2) }

    /// Roots of aδ² + bδ + c with δ = z − 1.
    private static func roots(_ a: Double, _ b: Double, _ c: Double) -> [(re: Double, im: Double)] {
        let (half, square) = (-b / (2 * a), b * b - 4 * a * c)
        let spread = abs(square).squareRoot() / (2 * a)
        return square < 0
            ? [(1 + half, spread), (1 + half, -spread)] : [(1 + half + spread, 0), (1 + half - spread, 0)]
    }
}

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
    public init?(info: InfoReading, config: ConfigReading?) {
        var settings = Configuration()
        guard let sensor = info.sensor, let rate = sensor.rate, rate > 0, rate <= 1e6 else { return nil }
        if let station = info.station {
            settings.station.id = station.id ?? ""
            settings.station.network = station.network ?? settings.station.network
            settings.station.code = station.code ?? ""
            settings.station.location = station.location ?? settings.station.location
            (settings.station.latitude, settings.station.longitude) = (station.latitude, station.longitude)
            settings.station.elevation = station.elevation
            settings.station.description = station.description ?? ""
        }
        if let told = config?.settings {
            settings.sensor.mounting.north = told.north ?? 0
            if let isOn = told.hasTraces { settings.trace.enabled = isOn }
            if let rate = told.statedTraceRate?.number, rate > 0 { settings.trace.rate = rate }
            if let filter = told.traceFilter.flatMap(DecimationPhase.init) { settings.trace.filter = filter }
        }
        var known = InfoMessage.Sensor(
            driver: sensor.driver ?? "", chip: sensor.chip ?? "", rate: rate, range: sensor.range,
            resolution: sensor.resolution)
        known.calibration = sensor.calibration
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
