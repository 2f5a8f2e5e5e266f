import Messages
import Seismology
import SignalProcessing

extension SettingsTable {
    /// The settings of all detectors, each declared in the detector's file.
    static var detectorRows: [StationSetting] { detectors.rows }
    /// Titles of their groups.
    static var detectorSections: [(key: String, title: String)] { detectors.sections }

    private static var detectors: DetectorRows {
        var (settings, rows) = (DetectionConfiguration(), DetectorRows())
        settings.visit(&rows)
        return rows
    }
}

private struct DetectorRows: DetectorSettingsVisitor {
    var rows: [StationSetting] = []
    var sections: [(key: String, title: String)] = []

    mutating func visit<S: DetectorSettings>(_: inout S) {
        sections.append((S.name, S.title))
        for section in S.sections { sections.append(("\(S.name).\(section.key)", section.title)) }
        for field in S.fields {
            func row<T>(
                _ codec: Codec<T>, get: @escaping @Sendable (S) -> T, set: @escaping @Sendable (inout S, T) -> Void
            ) {
                rows.append(
                    StationSetting(
                        key: "detection.\(S.name).\(field.key)", codec, written: field.written, apply: .live,
                        remote: .yes, secret: false, field.title, field.isAdvanced, control(field, S.name), field.help,
                        set: { configuration, value, _ in set(&configuration.detection[S.self], value) },
                        get: { configuration, _ in get(configuration.detection[S.self]) }))
            }
            func row<T>(_ path: DetectorField<S>.Path<T>, _ codec: Codec<T>) {
                row(codec, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
            }
            switch field.kind {
            case .flag(let path): row(path, .bool)
            case .count(let path, let range): row(path, .integer(range))
            case .number(let path, let interval): row(path, .number(interval))
            case .time(let path, let interval): row(path, .time(interval))
            case .acceleration(let path, let interval): row(path, .acceleration(interval))
            case .ownFilter(let path): row(path, .ownFilter)
            case .words(let words, let get, let set): row(.word(words), get: get, set: set)
            }
        }
    }

    /// A number in a box, between the limits of the setting.
    private func control<S>(_ field: DetectorField<S>, _ detector: String) -> HomeAssistantEntity.Control? {
        guard let one = field.homeAssistant, case .number(_, let interval) = field.kind else { return nil }
        let lowest = interval.isOpen ? interval.lower + one.step : interval.lower
        let limits = "\"min\":\(shortText(lowest)),\"max\":\(shortText(interval.upper)),\"step\":\(shortText(one.step))"
        return .number("\(detector)_\(field.key)", one.name, limits)
    }
}
