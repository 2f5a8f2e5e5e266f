import Glibc
import Messages
import Settings

/// The settings of a program beside the agent: a chapter of its own with a row for each key, and the chapter `mqtt`,
/// which is the agent's.
public protocol ProgramSettings: Sendable {
    /// Every key at its default.
    init()
    /// Name of the chapter, such as `feed`.
    static var chapter: String { get }
    /// What the program is called where it is spoken of, such as `seismote-feed`.
    static var program: String { get }
    /// One of its settings with a value, for its help: `feed.days=30`.
    static var example: String { get }
    /// All rows, in the order of the default file.
    static var table: [ProgramSetting<Self>] { get }
    var mqtt: MQTTConfiguration { get set }
}

/// All that is wrong with a file and a command line, one sentence each.
public struct ProgramSettingsError: Error {
    public var problems: [String]
}

extension ProgramSettings {
    /// A line of the program's log, to standard error, with its name and without control characters.
    public static func printError(_ words: String) {
        let line = String(
            words.unicodeScalars.prefix(1000).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
        var bytes = Array("\(program): \(line)\n".utf8)
        _ = write(2, &bytes, bytes.count)
    }

    /// Where the settings are unless another file is named.
    public static var usualFile: String { "/etc/seismote/\(chapter).yaml" }

    /// The annotated file with every key at its default.
    public static var defaultFile: String {
        var text = """
            # Settings of \(program): every key, at its default. Only what differs needs to be in a file.
            # The chapter mqtt (uri, root, username, password_file, tls.ca_file ...) is that of the agent's settings file:
            # see `seismote config default`.
            mqtt:
              uri: [\(MQTTConfiguration().uris.joined(separator: ", "))]

            \(chapter):

            """
        for row in table { text += "  # \(row.help) [\(row.allowed)]\n  \(row.key): \(row.standard)\n" }
        return text
    }

    /// Reads a file and what the command line says above it, `KEY=VALUE` each.
    /// - Throws: all that is wrong.
    public static func load(file: [UInt8]?, overrides: [String]) throws(ProgramSettingsError) -> Self {
        var reading = Reading<Self>()
        do throws(CodedError) {
            if let file { reading.take(file: try PlainTree.Located(yaml: file)) }
        } catch {
            let column = error.column.map { ", column \($0)" } ?? ""
            reading.problems.append(
                "settings file\(error.line.map { ", line \($0)\(column)" } ?? ""): \(error.message)")
        }
        for text in overrides { reading.take(override: text) }
        return try reading.finished()
    }
}

/// What has been read so far.
private struct Reading<Program: ProgramSettings> {
    var settings = Program()
    var problems: [String] = []
    private var mqtt: [Value.Member] = []
    private var mqttOverrides: [String] = []
    private var file: PlainTree.Located?

    /// `settings file, line 3, column 5`
    private func place(_ keys: String...) -> String {
        guard let place = file?.place(of: keys) else { return "settings file" }
        return "settings file, line \(place.line), column \(place.column)"
    }

    mutating func take(file located: PlainTree.Located) {
        file = located
        guard case .object(let members) = located.root else {
            if located.root != .null {
                problems.append("settings file: an object with the chapters mqtt and \(Program.chapter) is needed")
            }
            return
        }
        for member in members {
            switch (member.key, member.value) {
            case ("mqtt", _): mqtt.append(member)
            case (Program.chapter, .object(let own)):
                for one in own {
                    take("\(Program.chapter).\(one.key)", one.value, place(Program.chapter, one.key))
                }
            case (Program.chapter, .null): break
            default: take(member.key, member.value, place(member.key))
            }
        }
    }

    mutating func take(override text: String) {
        guard let equals = text.firstIndex(of: "=") else {
            return problems.append("--set \(text): KEY=VALUE is needed")
        }
        let (key, written) = (String(text[..<equals]), text[text.index(after: equals)...])
        if key.hasPrefix("mqtt.") { return mqttOverrides.append(text) }
        do throws(CodedError) {
            take(key, written.isEmpty ? "" : try PlainTree.read(yaml: Array(written.utf8)), "--set")
        } catch {
            problems.append("--set \(key): \(error.message)")
        }
    }

    private mutating func take(_ key: String, _ value: Value, _ place: String) {
        guard let row = Program.table.first(where: { "\(Program.chapter).\($0.key)" == key }) else {
            let known = Program.table.map { "\(Program.chapter).\($0.key)" } + ["mqtt"]
            let nearest = known.first { $0.hasSuffix(".\(key)") } ?? Spelling.nearest(to: key, in: known)
            return problems.append(
                "\(place): there is no setting \(key.prefix(80))\(nearest.map { "; did you mean \($0)?" } ?? "")")
        }
        if !row.read(value, &settings) {
            let given = String(decoding: value.json().prefix(80), as: UTF8.self)
            problems.append("\(place): \(key) is \(given); allowed: \(row.allowed)")
        }
    }

    /// The chapter `mqtt` is read as the agent reads it.
    mutating func finished() throws(ProgramSettingsError) -> Program {
        do throws(CodedErrors) {
            let loaded = try Settings.load(file: Value.object(mqtt).json(), overrides: mqttOverrides)
            settings.mqtt = loaded.configuration.mqtt
        } catch {
            problems += error.errors.map { one in
                let keys = one.path.dropFirst().split(separator: "/").map(String.init)
                let isOfFile = one.source == .file
                let place = isOfFile ? file?.place(of: keys) : nil
                let words = place.map { "settings file, line \($0.line), column \($0.column): " } ?? ""
                return
                    "\(words)\(keys.joined(separator: ".")): \(one.message)\(one.allowed.map { " Allowed: \($0)" } ?? "")"
            }
        }
        guard problems.isEmpty else { throw ProgramSettingsError(problems: problems) }
        return settings
    }
}
