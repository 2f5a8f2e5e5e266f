import Values

// What a program says of its settings, made from its table.

extension ProgramSettings {
    /// The annotated file with every key at its default.
    public static var defaultFile: String {
        var writer = DefaultFile.Writer()
        writer.comment(
            """
            Settings of \(program): every key, at its default. Only what differs needs to be in a file.
            The chapter mqtt (uri, root, username, password_file, tls.ca_file ...) is that of the agent's settings file: \
            see `seismote config default`.
            """)
        writer.line("mqtt:")
        writer.line("  uri: [\(MQTTConfiguration().uris.joined(separator: ", "))]")
        writer.line("")
        for setting in table { writer.add(setting, notes: setting.allowedWithUnit) }
        return writer.text
    }

    /// The JSON Schema (2020-12) of the file; see ``SettingsSchema``.
    public static var schema: Value {
        let chapters = SettingsSchema.object([
            .init("mqtt", SettingsSchema.value["properties"]?["mqtt"] ?? [:]),
            .init(chapter, SettingsSchema.object(by: table, below: 1)),
        ])
        guard case .object(let members) = chapters else { return chapters }
        let head: [Value.Member] = [
            .init("$schema", "https://json-schema.org/draft/2020-12/schema"),
            .init("$id", .string("urn:seismote:\(chapter):1")), .init("title", .string("Settings of \(program)")),
        ]
        return .object(head + members)
    }

    /// A chapter of the reference (Markdown).
    public static var manual: String {
        let head = """
            ## \(program.filter { $0 != "`" })

            In `\(usualFile)`, or in the file that `--config` names.

            | Key | Default | Allowed | What it is |
            |---|---|---|---|

            """
        return head + manualRows() + manualOfElements
    }
}

extension TableSettings {
    /// Rows of the reference (Markdown).
    /// - Parameter prefix: in front of each key.
    package static func manualRows(at prefix: String = "") -> String {
        table.reduce("") { rows, setting in
            let standard = setting.standard == .null ? "none" : "`\(setting.defaultText)`"
            let cells = ["`\(prefix)\(setting.key)`", standard, setting.allowedWithUnit, setting.help]
            return rows + "| " + cells.map(SettingsManual.escaped).joined(separator: " | ") + " |\n"
        }
    }
}
