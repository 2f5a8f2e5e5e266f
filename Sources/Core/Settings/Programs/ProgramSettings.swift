import Messages
import Values

/// The settings of a program beside the agent: a chapter of its own with a row for each key, and the chapter `mqtt`,
/// which is the agent's.
public protocol ProgramSettings: SettingsRoot {
    /// Name of the chapter, such as `feed`.
    static var chapter: String { get }
    /// Name of the program in texts, such as `seismote-feed`.
    static var program: String { get }
    /// One of its settings with a value, for its help: `feed.days=30`.
    static var example: String { get }
    /// All rows of the chapter, in the order of the default file.
    static var table: [Setting<Self>] { get }
    var mqtt: MQTTConfiguration { get set }
}

extension ProgramSettings {
    /// Where the settings are unless another file is named.
    public static var usualFile: String { "/etc/seismote/\(chapter).yaml" }

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
                reader.take(.commandLine, try CommandLineLayer.document(override))
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
                    takeChapter(member.value, from: source)
                } else {
                    var error = CodedError.unknownKey(member, in: known, at: "")
                    // Somebody may have left the chapter out.
                    error.nearest = row(Program.chapter + "." + member.key)?.key ?? error.nearest
                    findings.add(error)
                }
            }
        case let other:
            findings.wrongType("", "an object", got: other, allowed: "an object with \(known.joined(separator: ", "))")
        }
        findings.locate(from: start) { (source, document.mark(at: $0)) }
    }

    private func row(_ key: String) -> Setting<Program>? { Program.table.first { $0.key == key } }

    private mutating func takeChapter(_ value: Value, from source: SettingSource) {
        let names = Program.table.map { String($0.key.dropFirst(Program.chapter.utf8.count + 1)) }
        guard value != .null else { return }
        guard case .object(let members) = value else {
            return findings.wrongType(
                "/\(Program.chapter)", "an object", got: value,
                allowed: "an object with \(names.joined(separator: ", "))")
        }
        for member in members {
            guard let row = row(Program.chapter + "." + member.key) else {
                findings.add(.unknownKey(member, in: names, at: "/\(Program.chapter)"))
                continue
            }
            let isReset = member.value == .null && source == .commandLine && !row.takesNull
            row.read(isReset ? row.standard : member.value, JSONPointer.of(key: row.key), 0, &settings, &findings)
        }
    }

    func finished() throws(CodedErrors) -> Program {
        var (findings, settings) = (findings, settings)
        settings.mqtt = try Settings.merge(layers, &findings).configuration.mqtt
        return settings
    }
}
