import Messages
import Values

/// Layers that a process was started with: everything below and above the remote settings.
public struct SettingsLayers: Sendable {
    /// Bytes of the settings file (YAML); nil when there is none.
    public var file: [UInt8]?
    /// Bytes of a preset; nil when there is none.
    public var preset: [UInt8]?
    /// `key=value` of the command line.
    public var overrides: [String]
    /// Taken where all of these leave `station.id` empty.
    public var stationID: String

    public init(
        file: [UInt8]? = nil, preset: [UInt8]? = nil, overrides: [String] = [], stationID: String = ""
    ) {
        self.file = file
        self.preset = preset
        self.overrides = overrides
        self.stationID = stationID
    }

    /// The settings with an overlay.
    ///
    /// - Parameter known: what is wrong already; it is thrown together with what else is found.
    func load(overlay: Value?, beside known: [CodedError] = []) throws(CodedErrors) -> LoadedSettings {
        var loaded = try Settings.load(
            file: file, preset: preset, overlay: overlay, overrides: overrides, beside: known)
        if loaded.configuration.station.id.isEmpty, !stationID.isEmpty {
            loaded.configuration.station.id = stationID
            loaded.effective = Settings.effective(loaded.configuration)
        }
        return loaded
    }
}
