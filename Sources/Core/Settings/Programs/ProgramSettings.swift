import Messages
import Values

/// Settings that have a table: those of a program beside the agent, and those of each element of a list in them.
public protocol TableSettings: SettingsRoot {
    /// All rows, in the order of the default file. The dots of a key stand for objects.
    static var table: [Setting<Self>] { get }
    /// Rules between several settings that are broken here, with paths from here on; asked where each setting is right.
    var problems: [CodedError] { get }
}

extension TableSettings {
    public var problems: [CodedError] { [] }

    /// Reads the value at a key, or the object around several, along the table.
    /// - Parameters:
    ///   - key: empty for the whole.
    ///   - nullResets: null takes a key back to its default.
    mutating func read(
        _ value: Value, key: String = "", at path: String, nullResets: Bool = false, _ findings: inout Findings
    ) {
        if let row = Self.table.first(where: { $0.key == key }) {
            let isReset = value == .null && nullResets && !row.takesNull
            return row.read(isReset ? row.standard : value, path, 0, &self, &findings)
        }
        let names = SettingsTree.children(of: Self.table.map(\.key))[key] ?? []
        guard case .object(let members) = value else {
            return findings.wrongType(
                path, "an object", got: value, allowed: "an object with \(names.joined(separator: ", "))")
        }
        for member in members {
            guard names.contains(member.key) else {
                findings.add(.unknownKey(member, in: names, at: path))
                continue
            }
            let here = JSONPointer.appending(member.key, to: path)
            read(member.value, key: SettingsTree.joined(key, member.key), at: here, nullResets: nullResets, &findings)
        }
    }
}

/// The settings of a program beside the agent: a chapter of its own with a row for each key, and the chapter `mqtt`,
/// which is the agent's.
public protocol ProgramSettings: TableSettings {
    /// Name of the chapter, such as `feed`.
    static var chapter: String { get }
    /// Name of the program in texts, such as `seismote-feed`.
    static var program: String { get }
    /// One of its settings with a value, for its help: `feed.days=30`.
    static var example: String { get }
    /// Rows of the manual for elements of lists that have a table; see ``TableSettings/manualRows(at:)``.
    static var manualOfElements: String { get }
    var mqtt: MQTTConfiguration { get set }
}

extension ProgramSettings {
    public static var manualOfElements: String { "" }

    /// Where the settings are unless another file is named.
    public static var usualFile: String { "/etc/seismote/\(chapter).yaml" }

    /// An option of the command line as ``load(file:overrides:)`` takes it. Text stays text: a station may be
    /// called `1001`.
    package static func override(_ key: String, _ value: Value) -> String {
        key + "=" + String(decoding: value.json(), as: UTF8.self)
    }

    /// The same for a list of texts.
    /// - Parameter words: with commas between them.
    package static func override(_ key: String, list words: String) -> String {
        override(key, .array(words.split { $0 == "," || $0 == " " }.map { .string(String($0)) }))
    }

    /// Reads a file and what the command line says above it, `KEY=VALUE` each; nothing after the `=` is the default.
    /// - Throws: all that is wrong.
    public static func load(file: [UInt8]?, overrides: [String]) throws(CodedErrors) -> Self {
        var reader = ProgramReader<Self>()
        if let file {
            do throws(CodedError) {
                reader.take(.file, try YAMLReader.read(file))
            } catch {
                reader.findings.add(error.from(.file))
            }
        }
        for override in overrides {
            do throws(CodedError) {
                reader.take(.commandLine, try CommandLineLayer.document(override, example: Self.example))
            } catch {
                reader.findings.add(error.from(.commandLine))
            }
        }
        return try reader.finished()
    }
}

/// Reader with the settings read so far; the chapter `mqtt` is read as the agent reads it.
private struct ProgramReader<Program: ProgramSettings> {
    var findings = Findings()
    private var settings = Program()
    private var layers: [Layer] = []

    mutating func take(_ source: SettingSource, _ document: Document) {
        let start = findings.errors.count
        let known = ["mqtt", Program.chapter]
        switch document.root {
        case .null: break
        case .object(let members):
            for member in members {
                if member.key == "mqtt" {
                    let part = Document(root: .object([member]), marks: document.marks)
                    layers.append(Layer(source, part, &findings))
                } else if member.key == Program.chapter {
                    guard member.value != .null else { continue }
                    settings.read(
                        member.value, key: member.key, at: "/\(member.key)", nullResets: source == .commandLine,
                        &findings)
                } else {
                    var error = CodedError.unknownKey(member, in: known, at: "")
                    // Somebody may have left the chapter out.
                    let whole = SettingsTree.joined(Program.chapter, member.key)
                    if Program.table.contains(where: { $0.key == whole }) { error.nearest = whole }
                    findings.add(error)
                }
            }
        case let other:
            findings.wrongType("", "an object", got: other, allowed: "an object with \(known.joined(separator: ", "))")
        }
        findings.locate(from: start) { (source, document.mark(at: $0)) }
    }

    func finished() throws(CodedErrors) -> Program {
        var (findings, settings) = (findings, settings)
        settings.mqtt = try Settings.merge(layers, &findings).configuration.mqtt
        return settings
    }
}

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
