import Messages

/// Settings that have been read, merged and found valid.
public struct LoadedSettings: Sendable, Equatable {
    /// The snapshot that the agent works with.
    public var configuration: Configuration
    /// The same as a tree with the keys of the settings file: SI numbers, secrets as `***`.
    public var effective: Value
    /// Where each value comes from, by key (`axes.x.filter`), for every key that is not at its default.
    public var sources: [String: SettingSource]
    /// Keys that may not be set remotely, as listed under `locked` in the file.
    public var locked: [String]
}

/// Reading of settings.
public enum Settings {
    /// Puts the layers together, lowest first: defaults, preset, file, overlay, command line. Pure.
    ///
    /// - Parameters:
    ///   - file: bytes of the settings file (YAML 1.2, so JSON too), at most 1 MiB; nil when there is none.
    ///   - preset: bytes of a preset, a settings file like any other (see ``Preset``).
    ///   - overlay: what has been set remotely.
    ///   - overrides: `key=value` of the command line, such as `trace.rate_hz=10`; the value is YAML, an empty value
    ///     or `null` takes the key back to its default.
    /// - Throws: every error of every layer.
    public static func load(
        file: [UInt8]? = nil, preset: [UInt8]? = nil, overlay: Value? = nil, overrides: [String] = []
    ) throws(SettingErrors) -> LoadedSettings {
        LoadedSettings(configuration: Configuration(), effective: .object([]), sources: [:], locked: [])
    }
}
