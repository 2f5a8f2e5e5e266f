import Messages

/// A settings file that comes with the program, for one kind of use.
///
/// Presets are part of the program, so that a single file copied to a board has them; `config/presets` holds the same
/// texts for reading and for copying, and a test holds both together.
public struct Preset: Sendable, Equatable {
    public let name: String
    /// YAML.
    public let text: String

    /// All of them; the first is what is built in.
    public static let all = [
        seismology, shake, itemblor, structure, machine, construction, buildingComfort, classroom, quietVault,
    ]

    /// The bytes of a preset by its name, or of a file by its path (with a `/` in it or ending in `.yaml`).
    ///
    /// - Throws: an error that lists the names there are, or says why the file cannot be read.
    static func bytes(_ nameOrPath: String) throws(CodedError) -> [UInt8] {
        if nameOrPath.contains("/") || nameOrPath.hasSuffix(".yaml") { return try SettingsFile.read(nameOrPath) }
        if let preset = all.first(where: { $0.name == nameOrPath }) { return Array(preset.text.utf8) }
        let names = all.map(\.name)
        throw CodedError(
            "", .unavailable, "There is no preset `\(nameOrPath.prefix(80))`.",
            allowed: names.joined(separator: ", ") + ", or the path of a file",
            nearest: Spelling.nearest(to: nameOrPath, in: names))
    }
}
