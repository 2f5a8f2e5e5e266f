import Messages
import Values

/// When a change of a setting takes effect.
public enum SettingChange: String, Sendable, CaseIterable {
    /// At once: at the next block of samples, or over a new connection to the broker.
    case live
    /// When the sensor has been opened again; the agent does that by itself.
    case restartStream = "restart-stream"
    /// When the agent has been started again.
    case restart
}

/// Whether a setting may be changed over MQTT.
enum RemoteAccess {
    /// Unless the file locks it.
    case yes
    /// Never.
    case no
    /// When the file has it under `unlocked`.
    case ifUnlocked
}

/// Root of a table of settings: a station's ``Configuration``, or the settings of a program beside the agent.
public protocol SettingsRoot: Sendable {
    /// Every key at its default.
    init()
}

extension Configuration: SettingsRoot {}

/// A row of the station's table.
public typealias StationSetting = Setting<Configuration>

/// One row of a table of settings: everything that anyone has to know about it.
public struct Setting<Root: SettingsRoot>: Sendable {
    /// `trace.rate_hz`; for the three axes one row, `axes.all.filter`.
    public let key: String
    /// For people: `number`, `text`, `one of` ...
    public let type: String
    /// Unit of a bare number; nil where there is none.
    public let unit: String?
    /// Allowed values, in words or as an interval.
    public let allowed: String
    /// When a change takes effect.
    public let apply: SettingChange
    /// A few words for people, in the place of the key: `Trace rate`.
    public let title: String
    /// Most stations never need it; forms show it only when asked to.
    public let isAdvanced: Bool
    /// May be changed over MQTT (unless the file locks it).
    let isRemote: Bool
    /// May be changed over MQTT when the file has it under `unlocked`.
    let isUnlockable: Bool
    /// Shown as `***` wherever settings are shown.
    public let isSecret: Bool
    /// How Home Assistant changes it; nil: it does not.
    public let homeAssistant: HomeAssistantEntity?
    /// A sentence or two for people.
    public let help: String
    /// The default as a person would write it (YAML), where that is not simply its value in SI.
    let written: String?
    /// JSON Schema of the value, without its annotations.
    let valueSchema: Value
    /// Null is a value of this setting, not only a way to ask for the default.
    let takesNull: Bool
    /// Owners who act on it, the one that decides first; see ``SettingOwner``.
    public internal(set) var owners: [SettingOwner] = []

    /// Decodes a value into a snapshot; the axis (0, 1, 2) counts for `axes.all` only.
    let read: @Sendable (Value, String, Int, inout Root, inout Findings) -> Void
    /// The canonical value in a snapshot.
    let write: @Sendable (Root, Int) -> Value

    init<T>(
        _ key: String, _ path: any WritableKeyPath<Root, T> & Sendable, _ codec: Codec<T>,
        written: String? = nil, apply: SettingChange, remote: RemoteAccess = .yes, secret: Bool = false, title: String,
        advanced: Bool = false, homeAssistant: HomeAssistantEntity.Control? = nil, _ help: String
    ) {
        self.init(
            key: key, codec, written: written, apply: apply, remote: remote, secret: secret, title, advanced,
            homeAssistant, help,
            set: { configuration, value, _ in configuration[keyPath: path] = value },
            get: { configuration, _ in configuration[keyPath: path] })
    }

    /// A setting of a program beside the agent: nobody changes it from afar, and a change takes effect when the program is
    /// started again.
    package init<T>(
        _ key: String, _ path: any WritableKeyPath<Root, T> & Sendable, _ codec: Codec<T>, _ help: String
    ) {
        self.init(key, path, codec, apply: .restart, remote: .no, title: "", help)
    }

    /// A setting that each axis has.
    init<T>(
        axis key: String, _ path: any WritableKeyPath<AxisConfiguration, T> & Sendable, _ codec: Codec<T>,
        written: String? = nil, apply: SettingChange, remote: RemoteAccess = .yes, secret: Bool = false, title: String,
        advanced: Bool = false, homeAssistant: HomeAssistantEntity.Control? = nil, _ help: String
    ) where Root == Configuration {
        self.init(
            key: "axes.all." + key, codec, written: written, apply: apply, remote: remote, secret: secret, title,
            advanced, homeAssistant, help,
            set: { configuration, value, axis in configuration.axes[axis][keyPath: path] = value },
            get: { configuration, axis in configuration.axes[axis][keyPath: path] })
    }

    /// A setting that is reached in a way of its own.
    init<T>(
        key: String, _ codec: Codec<T>, written: String?, apply: SettingChange, remote: RemoteAccess, secret: Bool,
        _ title: String, _ advanced: Bool, _ control: HomeAssistantEntity.Control?, _ help: String,
        set: @escaping @Sendable (inout Root, T, Int) -> Void,
        get: @escaping @Sendable (Root, Int) -> T
    ) {
        self.key = key
        type = codec.type
        unit = codec.unit
        allowed = codec.allowed
        self.apply = apply
        isRemote = remote == .yes
        isUnlockable = remote == .ifUnlocked
        isSecret = secret
        self.title = title
        isAdvanced = advanced
        homeAssistant = control.map { HomeAssistantEntity($0, of: key) }
        self.help = help
        self.written = written
        valueSchema = codec.schema
        takesNull = codec.takesNull
        read = { value, pointer, axis, configuration, findings in
            let start = findings.errors.count
            let decoded = codec.decode(value, pointer, &findings)
            findings.hideGiven(from: start) { Secrets.shown($0, for: key, isSecret: secret) }
            if let decoded { set(&configuration, decoded, axis) }
        }
        write = { configuration, axis in codec.encode(get(configuration, axis)) }
    }

    /// Whether each axis has this setting.
    var isPerAxis: Bool { key.hasPrefix("axes.all.") }

    /// The keys that this row stands for in a merged tree, with their axis: itself, or one for x, y and z.
    var concreteKeys: [(key: String, axis: Int)] {
        guard isPerAxis else { return [(key, 0)] }
        let tail = key.dropFirst("axes.all.".count)
        return SettingsTable.axisNames.enumerated().map { ("axes.\($1).\(tail)", $0) }
    }

    /// The canonical default.
    public var standard: Value { write(Root(), 0) }
}

/// A part of the agent that settings belong to. A change is first proposed to the owners of what it changes, and made when
/// all of them can do it. In the order in which they put it into force.
public enum SettingOwner: String, Sendable, CaseIterable {
    /// The lines that the agent writes to its log.
    case log
    /// The thread with the sensor, the pipeline and the traces.
    case sampling
    /// The thread for the disk.
    case storage
    /// The connection to the broker.
    case link
    /// Handling of incoming commands.
    case commands
    /// Messages of the agent about itself.
    case reporter

    /// Whom a change of these rows concerns: the owners of those that take effect now, and in any case those whose messages
    /// carry the number of the revision.
    public static func asked(for rows: [StationSetting]) -> [SettingOwner] {
        if rows.isEmpty { return [] }
        let concerned = rows.filter { $0.apply != .restart }.flatMap(\.owners) + [.sampling, .reporter]
        return allCases.filter(concerned.contains)
    }
}

extension Setting {
    /// This row with owners of its own: the first decides, the others have to know as well.
    func owned(by owners: SettingOwner...) -> Self {
        var row = self
        row.owners = owners
        return row
    }
}

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
