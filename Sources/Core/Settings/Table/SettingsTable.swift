import Messages

/// The one table of settings. What is not in it does not exist; what is in it is decoded, checked, described in the
/// schema, printed into the default file and documented without another line of code.
///
/// To add a setting: a property with its default and a row, both in the file of its chapter. To add a kind of value: a
/// `Codec`. A rule between several settings: a line in `CrossFieldRules`.
public enum SettingsTable {
    /// A part of the settings file, in the order of that file.
    public struct Chapter: Sendable {
        /// First part of the keys, such as `trace`.
        public let key: String
        /// A word or two for people.
        public let title: String
        /// A sentence for people.
        public let help: String
        /// Titles of the groups in it by their keys without the chapter's, such as `sta_lta`.
        let sections: [(key: String, title: String)]
        public let settings: [StationSetting]

        /// - Parameter owners: of all rows that do not name others.
        init(
            key: String, title: String, help: String, owners: SettingOwner...,
            sections: [(key: String, title: String)] = [], settings: [StationSetting]
        ) {
            (self.key, self.title, self.help, self.sections) = (key, title, help, sections)
            self.settings = settings.map { row in
                var row = row
                if row.owners.isEmpty { row.owners = owners }
                return row
            }
        }
    }

    public static let chapters: [Chapter] = [
        station, sensor, conditioning, axes, detection, classification, alarm, onsite, intensity, spectrum, vibration,
        trace, waveform, mqtt, storage, health, log,
    ]

    /// All rows.
    public static let settings: [StationSetting] = chapters.flatMap(\.settings)

    /// Entities by which Home Assistant can change settings.
    public static let homeAssistant: [HomeAssistantEntity] = settings.compactMap(\.homeAssistant)

    /// How many values a snapshot has: rows, those of the axes three times.
    public static let concreteCount = settings.reduce(0) { $0 + $1.concreteKeys.count }

    static let axisNames = ["x", "y", "z"]

    /// A row by its key; `axes.x.filter` finds `axes.all.filter`.
    public static func setting(_ key: String) -> StationSetting? { index[declared(key)] }

    /// Every key that a person may write or ask for.
    public static let writableKeys: [String] = settings.flatMap { setting in
        [setting.key] + (setting.isPerAxis ? setting.concreteKeys.map(\.key) : [])
    }

    /// Keys that the file may name under `unlocked`.
    static let unlockableKeys = settings.filter(\.isUnlockable).map(\.key)

    /// `axes.x.filter` becomes `axes.all.filter`.
    static func declared(_ key: String) -> String {
        for axis in axisNames where key.hasPrefix("axes.\(axis).") {
            return "axes.all." + key.dropFirst("axes.\(axis).".count)
        }
        return key
    }

    private static let index = Dictionary(settings.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
}
