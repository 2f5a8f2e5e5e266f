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
        let own = table.map { setting in
            Value.Member(String(setting.key.dropFirst(chapter.utf8.count + 1)), SettingsSchema.annotated(setting))
        }
        let chapters = SettingsSchema.object([
            .init("mqtt", SettingsSchema.value["properties"]?["mqtt"] ?? [:]),
            .init(chapter, SettingsSchema.object(own)),
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
        var text = """
            ## \(program.filter { $0 != "`" })

            In `\(usualFile)`, or in the file that `--config` names.

            | Key | Default | Allowed | What it is |
            |---|---|---|---|

            """
        for setting in table {
            let cells = ["`\(setting.key)`", "`\(setting.defaultText)`", setting.allowedWithUnit, setting.help]
            text += "| " + cells.map(SettingsManual.escaped).joined(separator: " | ") + " |\n"
        }
        return text
    }
}
