import MiniSEED
import SignalProcessing

/// The quantity of a channel's samples, as far as its name and its records tell.
enum ChannelUnit {
    /// Meanings of instrument codes (the second letter of a channel), by the FDSN source identifiers and the SEED
    /// manual, appendix A: those that are no acceleration.
    private static let instruments: [String: String] = [
        "H": "a high-gain seismometer, which measures velocity", "L": "a low-gain seismometer, which measures velocity",
        "P": "a geophone, which measures velocity", "M": "the position of a seismometer's mass",
        "A": "a tilt meter", "B": "a creep meter", "C": "a calibration input", "D": "a pressure sensor",
        "E": "an electronic test point", "F": "a magnetometer", "I": "a humidity sensor", "J": "a rotational sensor",
        "K": "a temperature sensor", "O": "a water current", "Q": "an electric potential", "R": "rainfall",
        "S": "a strain meter", "T": "a tide meter", "U": "a bolometer", "V": "a volumetric strain meter", "W": "wind",
    ]

    /// m/s² of one sample of x, y and z: what is given, what the recording says of its counts, and 1 for samples that are
    /// a quantity. Counts that are taken for m/s² would be an earthquake of thousands of g, and a velocity is none.
    static func scale(
        _ channels: [IndexedChannel], _ given: PerAxis<Double>?, file: String
    ) throws(SensorError) -> (x: Double, y: Double, z: Double) {
        if let given { return (given.x, given.y, given.z) }
        var units: [Double] = []
        for channel in channels {
            if case .known(let unit) = channel.unit, channel.holdsIntegers {
                units.append(unit)
                continue
            }
            if let meaning = instruments[channel.source.source] {
                throw SensorError(
                    .format,
                    "\(file): \(channel.source) is by its code \(channel.source.source) \(meaning), and no acceleration: "
                        + "take the channels of an accelerometer (code N), or " + remedy)
            }
            guard !channel.holdsIntegers else {
                throw SensorError(
                    .format,
                    "\(file): the samples of \(channel.source) are counts, and what one of them is in m/s² "
                        + (channel.unit == .mixed ? "differs between records" : "is not known") + ": " + remedy)
            }
            units.append(1)
        }
        return (units[0], units[1], units[2])
    }

    private static let remedy =
        "give m/s² per count, in the settings as sensor.replay.scale, to the tool as --scale or as --stationxml FILE"

    /// Sentences on channels that are no acceleration by their code, where somebody has given a scale.
    static func doubts(_ channels: [IndexedChannel]) -> [String] {
        channels.compactMap { channel in
            instruments[channel.source.source].map {
                "\(channel.source) is by its code \(channel.source.source) \($0): the scale is taken as m/s² of one count"
            }
        }
    }
}
