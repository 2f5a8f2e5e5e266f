import Seismology
import Settings
import SignalProcessing
import Values

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
