import Messages

extension SettingsLedger {
    /// Name of the file in the storage directory that keeps the document.
    public static let fileName = "settings.json"

    /// The file of a storage directory.
    public static func file(in directory: String, files: any FileLayer = SystemFiles()) -> DurableFile {
        DurableFile(directory: directory, name: fileName, keepsFormer: true, files: files)
    }

    /// The bytes of the file.
    public var fileBytes: [UInt8] { SealedDocument.bytes(document) }

    /// The ledger with the document that the storage directory of the layers has; where that is damaged, with the one before
    /// it, and a note that says so. Nothing is written.
    ///
    /// - Returns: `isSealed`: the file has a check sum, or there is none.
    /// - Throws: the errors of the layers, which are not valid even without an overlay.
    public static func stored(
        _ layers: SettingsLayers, now: Int64, monotonic: Int64 = 0
    ) throws(CodedErrors) -> (ledger: SettingsLedger, notes: [Note], isSealed: Bool) {
        let (base, _) = try open(layers, document: nil, now: now)
        let file = file(in: base.settings.configuration.storage.directory)
        guard SettingsFile.exists(file.path) else { return (base, [], true) }
        let problem: CodedError
        switch read(file.path) {
        case .success(let (document, isSealed)):
            let (ledger, notes) = try open(layers, document: document, now: now, monotonic: monotonic)
            guard notes.contains(where: { $0.kind == .damaged }) else { return (ledger, notes, isSealed) }
            problem = CodedError("", .syntax, "It is not a document of this version.")
        case .failure(let error): problem = error
        }
        let words = "\(file.path) cannot be read: \(problem.message)"
        if case .success(let (document, _)) = read(file.formerPath) {
            let (ledger, others) = try open(layers, document: document, now: now, monotonic: monotonic)
            if !others.contains(where: { $0.kind == .damaged }) {
                let message = "\(words) The file before it holds, with revision \(ledger.revision)."
                return (ledger, [Note(.damaged, ledger.revision, message, [problem])] + others, false)
            }
        }
        return (base, [Note(.damaged, 0, "\(words) The settings file alone holds.", [problem])], false)
    }

    private static func read(_ path: String) -> Result<(document: Value, isSealed: Bool), CodedError> {
        do throws(CodedError) {
            return .success(try SealedDocument.read(try SettingsFile.read(path, isOwn: true), known: documentKeys))
        } catch { return .failure(error) }
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
