import Messages
import Seismology
import SignalProcessing
import Values

extension SettingsTable {
    static let classification = Chapter(
        key: "classification", title: "Classification", help: "Whether an event is an earthquake or a disturbance.",
        owners: .sampling,
        settings: [
            StationSetting(
                "classification.enabled", \.classification.enabled, .bool, apply: .live,
                title: "Classification",
                "Say of each event how likely it is an earthquake, from 25 samples a second on. An alarm needs it and has it."
            )
        ])

    static let alarm = Chapter(
        key: "alarm", title: "Alarm",
        help: "An alarm for people and relays: an earthquake that moves the ground fast.", owners: .sampling,
        sections: [("network", "Warning by the network"), ("gpio", "Alarm line")],
        settings: [
            StationSetting(
                "alarm.enabled", \.alarm.enabled, .bool, apply: .live, title: "Alarm",
                "Raise an alarm when an event is classified as an earthquake and the ground moves fast."),
            StationSetting(
                "alarm.probability", \.alarm.probability, .number(.from(0.5, to: 0.99)), apply: .live,
                title: "Alarm probability",
                "How probably it is one: higher means fewer false alarms, and later ones."),
            StationSetting(
                "alarm.velocity", \.alarm.velocity, .quantity(.velocity, .from(1e-5, to: 10)), written: "0.5 cm/s",
                apply: .live, title: "Alarm velocity",
                "How fast: the 3-D ground velocity above 0.4 Hz; 0.5 cm/s is weak shaking that most people feel."),
            StationSetting(
                "alarm.network.enabled", \.alarm.network.enabled, .bool, apply: .live, title: "Warning by the network",
                "Warn of the S wave of an earthquake that the network's detector has located from other stations: publish event/warning, and sound the alarm line with a pattern of its own. Needs station.latitude and station.longitude."
            ).owned(by: .link, .reporter),
            StationSetting(
                "alarm.network.mmi", \.alarm.network.intensity, .number(.from(2, to: 10)), apply: .live,
                title: "Warning intensity",
                "Expected Mercalli intensity from which on the alarm line sounds; the lower end of the expected range may be 1 below."
            ).owned(by: .reporter),
            StationSetting(
                "alarm.network.stations", \.alarm.network.stations, .integer(3...100), apply: .live,
                title: "Stations of a warning", advanced: true,
                "Stations that the network's event needs: events of fewer are not believed."
            ).owned(by: .reporter),
            StationSetting(
                "alarm.gpio.line", \.alarm.gpio.line, .gpioLine, apply: .restart, remote: .no, title: "Alarm GPIO line",
                advanced: true,
                "GPIO line that an alarm switches on, such as gpiochip0:17, for a relay or a siren; empty: none."),
            StationSetting(
                "alarm.gpio.active", \.alarm.gpio.active, .choice(), apply: .restart, remote: .no,
                title: "Active level",
                advanced: true, "The level at which the line is on."),
            StationSetting(
                "alarm.gpio.seconds", \.alarm.gpio.seconds, .time(.from(1, to: 3600)), apply: .restart, remote: .no,
                title: "Alarm duration", advanced: true, "How long an alarm lasts unless it is silenced."),
            StationSetting(
                "alarm.gpio.button", \.alarm.gpio.button, .gpioLine, apply: .restart, remote: .no,
                title: "Silence button", advanced: true,
                "GPIO line of a button to ground that silences the alarm; empty: none."),
        ])

    static let onsite = Chapter(
        key: "onsite", title: "On-site estimate", help: "What the first seconds say of the shaking to come.",
        owners: .sampling,
        settings: [
            StationSetting(
                "onsite.enabled", \.onsite.enabled, .bool, apply: .live, title: "On-site estimate",
                "Predict the peak velocity and intensity 1, 2, 3, 5 and 8 s after an onset.")
        ])
}

public struct ClassificationConfiguration: Sendable, Equatable {
    public var enabled = true
}

public struct AlarmConfiguration: Sendable, Equatable {
    public var enabled = false
    /// Probability of an earthquake from which on there is an alarm.
    public var probability = 0.85
    /// m/s.
    public var velocity = 0.005
    public var network = Network()
    public var gpio = Output()

    /// Settings for warnings by the network's detector.
    public struct Network: Sendable, Equatable {
        public var enabled = false
        /// Mercalli.
        public var intensity = 5.0
        public var stations = 5
    }

    /// The line that an alarm switches on.
    public struct Output: Sendable, Equatable {
        public enum Level: String, Sendable, CaseIterable { case high, low }
        /// `gpiochip0:17`; empty: none.
        public var line = ""
        public var active = Level.high
        /// Time for which it is on.
        public var seconds = 60.0
        /// Line of the button that silences it; empty: none.
        public var button = ""
    }
}

extension Codec where T == String {
    /// A line of a GPIO chip, or nothing.
    fileprivate static let gpioLine = Codec(
        type: "text", unit: nil, allowed: gpioLineAllowed,
        schema: ["type": "string", "pattern": .string("^(gpiochip[0-9]{1,4}:[0-9]{1,4})?$" + endOfText)],
        decode: { value, path, findings in
            guard let text = decodeText(value, path, gpioLineAllowed, &findings) else { return nil }
            let parts = text.split(separator: ":", omittingEmptySubsequences: false)
            func isNumber(_ text: Substring) -> Bool { text.isMade(1...4) { $0.isDigit } }
            let isLine =
                parts.count == 2 && parts[0].hasPrefix("gpiochip") && isNumber(parts[0].dropFirst(8))
                && isNumber(parts[1])
            guard text.isEmpty || isLine else {
                findings.add(path, .range, "This is no line of a GPIO chip.", got: value, allowed: gpioLineAllowed)
                return nil
            }
            return text
        },
        encode: { .string($0) })
}

private let gpioLineAllowed = "a line such as gpiochip0:17, or empty"

public struct OnsiteConfiguration: Sendable, Equatable {
    public var enabled = true
}

extension AssessmentSettings {
    /// The stages that the settings ask for.
    public init(_ configuration: Configuration) {
        self.init(
            classification: configuration.classification.enabled || configuration.alarm.enabled,
            onsite: configuration.onsite.enabled,
            alarm: configuration.alarm.enabled ? configuration.alarm.velocity : nil,
            alarmProbability: configuration.alarm.probability)
    }
}

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
