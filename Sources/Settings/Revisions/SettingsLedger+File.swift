import Messages

extension SettingsLedger {
    /// Name of the file in the storage directory that keeps the document.
    public static let fileName = "settings.json"

    /// The ledger with the document that the storage directory of the layers has. Nothing is written.
    ///
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public static func stored(
        _ layers: SettingsLayers, now: Int64, monotonic: Int64 = 0
    ) throws(CodedErrors) -> (ledger: SettingsLedger, notes: [Note]) {
        let (base, _) = try open(layers, document: nil, now: now)
        let path = base.settings.configuration.storage.directory + "/" + fileName
        guard SettingsFile.exists(path) else { return (base, []) }
        let document: Value
        do throws(CodedError) { document = try JSONReader.read(try SettingsFile.read(path, isOwn: true)) } catch {
            return (base, [Note(.damaged, 0, "\(path) cannot be read: the settings file alone holds.", [error])])
        }
        return try open(layers, document: document, now: now, monotonic: monotonic)
    }
}

extension SettingsLayers {
    /// Reads the files.
    ///
    /// - Parameters:
    ///   - path: of the settings file; nil for none.
    ///   - preset: name of a preset, or path of a file; nil for none.
    ///   - stationID: taken where nothing gives one.
    public init(
        path: String?, preset: String? = nil, overrides: [String] = [], stationID: String = ""
    ) throws(CodedErrors) {
        self.init(overrides: overrides, stationID: stationID)
        do throws(CodedError) {
            if let preset { self.preset = try Preset.bytes(preset) }
            if let path { file = try SettingsFile.read(path) }
        } catch {
            // That lists what else is wrong.
            _ = try Settings.load(path: path, preset: preset, overrides: overrides)
            throw CodedErrors([error])
        }
    }
}
