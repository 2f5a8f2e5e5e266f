import Values
import Vibration

/// Natural modes of the structure that the sensor stands on (`data/modes`), of one period of its ambient vibration.
public struct ModesMessage: Sendable, Equatable {
    /// Modes that are told: those that stand out most.
    public static let most = 12
    /// Numbers that they may have.
    public static let ids = 1...1_000_000_000

    /// Begin of the period's motion, nanoseconds of UTC.
    public var start: Int64 = 0
    /// Seconds of motion that were looked at.
    public var seconds = 0.0
    /// Segments that were averaged.
    public var segments = 0
    /// Temperature of the sensor's chip, °C; nil: it does not measure it.
    public var temperature: Double?
    /// From the lowest on.
    public var modes: [StructureMode] = []

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.time("start", start, "Begin of the motion that was looked at.")
        f.number("seconds", seconds, unit: "s", "How much of it there was.")
        f.integer("segments", segments, "Spectra that were averaged, which overlap by half.")
        f.number("resolution_hz", ModeAnalysis.resolution, unit: "Hz", "Of the spectra.")
        f.number(
            "temperature_c", temperature, unit: "Cel", "Temperature of the sensor's chip, for chips that measure it.")
        f.visit(
            Field("modes", "Natural modes, from the lowest on; none is no error."), modes,
            blank: { StructureMode(frequency: 0, damping: 0, shape: [0, 0, 0], prominence: 0) }
        ) {
            $1.integer(
                "id", $0.id,
                "Number by which the station knows it again from period to period, by frequency and shape, also after a restart."
            )
            $1.number("frequency_hz", $0.frequency, unit: "Hz", "Natural frequency.")
            $1.number("damping", $0.damping, unit: "1", "Share of critical damping.")
            $1.number("x", $0.shape[0], unit: "1", "Motion along x by that of the strongest axis.")
            $1.number("y", $0.shape[1], unit: "1", "Motion along y, in the same way.")
            $1.number("z", $0.shape[2], unit: "1", "Motion along z, in the same way.")
            $1.number(
                "prominence_db", $0.prominence, unit: "dB",
                "How far the spectrum stands out of its surroundings of 1 Hz there; broad modes do so little.")
            $1.flag(
                "picked", $0.isPicked,
                "Whether the second opinion, peak picking, finds it as well; left out where it is not known, as of stored ones."
            )
        }
    }

    /// Reads a message; nil: it is none.
    public init?(_ message: Value) {
        guard let start = message["start"]?.anyTime,
            let seconds = message["seconds"]?.number, case .array(let all)? = message["modes"], all.count <= Self.most
        else { return nil }
        (self.start, self.seconds) = (start, seconds)
        segments = message["segments"]?.whole ?? 0
        temperature = message["temperature_c"]?.number
        for one in all {
            guard let frequency = one["frequency_hz"]?.number, let damping = one["damping"]?.number else { return nil }
            var mode = StructureMode(
                frequency: frequency, damping: damping,
                shape: VibrationRecord.axisNames.map { one[$0]?.number ?? 0 },
                prominence: one["prominence_db"]?.number ?? 0)
            if let id = one["id"]?.whole, Self.ids.contains(id) { mode.id = id }
            modes.append(mode)
        }
    }
}
