import ArgumentParser
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Settings
import Values

/// `seismote doctor`: what is wrong with the station on this machine, and what to do about it.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Find what is wrong with this station, and say what helps.",
        discussion: """
            sudo seismote doctor

            Looks at the settings file, permissions, the service, versions, the clock, the disk, the memory card, \
            the power supply, the broker, certificates, rights, other stations of the same id, leftovers of earlier names, the sensor and its \
            mounting. Nothing is changed; next to the station's topics empty messages are published that nobody reads. What \
            cannot be looked at is said, with the reason: root sees most. With the account of a reader (--user, \
            --password-file) more can be read from the broker than the station's own account may. Exit status 0 nothing is \
            wrong, 1 something is, 2 wrong arguments.
            """)

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    @Option(
        help: ArgumentHelp(
            "User that the service runs as; else that of the running agent, or seismote.", valueName: "name"))
    var serviceUser: String?

    @Option(help: ArgumentHelp("The boot partition.", valueName: "folder"))
    var boot = "/boot/firmware"

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        Interrupt.listen()
        let facts = gather()
        if Interrupt.came { throw ExitCode(CtlStatus.interrupted.rawValue) }
        let report = DoctorReport(facts)
        print(json ? report.value.jsonText : report.text)
        if !report.diagnoses.isEmpty { throw ExitStatus.fault.code }
    }

    private func gather() -> Facts {
        var facts = Facts()
        facts.now = ToolSensor.now()
        facts.settings = settings()
        let path = facts.settings.path
        let agent = facts.settings.exists ? HostGather.agent(settings: path) : nil
        facts.agent = .known(agent)
        facts.files = FileGather.files(facts.settings, agent: agent, user: serviceUser)
        facts.service = HostGather.service()
        facts.installed = HostGather.installed(agent)
        facts.clock = HostGather.clock()
        facts.disk = HostGather.disk(facts.settings.configuration.storage.directory)
        for check in DoctorCheck.all { check.gather?(&facts) }
        if facts.settings.errors.isEmpty {
            connect(&facts)
            facts.sensor =
                agent != nil
                ? .unknown("the agent has the sensor, and what it says of it cannot be known: see `agent`")
                : SensorGather.look(facts.settings.configuration.sensor)
        } else {
            skip(&facts, "the settings are not valid")
        }
        // The last, so that an agent that has just begun has had some seconds.
        (facts.state, facts.isStateMissing) = StateGather.look(agent)
        return facts
    }

    private func settings() -> SettingsFacts {
        var facts = SettingsFacts()
        facts.path = broker.config ?? getenv("SEISMOTE_CONFIG").map { String(cString: $0) } ?? BrokerOptions.usualFile
        facts.exists = Glibc.access(facts.path, F_OK) == 0
        let left = BootFile(folder: boot, config: facts.path)
        (facts.bootFile, facts.bootProblem) = (left.waiting, left.problem)
        do throws(CodedErrors) {
            let layers = try SettingsLayers(path: facts.exists ? facts.path : nil, stationID: BrokerGather.hostID())
            // What was set remotely holds too, where its file may be read.
            let loaded = try SettingsLedger.stored(layers, now: ToolSensor.now()).ledger.settings
            facts.configuration = loaded.configuration
            facts.given = loaded.origins.count
        } catch {
            facts.errors = error.errors.map { $0.text(fileName: facts.path) }
            facts.configuration.station.id = BrokerGather.hostID()
        }
        return facts
    }

    private func connect(_ facts: inout Facts) {
        do {
            let access = try broker.access(
                mqtt: facts.settings.configuration.mqtt, station: facts.settings.configuration.station.id)
            let own = facts.settings.configuration.mqtt.username
            BrokerGather.look(access, &facts, isOwn: access.mqtt.username == own)
            facts.certificates = CertificateGather.certificates(access)
        } catch {
            skip(&facts, sentence(of: error))
        }
    }

    private func skip(_ facts: inout Facts, _ reason: String) {
        facts.broker = .unknown(reason)
        (facts.station, facts.rights, facts.leftovers) = (.unknown(reason), .unknown(reason), .unknown(reason))
        (facts.certificates, facts.sensor) = (.unknown(reason), .unknown(reason))
    }
}

/// Results of all checks, for people and for programs.
struct DoctorReport {
    let results: [(check: String, verdict: Verdict)]
    private let station: String
    private let path: String

    init(_ facts: Facts, checks: [DoctorCheck] = DoctorCheck.all) {
        results = checks.flatMap { check in check.judge(facts).map { (check.name, $0) } }
        (station, path) = (facts.settings.configuration.station.id, facts.settings.path)
    }

    var diagnoses: [Diagnosis] { results.compactMap(\.verdict.diagnosis) }

    /// As wide as it is, but on a terminal as it has room for.
    var text: String { text(width: Terminal.width ?? .max) }

    func text(width: Int) -> String {
        // On a narrow one what is said stands below the check's name.
        let indent = width < 80 ? 4 : 24
        var lines = ["Station \(station), \(path)", ""]
        for (check, verdict) in results {
            switch verdict {
            case .fine(let words): lines.append(line("ok", check, words, width))
            case .skipped(let reason): lines.append(line("skipped", check, reason, width))
            case .wrong(let diagnosis):
                lines.append(line(diagnosis.severity == .error ? "WRONG" : "warning", check, diagnosis.message, width))
                let remedy = wrapped("[\(diagnosis.code)] To fix: \(diagnosis.remedy)", width: width, indent: indent)
                lines.append(String(repeating: " ", count: indent) + remedy)
            }
        }
        return lines.joined(separator: "\n") + "\n\n" + summary
    }

    private var summary: String {
        let errors = diagnoses.filter { $0.severity == .error }.count
        let skipped = results.count { if case .skipped = $0.verdict { true } else { false } }
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let found =
            diagnoses.isEmpty
            ? "Nothing is wrong" : "\(count(errors, "fault")), \(count(diagnoses.count - errors, "warning"))"
        return found + (skipped > 0 ? "; \(count(skipped, "check")) skipped" : "")
    }

    private func line(_ mark: String, _ check: String, _ words: String, _ width: Int) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        if width < 80 {
            return padded(mark, 9) + check + "\n    " + wrapped(words, width: width, indent: 4)
        }
        return padded(mark, 9) + padded(check, 15) + wrapped(words, width: width, indent: 24)
    }

    var value: Value {
        let checks = results.map { check, verdict -> Value in
            var members: [Value.Member] = [.init("check", .string(check))]
            func add(_ key: String, _ text: String) { members.append(.init(key, .string(text))) }
            switch verdict {
            case .fine(let words):
                add("outcome", "fine")
                add("message", words)
            case .skipped(let reason):
                add("outcome", "skipped")
                add("message", reason)
            case .wrong(let diagnosis):
                add("outcome", "wrong")
                add("code", diagnosis.code)
                add("severity", diagnosis.severity.rawValue)
                add("message", diagnosis.message)
                add("remedy", diagnosis.remedy)
            }
            return .object(members)
        }
        return ["ok": .bool(diagnoses.isEmpty), "station": .string(station), "checks": .array(checks)]
    }
}
