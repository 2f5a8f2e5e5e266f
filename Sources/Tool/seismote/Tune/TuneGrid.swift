import ArgumentParser
import Messages
import Platform
import Seismology
import Settings
import SignalProcessing
import Values

/// The values that are tried, each a list; every combination is one setting.
struct TuneGrid: ParsableArguments {
    @Option(help: ArgumentHelp("Short-term averages in seconds.", valueName: "s,..."))
    var sta = "0.5,1"

    @Option(help: ArgumentHelp("Long-term averages in seconds.", valueName: "s,..."))
    var lta = "10,30"

    @Option(help: ArgumentHelp("Ratios that trigger.", valueName: "ratio,..."))
    var on = "2.5,3,4,5"

    @Option(help: ArgumentHelp("Ratios that end a trigger.", valueName: "ratio,..."))
    var off = "1.5"

    @Option(
        help: ArgumentHelp(
            "Bands before STA/LTA: corners in Hz of a Butterworth band pass of order 2, or axes for the filters of "
                + "the axes.", valueName: "low-high,..."))
    var band = "1-8,0.5-10,2-10"

    @Option(help: ArgumentHelp("frozen, recursive, classic.", valueName: "method,..."))
    var method = "frozen,recursive"

    @Option(help: ArgumentHelp("each, x, y, z, h, v3. (default: as the settings say)", valueName: "signal,..."))
    var signal: String?

    @Option(
        help: ArgumentHelp(
            "Minimum duration of a trigger, in seconds. (default: as the settings say)", valueName: "s,..."))
    var minDuration: String?

    @Option(help: ArgumentHelp("Levels of the RMS, such as 2 mg.", valueName: "level,..."))
    var threshold = "1 mg,2 mg,5 mg,10 mg,20 mg"

    @Option(
        help: ArgumentHelp("Windows of the RMS, such as 1 s. (default: as the settings say)", valueName: "time,..."))
    var window: String?

    @Option(
        help: ArgumentHelp(
            "Time for which the RMS must be above the threshold, such as 0.2 s. (default: as the settings say)",
            valueName: "time,..."))
    var hold: String?

    @Option(help: ArgumentHelp("Detectors to try: sta_lta, level.", valueName: "detector,..."))
    var detector = "sta_lta,level"

    /// Settings of a grid are read through the settings themselves, so that the same is allowed and the same is said.
    private struct Reader {
        var options: SettingsOptions
        /// Settings of the file, preset and command line, without the grid.
        var base: Configuration
        var errors: [String] = []

        /// Rules between settings are looked at when the grid is put together, and when a recording's rate is known.
        private static let loose = [
            "sensor.driver=replay", "sensor.replay.file=x", "detection.sta_lta.sta_s=1e-6",
            "detection.sta_lta.lta_s=600", "detection.sta_lta.off=1e-6",
        ]

        /// The values of one list; without a list the one that the settings have.
        mutating func values<T>(_ name: String, _ list: String?, _ key: String, _ get: (Configuration) -> T) -> [T] {
            guard let list else { return [get(base)] }
            return list.split(separator: ",", omittingEmptySubsequences: false).compactMap { part in
                value("--\(name)", String(part), key, String(part), get)
            }
        }

        /// - Parameter text: as in a settings file.
        mutating func value<T>(
            _ option: String, _ shown: String, _ key: String, _ text: String, _ get: (Configuration) -> T
        ) -> T? {
            guard text.contains(where: { $0 != " " }) else {
                // It would be the default.
                errors.append("\(option): the value is missing")
                return nil
            }
            do throws(CodedErrors) {
                let on = "detection.sta_lta.on=" + (key.hasSuffix(".off") ? "10000" : "1e-5")
                let all = Self.loose + [on, "\(key)=\(text)"]
                return get(try options.below.read(path: options.config, adding: all).configuration)
            } catch {
                errors += error.errors.map { error in
                    var error = error
                    (error.source, error.path) = (nil, "")
                    return "\(option) \(shown): \(error.text())"
                }
                return nil
            }
        }
    }

    /// All settings, those that the configuration has among them, marked; or everything that is wrong.
    func settings(
        _ options: SettingsOptions, base: Configuration
    ) throws(TuneError) -> [(setting: TuneSetting, present: Bool)] {
        var reader = Reader(options: options, base: base)
        var detectors: [String] = []
        for name in detector.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            if ["sta_lta", "level"].contains(name) {
                detectors.append(name)
            } else {
                reader.errors.append("--detector \(name): allowed are sta_lta and level")
            }
        }
        var all: [(setting: TuneSetting, present: Bool)] = []
        if base.detection.staLTA.enabled { all.append((.ratio(base.detection.staLTA), true)) }
        let detection = base.axes.x.detection
        if base.detection.level.enabled, base.axes.y.detection == detection, base.axes.z.detection == detection {
            all.append((.level(base.detection.level.axes, detection), true))
        }
        var grid: [TuneSetting] = []
        if detectors.contains("sta_lta") { grid += ratios(&reader) }
        if detectors.contains("level") { grid += levels(&reader) }
        guard reader.errors.isEmpty else { throw TuneError(status: .settings, lines: reader.errors) }
        all.removeAll { !detectors.contains($0.setting.detector) }
        for setting in grid where !all.contains(where: { $0.setting == setting }) { all.append((setting, false)) }
        guard !grid.isEmpty else {
            throw TuneError(
                status: .settings,
                lines: ["no combination to try: --off must not be above --on, and --on not above --lta / --sta"]
            )
        }
        guard all.count <= 20000 else {
            throw TuneError(
                status: .settings, lines: ["\(all.count) combinations are too many: at most 20000 are allowed"])
        }
        return all
    }

    private func ratios(_ reader: inout Reader) -> [TuneSetting] {
        let key = "detection.sta_lta"
        let methods = reader.values("method", method, "\(key).method") { $0.detection.staLTA.method }
        let signals = reader.values("signal", signal, "\(key).signal") { $0.detection.staLTA.signal }
        let shorts = reader.values("sta", sta, "\(key).sta_s") { $0.detection.staLTA.sta }
        let longs = reader.values("lta", lta, "\(key).lta_s") { $0.detection.staLTA.lta }
        let ons = reader.values("on", on, "\(key).on") { $0.detection.staLTA.on }
        let offs = reader.values("off", off, "\(key).off") { $0.detection.staLTA.off }
        let durations = reader.values("min-duration", minDuration, "\(key).min_duration_s") {
            $0.detection.staLTA.minimumDuration
        }
        var filters: [FilterSpecification?] = []
        for part in band.split(separator: ",", omittingEmptySubsequences: false) {
            if part == "axes" {
                filters.append(nil)
                continue
            }
            let corners = part.split(separator: "-", omittingEmptySubsequences: false)
            guard corners.count == 2, corners.allSatisfy({ Double($0) != nil }) else {
                reader.errors.append("--band \(part): allowed are two corners in Hz, such as 1-8, or axes")
                continue
            }
            let text = "{butterworth: {type: bandpass, corners_hz: [\(corners[0]), \(corners[1])], order: 2}}"
            if let filter = reader.value("--band", String(part), "\(key).filter", text, { $0.detection.staLTA.filter })
            {
                filters.append(filter)
            }
        }
        var all: [TuneSetting] = []
        for filter in filters {
            for signal in signals {
                for method in methods {
                    for (sta, lta) in shorts.flatMap({ s in longs.map { (s, $0) } }) where sta < lta {
                        for (on, off) in ons.flatMap({ on in offs.map { (on, $0) } }) where off <= on && on <= lta / sta
                        {
                            for duration in durations {
                                var one = reader.base.detection.staLTA
                                (one.enabled, one.filter, one.signal, one.method) = (true, filter, signal, method)
                                (one.sta, one.lta, one.on, one.off) = (sta, lta, on, off)
                                one.minimumDuration = duration
                                all.append(.ratio(one))
                            }
                        }
                    }
                }
            }
        }
        return all
    }

    private func levels(_ reader: inout Reader) -> [TuneSetting] {
        let key = "axes.all.detection"
        let thresholds = reader.values("threshold", threshold, "\(key).threshold") { $0.axes.x.detection.threshold }
        let windows = reader.values("window", window, "\(key).window") { $0.axes.x.detection.window }
        let holds = reader.values("hold", hold, "\(key).hold") { $0.axes.x.detection.hold }
        let axes = reader.base.detection.level.axes
        return thresholds.flatMap { threshold in
            windows.flatMap { window in
                holds.map { hold in
                    var one = reader.base.axes.x.detection
                    (one.threshold, one.window, one.hold) = (threshold, window, hold)
                    return .level(axes, one)
                }
            }
        }
    }
}

/// Reason why a command cannot do what was asked, in lines for standard error, and its exit status.
struct TuneError: Error {
    var status: ExitStatus
    var lines: [String]
}

/// One setting of a detector that is tried.
enum TuneSetting: Equatable, Sendable {
    case ratio(DetectionConfiguration.STALTA)
    /// The same rule on all axes.
    case level(DetectionConfiguration.Level.Axes, LevelConfiguration)

    /// The detector's name in the settings.
    var detector: String {
        switch self {
        case .ratio: "sta_lta"
        case .level: "level"
        }
    }

    /// For the table: the signal, and what it is filtered with.
    var signal: String {
        switch self {
        case .ratio(let s): s.signal.rawValue
        case .level(let axes, _): axes.rawValue
        }
    }

    var band: String {
        switch self {
        case .level: "axes"
        case .ratio(let s):
            switch s.filter {
            case nil: "axes"
            case .butterworth(let b)? where b.band == .bandpass && b.order == 2 && b.start == .zero:
                b.corners.map { significant($0, 6) }.joined(separator: "-") + " Hz"
            case let filter?: FilterText.line(filter)
            }
        }
    }

    var rest: String {
        switch self {
        case .ratio(let s):
            var text =
                "\(s.method.rawValue) \(number(s.sta))/\(number(s.lta)) s, on \(number(s.on)), off \(number(s.off))"
            if s.minimumDuration > 0 { text += ", for \(number(s.minimumDuration)) s" }
            return text
        case .level(_, let s):
            return "above \(number(s.threshold / standardGravity * 1000)) mg, window \(Self.text(s.window)), "
                + "hold \(Self.text(s.hold))"
        }
    }

    private func number(_ value: Double) -> String { significant(value, 6) }

    private static func text(_ length: WindowLength) -> String {
        switch length {
        case .samples(let count): "\(count)"
        case .seconds(let seconds): significant(seconds, 6) + " s"
        }
    }

    /// Lines for a settings file that make this the only detector.
    var lines: String {
        switch self {
        case .ratio(let s):
            """
            detection:
              sta_lta:
                enabled: true
                method: \(s.method.rawValue)
                signal: \(s.signal.rawValue)
                filter: \(s.filter.map(FilterText.line) ?? "axes")
                sta_s: \(number(s.sta))
                lta_s: \(number(s.lta))
                on: \(number(s.on))
                off: \(number(s.off))
                min_duration_s: \(number(s.minimumDuration))
              level: {enabled: false}
            """
        case .level(let axes, let s):
            """
            axes:
              all:
                detection:
                  window: \(Self.text(s.window))
                  threshold: \(number(s.threshold))  # m/s²
                  hold: \(Self.text(s.hold))
            detection:
              level: {enabled: true, axes: \(axes.rawValue)}
              sta_lta: {enabled: false}
            """
        }
    }

    /// The same for machines, with the names of the settings.
    var value: [Value.Member] {
        switch self {
        case .ratio(let s):
            [
                .init("method", .string(s.method.rawValue)), .init("signal", .string(s.signal.rawValue)),
                .init("filter", s.filter.map(FilterText.value) ?? "axes"), .init("sta_s", .double(s.sta)),
                .init("lta_s", .double(s.lta)), .init("on", .double(s.on)), .init("off", .double(s.off)),
                .init("min_duration_s", .double(s.minimumDuration)),
            ]
        case .level(let axes, let s):
            [
                .init("axes", .string(axes.rawValue)), .init("window", .string(Self.text(s.window))),
                .init("threshold", .double(s.threshold)), .init("hold", .string(Self.text(s.hold))),
            ]
        }
    }
}
