// Embedded Swift has no key paths, and a bare machine no settings file.
#if !hasFeature(Embedded)
import SignalProcessing

/// One setting of a detector as its file declares it. The table of settings makes its row of it, and with that the file,
/// the schema, the documents and what may be sent.
public struct DetectorField<Settings: Sendable>: Sendable {
    public typealias Path<T> = any WritableKeyPath<Settings, T> & Sendable

    public enum Kind: Sendable {
        case flag(Path<Bool>)
        case count(Path<Int>, ClosedRange<Int>)
        case number(Path<Double>, Interval)
        /// Seconds.
        case time(Path<Double>, Interval)
        /// m/s².
        case acceleration(Path<Double>, Interval)
        /// Nil: after the filters of the axes.
        case ownFilter(Path<FilterSpecification?>)
        case words(
            [String], get: @Sendable (Settings) -> String, set: @Sendable (inout Settings, String) -> Void)

        /// One word out of several.
        public static func choice<T: CaseIterable & RawRepresentable<String> & Sendable>(
            _ path: Path<T>
        ) -> Kind {
            .words(
                T.allCases.map(\.rawValue), get: { $0[keyPath: path].rawValue },
                set: { settings, word in if let value = T(rawValue: word) { settings[keyPath: path] = value } })
        }
    }

    /// A number that Home Assistant can change.
    public struct HomeAssistant: Sendable {
        public let name: String
        public let step: Double
    }

    /// Below the detector's name.
    public let key: String
    public let kind: Kind
    /// The default as a person would write it, where that is not simply its value in SI.
    public let written: String?
    /// A few words for people, in the place of the key.
    public let title: String
    /// Most stations never need it.
    public let isAdvanced: Bool
    public let homeAssistant: HomeAssistant?
    /// A sentence or two for people.
    public let help: String

    public init(
        _ key: String, _ kind: Kind, written: String? = nil, title: String, advanced: Bool = false,
        homeAssistant: HomeAssistant? = nil, _ help: String
    ) {
        (self.key, self.kind, self.written) = (key, kind, written)
        (self.title, isAdvanced, self.homeAssistant, self.help) = (title, advanced, homeAssistant, help)
    }
}
#endif
