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
