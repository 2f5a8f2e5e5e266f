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
    public var defaultText: String { written ?? YAMLText.flow(standard) }

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
