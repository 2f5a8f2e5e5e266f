import Administration
import ArgumentParser
import Glibc
import MQTT
import Messages
import ServerOptions
import Settings
import Values

/// `seismote setup`: from an installed package to a station that is on the page.
struct SetupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "setup", abstract: "Set up the station on this machine: sensor, place, broker, noise, test.",
        discussion: """
            sudo seismote setup --name basement --broker here --yes

            A conversation in five steps, which can be repeated: what is set already is offered. Each answer is an option \
            too; with --yes nobody is asked. Connection, rights and clock are tried before anything is saved, and no file \
            is written without its difference being shown. A broker that has invited this station (`seismote-broker invite`) is \
            joined before, by `seismote join`, and stays as it is; the line of `seismote-broker add`, an account with a \
            password, goes here as it is. \
            Exit status 0 done, 1 something was refused or not confirmed, 64 wrong arguments, 74 a file cannot be written, \
            78 wrong settings.
            """)

    @Option(help: ArgumentHelp("auto, i2c:BUS:ADDRESS, iio:NAME or simulate.", valueName: "sensor"))
    var sensor: String?

    @Option(help: ArgumentHelp("Name of the station (station.id); else that of the user.", valueName: "name"))
    var name: String?

    @Option(help: ArgumentHelp("Degrees north; may be coarse.", valueName: "degrees"))
    var latitude: String?

    @Option(help: ArgumentHelp("Degrees east.", valueName: "degrees"))
    var longitude: String?

    @Option(help: ArgumentHelp("Bearing of the station's y axis, degrees from north.", valueName: "degrees"))
    var north: String?

    @Option(help: ArgumentHelp("Groups, with commas.", valueName: "names"))
    var groups: String?

    @Option(
        help: ArgumentHelp("Broker, such as mqtts://broker.local:8883; here: one on this machine.", valueName: "uri"))
    var broker: String?

    @Option(help: ArgumentHelp("Fingerprint of the authority of the broker's certificate.", valueName: "SHA256:…"))
    var caFingerprint: String?

    @Option(help: ArgumentHelp("File with that authority's certificate (PEM).", valueName: "file"))
    var ca: String?

    @Option(help: ArgumentHelp("User name.", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Password; others can see it in the list of processes. SEISMOTE_PASSWORD.", valueName: "password"))
    var password: String?

    @Option(help: ArgumentHelp("File with the password in its first line.", valueName: "file"))
    var passwordFile: String?

    @Option(help: ArgumentHelp("Preset: \(Preset.all.map(\.name).joined(separator: ", ")).", valueName: "preset"))
    var preset: String?

    @Option(help: ArgumentHelp("Seconds of quiet that the noise is measured over; 0: not measured.", valueName: "s"))
    var noiseSeconds = 60.0

    @Option(name: .shortAndLong, help: ArgumentHelp("The settings file.", valueName: "file"))
    var config = BrokerOptions.usualFile

    @Option(help: ArgumentHelp("Address of the page; else it is guessed from the broker's.", valueName: "url"))
    var page: String?

    @Flag(help: "Do not start the service.")
    var noStart = false

    @Flag(name: .shortAndLong, help: "Ask nothing: options and defaults hold.")
    var yes = false

    @Flag(help: "Print JSON, one object a line; asks nothing.")
    var json = false

    @Flag(help: "Take over seismote.yaml from the boot partition, and do nothing where there is none.")
    var fromBoot = false

    @Option(help: ArgumentHelp("The boot partition.", valueName: "folder"))
    var boot = "/boot/firmware"

    func validate() throws {
        guard noiseSeconds == 0 || (2...3600).contains(noiseSeconds) else {
            throw ValidationError("--noise-seconds \(noiseSeconds): 0, or 2 to 3600")
        }
        guard yes || json || fromBoot || isatty(STDIN_FILENO) != 0 else {
            throw ValidationError("no terminal: add --yes and the answers as options")
        }
        if let caFingerprint, Fingerprint.digits(caFingerprint) == nil {
            throw ValidationError("--ca-fingerprint \(caFingerprint): SHA256: and 64 hexadecimal digits")
        }
    }

    func run() throws {
        Interrupt.listen()
        try ctl {
            if fromBoot { return try BootFile(folder: boot, config: path(config)).take() }
            var shell = try SetupShell(self, config: path(config))
            return try shell.run()
        }
    }

    /// From the root, for the service.
    private func path(_ name: String) -> String {
        guard !name.hasPrefix("/"), let folder = getcwd(nil, 0) else { return name }
        defer { free(folder) }
        return "\(String(cString: folder))/\(name)"
    }

    /// The answers that were given as options.
    func answers() throws -> SetupAnswers {
        var answers = SetupAnswers()
        let options: [(SetupQuestion, String?)] = [
            (.sensor, sensor), (.name, name ?? user), (.latitude, latitude), (.longitude, longitude), (.north, north),
            (.groups, groups), (.broker, broker), (.user, user), (.password, try secret()), (.preset, preset),
        ]
        for (question, text) in options { answers[question] = text }
        answers[.fingerprint] = caFingerprint ?? (ca == nil ? nil : "")
        // Who gives a broker says with it whether there is a user.
        if broker != nil, user == nil { answers[.user] = "" }
        return answers
    }

    private func secret() throws -> String? {
        if let password { return password }
        if let passwordFile {
            switch SecretFile.read(path(passwordFile)) {
            case .success(let text): return text
            case .failure(let problem): throw CtlError(status: .files, problem.message)
            }
        }
        return getenv("SEISMOTE_PASSWORD").flatMap { $0.pointee == 0 ? nil : String(cString: $0) }
    }
}

/// The questions of `seismote setup`. The raw value is the name of the option that answers it.
enum SetupQuestion: String, CaseIterable {
    case sensor, mounting, north, name, latitude, longitude, groups, broker
    case fingerprint = "ca-fingerprint"
    case user, password
    case clock = "ignore-clock"
    case preset, save, start
}

/// Answers so far, by option or by a person; missing ones are asked or have a default.
struct SetupAnswers: Equatable {
    /// The answer for a broker on this machine.
    static let here = "here"

    /// The answer that leaves what a preset has set, or a person, as it is.
    static let keep = "keep"

    /// The answer that goes back to the question before.
    static let back = "<"

    /// The answer that looks at the clock once more.
    static let again = "again"

    private var texts: [SetupQuestion: String] = [:]

    subscript(question: SetupQuestion) -> String? {
        get { texts[question] }
        set { texts[question] = newValue }
    }

    /// Fault of an answer, with the remedy; nil when it is good.
    static func problem(_ question: SetupQuestion, _ text: String) -> String? {
        switch question {
        case .sensor:
            return sensorPatch(text) == nil && text != "again"
                ? "`\(safe(text, limit: 80))` is no sensor: auto, simulate, i2c:BUS:ADDRESS such as i2c:1:0x53, iio:NAME, or again"
                : nil
        case .name: return Topics.problem(inID: text).map { "`\(safe(text, limit: 80))` is no station id: \($0)" }
        case .latitude: return number(text, -90...90, "a latitude", "degrees north")
        case .longitude: return number(text, -180...180, "a longitude", "degrees east")
        case .north: return number(text, -360...360, "a bearing", "degrees clockwise from true north")
        case .groups:
            let wrong = list(text).first { Topics.problem(inID: $0) != nil }
            return wrong.map { "`\(safe($0, limit: 80))` is no group: letters A-Z a-z, digits, _ and -" }
        case .broker where text == here: return nil
        case .broker:
            do throws(MQTTError) {
                _ = try BrokerAddress(uri: uri(text))
                return nil
            } catch { return error.message }
        case .fingerprint:
            return text.isEmpty || Fingerprint.digits(text) != nil
                ? nil : "`\(safe(text, limit: 100))` is no fingerprint: SHA256: and 64 hexadecimal digits"
        case .preset:
            let names = [keep] + Preset.all.map(\.name)
            return names.contains(text)
                ? nil : "there is no preset `\(safe(text, limit: 80))`; there are \(names.joined(separator: ", "))"
        case .user, .password:
            return text.utf8.contains { $0 < 32 } ? "it has a control character in it" : nil
        case .clock where text == again: return nil
        case .mounting, .clock, .save, .start: return yes(text) == nil ? "answer y or n" : nil
        }
    }

    private static func number(_ text: String, _ range: ClosedRange<Double>, _ what: String, _ unit: String) -> String?
    {
        if text.isEmpty { return nil }
        guard let value = Double(text), range.contains(value) else {
            // (Not taken for a point in silence: 1,200 may mean either.)
            let parts = text.split(separator: ",", omittingEmptySubsequences: false)
            if parts.count == 2, let value = Double(parts.joined(separator: ".")), range.contains(value) {
                return "`\(safe(text, limit: 80))` has a comma in it: use a point, \(parts.joined(separator: "."))"
            }
            return
                "`\(safe(text, limit: 80))` is not \(what): \(Int(range.lowerBound))…\(Int(range.upperBound)) \(unit)"
        }
        return nil
    }

    static func yes(_ text: String) -> Bool? {
        switch text.lowercased() {
        case "y", "yes", "true": true
        case "n", "no", "false": false
        default: nil
        }
    }

    static func uri(_ text: String) -> String { text.contains("://") ? text : "mqtt://\(text)" }

    static func list(_ text: String) -> [String] { text.split { $0 == "," || $0 == " " }.map(String.init) }

    /// The settings of a sensor by its short name; nil: it is none.
    static func sensorPatch(_ text: String) -> Value? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        switch parts.first {
        case "auto" where parts.count == 1, "simulate" where parts.count == 1: return ["driver": .string(parts[0])]
        case "i2c" where parts.count == 3:
            let digits = parts[2].hasPrefix("0x") ? Int(parts[2].dropFirst(2), radix: 16) : Int(parts[2])
            guard let bus = Int64(parts[1]), (0...255).contains(bus), let address = digits, (8...119).contains(address)
            else { return nil }
            return ["driver": "i2c", "i2c": ["bus": .int(bus), "address": .int(Int64(address))]]
        case "iio" where parts.count >= 2:
            let name = parts.dropFirst().joined(separator: ":")
            return name.isEmpty ? nil : ["driver": "iio", "iio": ["device": .string(name)]]
        default: return nil
        }
    }
}

/// Where secrets and certificates go that the settings name.
struct SetupFiles: Equatable {
    var passwordFile = ""
    var caFile = ""
    /// Address of the page, with `{id}` for the station; empty: not known.
    var page = ""
}

extension SetupAnswers {
    /// The settings that the answers come to, as a merge patch on the settings file.
    /// - Parameter mounting: the map of the axes that the sensor was found to need; nil: as it is.
    func patch(_ files: SetupFiles, mounting: Value?) -> Value {
        var station: [Value.Member] = []
        if let name = self[.name] { station.append(.init("id", .string(name))) }
        for (question, key) in [(SetupQuestion.latitude, "latitude"), (.longitude, "longitude")] {
            if let number = self[question].flatMap(Double.init) { station.append(.init(key, .double(number))) }
        }
        if let groups = self[.groups].map(Self.list), !groups.isEmpty {
            station.append(.init("groups", .array(groups.map { .string($0) })))
        }
        var sensor = self[.sensor].flatMap(Self.sensorPatch)?.members ?? []
        var place = mounting?.members ?? []
        if let north = self[.north].flatMap(Double.init), north != 0 {
            place.append(.init("north_deg", .double(north)))
        }
        if !place.isEmpty { sensor.append(.init("mounting", .object(place))) }
        var mqtt: [Value.Member] = []
        if let broker = self[.broker] { mqtt.append(.init("uri", .string(Self.uri(broker)))) }
        if let user = self[.user], !user.isEmpty { mqtt.append(.init("username", .string(user))) }
        if !files.passwordFile.isEmpty { mqtt.append(.init("password_file", .string(files.passwordFile))) }
        if !files.caFile.isEmpty { mqtt.append(.init("tls", ["ca_file": .string(files.caFile)])) }
        if !files.page.isEmpty { mqtt.append(.init("home_assistant", ["page": .string(files.page)])) }
        let answers = [("station", station), ("sensor", sensor), ("mqtt", mqtt)].filter { !$0.1.isEmpty }
        let own = Value.object(answers.map { .init($0.0, .object($0.1)) })
        let patch = Self.laid(own, over: self[.preset].map(Self.presetPatch) ?? .object([]))
        // In the order of the settings file.
        let order = SettingsTable.chapters.map(\.key)
        return .object(order.compactMap { key in patch[key].map { .init(key, $0) } })
    }

    /// The settings of a preset; what others have set goes back to its default. (The first one is what is built in.)
    static func presetPatch(_ name: String) -> Value {
        func tree(_ preset: Preset) -> Value { (try? YAMLDocument.read(Array(preset.text.utf8))) ?? .object([]) }
        guard let index = Preset.all.firstIndex(where: { $0.name == name }) else { return .object([]) }
        var patch = Value.object([])
        for other in Preset.all { patch = laid(cleared(tree(other), ""), over: patch) }
        return index == 0 ? patch : laid(tree(Preset.all[index]), over: patch)
    }

    /// The same tree with null for each setting.
    private static func cleared(_ value: Value, _ key: String) -> Value {
        guard SettingsTable.setting(key) == nil, let members = value.members else { return .null }
        return .object(members.map { .init($0.key, cleared($0.value, key.isEmpty ? $0.key : "\(key).\($0.key)")) })
    }

    /// One patch over another; null stays.
    private static func laid(_ top: Value, over bottom: Value, _ key: String = "") -> Value {
        guard SettingsTable.setting(key) == nil, let above = top.members, var members = bottom.members else {
            return top
        }
        for member in above {
            let here = key.isEmpty ? member.key : "\(key).\(member.key)"
            if let i = members.firstIndex(where: { $0.key == member.key }) {
                members[i].value = laid(member.value, over: members[i].value, here)
            } else {
                members.append(member)
            }
        }
        return .object(members)
    }
}
