import Messages
import SignalProcessing
import Vibration

extension SettingsTable {
    static let vibration = Chapter(
        key: "vibration", title: "Vibration",
        help: "Vibration of buildings, sites and machines as standards measure it.",
        owners: .sampling,
        settings: [
            StationSetting(
                "vibration.enabled", \.vibration.enabled, .bool, apply: .live, title: "Vibration",
                "Publish velocity, frequency, KB, vibration dose and their share of a limit for each interval."),
            StationSetting(
                "vibration.band", \.vibration.band, .choice(), apply: .live, title: "Band",
                "din: 1 to 80 Hz, from 200 samples a second on; din315: 1 to 315 Hz, from 788; machine: 10 to 1000 Hz, from 2500; own: the next two settings."
            ),
            StationSetting(
                "vibration.lower_hz", \.vibration.lower, .frequency(.from(0.5, to: 1000)), apply: .live,
                title: "Lower corner", advanced: true, "Lower corner of the band `own`."),
            StationSetting(
                "vibration.upper_hz", \.vibration.upper, .frequency(.from(1, to: 1600)), apply: .live,
                title: "Upper corner", advanced: true,
                "Upper corner of the band `own`, at most 0.4 of the sample rate."),
            StationSetting(
                "vibration.interval_s", \.vibration.interval, .wholeSeconds(10...3600), apply: .live,
                title: "Vibration interval", advanced: true,
                "Length of an interval, which divides an hour; intervals are aligned to UTC."),
            StationSetting(
                "vibration.weighting", \.vibration.weighting, .choice(), apply: .live, title: "Weighting",
                advanced: true,
                "For people: iso2631-1: Wd horizontal, Wk vertical; bs6472-1: Wd, Wb; iso2631-2: Wm for all axes."),
            StationSetting(
                "vibration.limit", \.vibration.limit, .vibrationLimit, apply: .live, title: "Limit",
                "Table, line and place that intervals are compared with, such as din4150-3:dwellings:foundation; none: without one."
            ),
            StationSetting(
                "vibration.warn_share", \.vibration.warnShare, .number(.above(0, to: 1)), apply: .live,
                title: "Warning share", advanced: true, "Share of the limit from which on an interval is a warning."),
            StationSetting(
                "vibration.utc_offset_h", \.vibration.utcOffset, .number(.from(-12, to: 14), unit: "h"), apply: .live,
                title: "Hours ahead of UTC", advanced: true,
                "By which local time is ahead of UTC: vibration doses are added by day (7 to 23 h) and by night."),
            StationSetting(
                "vibration.modes", \.vibration.modes, .bool, apply: .live, title: "Modes",
                "Find the natural modes of the building from its ambient vibration, also without `vibration.enabled`; at least 2.5 × `modes_top_hz` samples a second."
            ),
            StationSetting(
                "vibration.modes_s", \.vibration.modesPeriod, .wholeSeconds(1800...86_400), apply: .live,
                title: "Period of modes", advanced: true,
                "Length of the motion of which modes are found, which divides a day; periods are aligned to UTC."),
            StationSetting(
                "vibration.modes_top_hz", \.vibration.modesTop, .frequency(.from(1, to: 100)), apply: .live,
                title: "Highest mode", advanced: true, "Modes up to this frequency are looked for."),
            StationSetting(
                "vibration.keep_days", \.vibration.keepDays, .integer(0...3650, unit: "days"), apply: .live,
                title: "Keep vibration",
                "How long intervals are stored, while there is room; the days in which the agent runs count. A year of 60 s takes 90 MB; 0: none."
            ).owned(by: .storage),
        ])
}

public struct VibrationConfiguration: Sendable, Equatable {
    public enum Band: String, Sendable, CaseIterable { case din, din315, machine, own }

    public enum Weighting: String, Sendable, CaseIterable {
        case iso2631part1 = "iso2631-1"
        case bs6472 = "bs6472-1"
        case iso2631part2 = "iso2631-2"
    }

    public var enabled = false
    public var band = Band.din
    /// Hz.
    public var lower = 1.0
    public var upper = 40.0
    /// Seconds.
    public var interval = 60
    public var weighting = Weighting.iso2631part1
    /// Nil: none.
    public var limit: VibrationLimit?
    public var warnShare = 0.7
    /// Hours.
    public var utcOffset = 0.0
    public var modes = false
    /// Seconds.
    public var modesPeriod = 3600
    /// Hz.
    public var modesTop = 20.0
    /// Days.
    public var keepDays = 400

    /// Samples a second that modes need, by the highest of them.
    public static let rateOfModes = 2.5

    /// The same, without what is no matter of measuring.
    public var measuring: VibrationConfiguration {
        var all = self
        (all.keepDays, all.modes, all.modesPeriod, all.modesTop) = (0, false, 0, 0)
        return all
    }

    /// Quantities, band and interval that the settings ask for.
    public var measurement: VibrationMeasurement {
        var all = VibrationMeasurement()
        all.interval = interval
        all.band =
            switch band {
            case .din: .din
            case .din315: .din315
            case .machine: .machine
            case .own: .init(lower: lower, upper: upper)
            }
        all.weightings =
            switch weighting {
            case .iso2631part1: [.wd, .wd, .wk]
            case .bs6472: [.wd, .wd, .wb]
            case .iso2631part2: [.wm, .wm, .wm]
            }
        return all
    }
}

extension Codec where T == VibrationLimit? {
    /// `none`, or `table:line:place`; without a place the first of the line.
    fileprivate static let vibrationLimit: Codec = {
        let names = ["none"] + VibrationLimit.all.map(\.name)
        let allowed = "none, or table:line:place, such as " + (names.dropFirst().first ?? "")
        return Codec(
            type: "one of", unit: nil, allowed: allowed, schema: ["enum": .array(names.map { .string($0) })],
            decode: { value, path, findings in
                guard let text = decodeText(value, path, allowed, &findings) else { return nil }
                if text == "none" { return .some(nil) }
                if let limit = VibrationLimit(text) { return .some(limit) }
                let all = names.joined(separator: ", ")
                findings.add(path, .range, "There is no such limit.", got: value, allowed: all)
                return nil
            },
            encode: { .string($0?.name ?? "none") })
    }()
}
