import Messages
import Values

/// The annotated settings file with every key at its default, made from the table; `config/seismote.yaml` is a copy.
public enum DefaultFile {
    public static let text: String = {
        var writer = Writer()
        writer.comment(
            """
            Settings of a Seismote station: every key, at its default. Only what differs needs to be in a file.
            Quantities may be written with a unit (5 mg, 4.9 gal, 200 ms, 2 min, 0.5 Hz); a bare number is in the unit \
            given in brackets. In brackets too: when a change takes effect (live: at once; restart-stream: the sensor \
            is opened again; restart: the agent must be started again).
            """)
        for chapter in SettingsTable.chapters {
            writer.line("")
            writer.comment(chapter.help)
            for setting in chapter.settings { writer.add(setting, notes: setting.notes) }
        }
        writer.line("")
        writer.comment("Keys, or groups of keys, that may not be changed over MQTT, such as [mqtt, sensor.rate_hz].")
        writer.line("locked: []")
        let keys = SettingsTable.unlockableKeys.joined(separator: ", ")
        writer.comment("Keys that may be changed over MQTT, though that is not usual: of [\(keys)].")
        writer.line("unlocked: []")
        return writer.text
    }()

    struct Writer {
        private(set) var text = ""
        private var open: [Substring] = []
        private var indent = 0

        mutating func line(_ line: String) { text += line + "\n" }

        /// Words in lines of at most 110 characters.
        mutating func comment(_ words: String) {
            let margin = String(repeating: " ", count: indent) + "#"
            for paragraph in words.split(separator: "\n") {
                var line = margin
                for word in paragraph.split(separator: " ") {
                    if line.count + 1 + word.count > 110 {
                        self.line(line)
                        line = margin
                    }
                    line += " " + word
                }
                self.line(line)
            }
        }

        /// - Parameter notes: in brackets after its help.
        mutating func add(_ setting: Setting<some SettingsRoot>, notes: String) {
            let path = setting.key.split(separator: ".")
            let shared = zip(open, path.dropLast()).prefix { $0 == $1 }.count
            open = Array(path.dropLast())
            for level in shared..<open.count { line(String(repeating: "  ", count: level) + open[level] + ":") }
            indent = 2 * open.count
            comment("\(setting.help) [\(notes)]")
            line(String(repeating: " ", count: indent) + "\(path.last ?? ""): \(setting.defaultText)")
            indent = 0
        }
    }
}

extension Setting {
    /// The default as YAML.
    var defaultText: String { written ?? YAMLText.flow(standard) }

    /// Allowed values, and the unit of a bare number.
    var allowedWithUnit: String {
        guard let unit, !allowed.hasText(unit) else { return allowed }
        return "\(allowed); \(unit)"
    }

    /// Type, range, effect and access in a few words.
    var notes: String {
        var notes = [allowedWithUnit]
        notes.append(apply.rawValue)
        if !isRemote { notes.append(isUnlockable ? "not remotely unless unlocked" : "not remotely") }
        if isSecret { notes.append("secret") }
        return notes.joined(separator: "; ")
    }
}

/// Trees of settings as YAML that people read and edit.
public enum YAMLDocument {
    /// The tree of a text (YAML 1.2, so JSON too), read with the bounds and refusals of the settings file.
    ///
    /// - Throws: an error of code `syntax` or `tooLarge`, with line and column.
    public static func read(_ bytes: [UInt8]) throws(CodedError) -> Value { try YAMLReader.read(bytes).root }

    /// A tree on one line.
    public static func line(_ value: Value) -> String { YAMLText.flow(value) }

    /// A tree over several lines, each ended: objects by indentation, everything else on its line.
    ///
    /// - Parameter isWhole: says of an object, by its key such as `axes.x.filter`, that it stays on one line.
    public static func text(_ value: Value, isWhole: (String, Value) -> Bool = { _, _ in false }) -> String {
        guard case .object(let members) = value, !members.isEmpty else { return line(value) + "\n" }
        var text = ""
        append(members, "", "", &text, isWhole)
        return text
    }

    private static func append(
        _ members: [Value.Member], _ parent: String, _ indent: String, _ text: inout String,
        _ isWhole: (String, Value) -> Bool
    ) {
        for member in members {
            let key = SettingsTree.joined(parent, member.key)
            text += indent + line(.string(member.key)) + ":"
            if case .object(let inner) = member.value, !inner.isEmpty, !isWhole(key, member.value) {
                text += "\n"
                append(inner, key, indent + "  ", &text, isWhole)
            } else {
                text += " " + line(member.value) + "\n"
            }
        }
    }
}

/// Trees as YAML that fits on one line and reads back to the same tree.
enum YAMLText {
    static func flow(_ value: Value) -> String {
        switch value {
        case .string(let text): isPlain(text) ? text : json(value)
        case .array(let elements): "[" + elements.map(flow).joined(separator: ", ") + "]"
        case .object(let members):
            "{" + members.map { "\(flow(.string($0.key))): \(flow($0.value))" }.joined(separator: ", ") + "}"
        default: json(value)
        }
    }

    private static func json(_ value: Value) -> String { String(decoding: value.json(), as: UTF8.self) }

    /// Text that needs no quotes, wherever it stands, and stays text.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, first != "-", first != ".", !text.hasSuffix(" ") else {
            return false
        }
        let isSafe = text.utf8.allSatisfy { $0.isOfID || "./+^ ".utf8.contains($0) }
        guard isSafe, first != " ", case .string = YAMLCoreSchema.resolve(text) else { return false }
        return true
    }
}

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
