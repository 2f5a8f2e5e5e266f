import Messages
import Values

/// All that is to be said of one value: what it is, what it may be, what it is now and where that comes from.
public struct SettingExplanation: Sendable {
    /// `axes.x.filter`.
    public let key: String
    public let setting: StationSetting
    /// The value in force.
    public let effective: Value
    /// Nil for a default.
    public let origin: LoadedSettings.Origin?
    /// May not be set remotely.
    public let isLocked: Bool

    /// The settings at or below a key; `axes.all.filter` gives that of x, y and z.
    ///
    /// - Throws: `unknownKey`, with the nearest key, when there is none.
    public static func of(_ key: String, in loaded: LoadedSettings) throws(CodedError) -> [SettingExplanation] {
        var found: [SettingExplanation] = []
        for setting in SettingsTable.settings {
            for (concrete, _) in setting.concreteKeys
            where [concrete, setting.key].contains(where: { $0 == key || $0.hasPrefix(key + ".") }) {
                found.append(
                    SettingExplanation(
                        key: concrete, setting: setting,
                        effective: SettingsTree.value(at: concrete, in: loaded.effective) ?? .null,
                        origin: loaded.origins[concrete], isLocked: loaded.isLocked(concrete)))
            }
        }
        guard found.isEmpty else { return found }
        let known = SettingsTable.writableKeys + SettingsTree.children.keys.sorted()
        throw CodedError(
            JSONPointer.of(key: key), .unknownKey, "There is no setting `\(key.prefix(80))`.",
            nearest: Spelling.nearest(to: key, in: known))
    }

    /// Several lines for people.
    public func text(fileName: String? = nil) -> String {
        var from = "default"
        if let origin {
            from = origin.source == .file ? fileName ?? "file" : origin.source.rawValue
            if let line = origin.line { from += ", line \(line)" }
            from += " (\(origin.pointer))"
        }
        let why =
            setting.isRemote ? "no, locked in the file" : setting.isUnlockable ? "no, not unlocked in the file" : "no"
        var lines = [
            "\(key) = \(YAMLText.flow(effective))", "  \(setting.help)", "  from:     \(from)",
            "  default:  \(setting.defaultText)",
            "  type:     \(setting.type)" + (setting.unit.map { " (\($0))" } ?? ""),
            "  allowed:  \(setting.allowed)", "  change:   \(setting.apply.rawValue)",
        ]
        lines.append("  remotely: " + (isLocked ? why : "yes"))
        return lines.joined(separator: "\n")
    }

    /// The same as an object.
    public var value: Value {
        var value: Value = [
            "key": .string(key), "value": effective, "source": .string((origin?.source ?? .default).rawValue),
            "default": setting.standard, "type": .string(setting.type), "allowed": .string(setting.allowed),
            "apply": .string(setting.apply.rawValue), "remote": .bool(!isLocked), "help": .string(setting.help),
        ]
        if let unit = setting.unit { value = value.with("unit", .string(unit)) }
        if let line = origin?.line { value = value.with("line", .int(Int64(line))) }
        return value
    }
}

/// The documentation page of the settings (Markdown), made from the table.
public enum SettingsManual {
    public static let text: String = {
        var text = """
            # Settings

            Made from the table of settings by `seismote config manual`.

            """
        for chapter in SettingsTable.chapters {
            text += "\n## \(chapter.key)\n\n\(chapter.help)\n\n"
            text += "| Key | Default | Allowed | A change takes effect | Remotely | What it is |\n"
            text += "|---|---|---|---|---|---|\n"
            for setting in chapter.settings {
                let cells = [
                    "`\(setting.key)`", "`\(setting.defaultText)`", setting.allowed, setting.apply.rawValue,
                    setting.isRemote ? "yes" : setting.isUnlockable ? "if unlocked" : "no", setting.help,
                ]
                text += "| " + cells.map(escaped).joined(separator: " | ") + " |\n"
            }
        }
        return text
    }()

    static func escaped(_ cell: String) -> String {
        cell.map { $0 == "|" ? "\\|" : String($0) }.joined()
    }
}
