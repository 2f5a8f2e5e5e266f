import ArgumentParser
import Glibc
import Link
import Messages
import Sensors
import Settings

/// The thin shell around `SetupConversation`: terminal, sensor, broker, files, service.
struct SetupShell {
    private let options: SetupCommand
    private let path: String
    /// Text of the settings file that is there; empty: there is none.
    private let old: String
    private let settings: LoadedSettings
    private var conversation: SetupConversation
    /// The authority that was fetched by its fingerprint.
    private var authority: EditedFile?
    private var fingerprint: String?
    private var recording: (recording: RestRecording, chip: String)?
    private var hasStopped = false
    /// The broker on this machine was told a moment ago: it may take some more until it listens to that.
    private var isFresh = false
    private var page: String?

    private var asks: Bool { !options.yes && !options.json }
    private var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    init(_ options: SetupCommand, config path: String) throws {
        (self.options, self.path) = (options, path)
        old = SmallFiles.text(path) ?? ""
        if old.isEmpty, Glibc.access(path, F_OK) == 0, Glibc.access(path, R_OK) != 0 {
            throw CtlError(status: .files, "\(path) may not be read; run it with sudo")
        }
        settings = try LayerOptions.parse([]).load(path: old.isEmpty ? nil : path)
        (fingerprint, page) = (options.caFingerprint, options.page)
        conversation = SetupConversation(
            given: try options.answers(), defaults: Self.defaults(settings, isThere: !old.isEmpty),
            assumesYes: options.yes || options.json)
    }

    /// What a second run offers: what is set.
    private static func defaults(_ settings: LoadedSettings, isThere: Bool) -> SetupAnswers {
        var defaults = SetupAnswers()
        let (station, mqtt, sensor) = (
            settings.configuration.station, settings.configuration.mqtt, settings.configuration.sensor
        )
        defaults[.name] = station.id.isEmpty ? BrokerGather.hostID() : station.id
        defaults[.latitude] = station.latitude.map { significant($0, 10) }
        defaults[.longitude] = station.longitude.map { significant($0, 10) }
        defaults[.groups] = station.groups.joined(separator: ",")
        guard isThere else { return defaults }
        // What was tuned since is not thrown away by going through it again.
        defaults[.preset] = SetupAnswers.keep
        if settings.origins["mqtt.uri"] != nil { defaults[.broker] = mqtt.uris.first }
        defaults[.user] = mqtt.username
        defaults[.north] = significant(sensor.mounting.north, 6)
        switch sensor.driver {
        case .simulate: defaults[.sensor] = "simulate"
        case .iio where sensor.iio.device != "auto": defaults[.sensor] = "iio:\(sensor.iio.device)"
        case .i2c: defaults[.sensor] = sensor.i2c.address.map { "i2c:\(sensor.i2c.bus):0x\(String($0, radix: 16))" }
        default: break
        }
        return defaults
    }

    mutating func run() throws -> CtlStatus {
        defer { if hasStopped { _ = ProgramRun(["systemctl", "start", "seismote"]) } }
        while true {
            let action = conversation.next()
            tell()
            if case .end(let isDone) = action { return finish(isDone) }
            let event = try perform(action)
            conversation.take(Interrupt.came ? .answer(.save, nil) : event)
            tell()
            if Interrupt.came { return .interrupted }
        }
    }

    private mutating func perform(_ action: SetupAction) throws -> SetupEvent {
        switch action {
        case .ask(let question, let text, let initial): return .answer(question, ask(question, text, initial))
        case .survey: return SetupSensor.event(Survey.ofThisMachine(everything: true))
        case .tap: return tap()
        case .findBrokers: return .brokers(BrokerFinder.find())
        case .tryBroker: return conversation.answers[.broker] == SetupAnswers.here ? makeAccount() : try tryPatiently()
        case .listen: return listen()
        case .save: return try save()
        case .start: return start()
        case .test: return test()
        case .end: return .answer(.save, nil)
        }
    }

    // MARK: the terminal

    private mutating func tell() {
        for line in conversation.takeLines() {
            if options.json {
                print(
                    Value.object([.init("kind", .string(line.kind.rawValue)), .init("text", .string(line.text))])
                        .jsonText)
            } else {
                switch line.kind {
                case .step: print("\n\(line.text)")
                case .info: print("  \(line.text)")
                case .fault: print("  WRONG: \(line.text)")
                case .remedy: print("  To fix: \(line.text)")
                }
            }
        }
        flushOutput()
    }

    private func ask(_ question: SetupQuestion, _ text: String, _ initial: String) -> String? {
        print("  \(text)\(initial.isEmpty ? "" : " [\(initial)]"): ", terminator: "")
        flushOutput()
        var keyboard = termios()
        let isHidden = question == .password && tcgetattr(STDIN_FILENO, &keyboard) == 0
        if isHidden {
            var silent = keyboard
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        }
        let line = readLine()
        if isHidden {
            tcsetattr(STDIN_FILENO, TCSANOW, &keyboard)
            print("")
        }
        guard let line, !Interrupt.came else { return nil }
        let trimmed = String(line.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        return trimmed.isEmpty ? initial : trimmed
    }

    private mutating func finish(_ isDone: Bool) -> CtlStatus {
        let address = isDone ? pageAddress() : nil
        if options.json {
            print(
                Value.object([
                    .init("kind", "result"), .init("ok", .bool(isDone)), .init("file", .string(path)),
                    .init("page", address.map { .string($0) } ?? .null),
                ]).jsonText)
        } else if let address {
            print("\nThe page of this station: \(address)")
            if isatty(STDOUT_FILENO) != 0, let code = ProgramRun(["qrencode", "-t", "UTF8", "-m", "1", address]),
                code.status == 0
            {
                print(code.output)
            }
            print("Later: seismote doctor says what is wrong, seismote setup changes the answers.")
        }
        return isDone ? .done : .refused
    }

    private func pageAddress() -> String? {
        guard let name = conversation.answers[.name], let uri = conversation.answers[.broker],
            let broker = try? BrokerAddress(uri: SetupAnswers.uri(uri))
        else { return nil }
        let host = broker.host.contains(":") ? "[\(broker.host)]" : broker.host
        var base = page ?? (broker.tls ? "https://\(host)/" : "http://\(host):8080/index.html")
        if base.hasSuffix("#/") { base.removeLast(2) }
        return "\(base)#/station/\(name)"
    }

    // MARK: the sensor

    /// The sensor as it was answered, along its own axes.
    private func sensor() -> SensorConfiguration {
        guard let patch = conversation.answers[.sensor].flatMap(SetupAnswers.sensorPatch),
            let text = try? SettingsEdit.edit(old, ["sensor": patch]),
            let loaded = try? Settings.load(file: Array(text.utf8))
        else { return settings.configuration.sensor }
        return loaded.configuration.sensor
    }

    private mutating func tap() -> SetupEvent {
        let configuration = sensor()
        if conversation.answers[.sensor] != "simulate", AgentProcesses.all.contains(where: ToolSensor.hasSensor) {
            if !hasStopped, let run = ProgramRun(["systemctl", "stop", "seismote"]), run.status == 0 {
                if !options.json { print("  The service is stopped while the sensor is looked at.") }
                hasStopped = true
            }
        }
        do throws(SensorError) {
            let recording =
                asks
                ? try SetupSensor(configuration).tap(seconds: 30)
                : try SetupSensor(configuration).record(seconds: 2).recording
            return .tapped(gravity: recording.mean, problem: "")
        } catch {
            return .tapped(gravity: nil, problem: "The sensor cannot be read: \(error.message)")
        }
    }

    private mutating func listen() -> SetupEvent {
        guard options.noiseSeconds > 0 else { return .quiet(nil, problem: "--noise-seconds 0") }
        let line = WaitingLine(enabled: asks)
        defer { line.clear() }
        let seconds = options.noiseSeconds
        if asks { print("  Leave the sensor alone for \(Int(seconds)) s.") }
        do throws(SensorError) {
            let result = try SetupSensor(sensor()).record(seconds: seconds) { _, recording in
                line.show("measuring, \(Int(max(0, seconds - recording.seconds))) s more")
                return true
            }
            return .quiet(NoiseReport(result.recording, chip: result.chip), problem: "too few samples")
        } catch {
            return .quiet(nil, problem: error.message)
        }
    }

    // MARK: the broker

    private mutating func makeAccount() -> SetupEvent {
        func failed(_ problem: String) -> SetupEvent { .tried(BrokerTrial(problem: problem)) }
        if ProgramRun.path("seismote-broker") == nil {
            let words = ["apt-get", "install", "-y", "seismote-broker"]
            if asks, ask(.start, "Install seismote-broker (\(words.joined(separator: " ")))", "y") != "y" {
                return failed("seismote-broker is not installed")
            }
            guard let run = ProgramRun(words, seconds: 600), run.status == 0, ProgramRun.path("seismote-broker") != nil
            else {
                return failed("seismote-broker could not be installed: sudo apt install seismote-broker says why")
            }
        }
        let name = conversation.answers[.name] ?? "station"
        for verb in ["add", "password"] {
            guard let run = ProgramRun(["seismote-broker", verb, name, "--json", "--no-qr"], seconds: 60),
                run.status == 0,
                let said = try? JSONReader.read(Array(run.output.utf8)), let broker = said["broker"]?.rawText,
                let password = said["password"]?.rawText
            else { continue }
            (fingerprint, isFresh) = (said["fingerprint"]?.rawText, true)
            page = options.page ?? said["page"]?.text
            return .account(broker: broker, user: name, password: password)
        }
        return failed("seismote-broker add \(name) did not make an account; run by hand it says why")
    }

    private mutating func tryPatiently() throws -> SetupEvent {
        for _ in 0..<20 where isFresh {
            let event = try tryBroker()
            if case .tried(let trial) = event, trial.problem == nil { return event }
            poll(nil, 0, 500)
        }
        isFresh = false
        return try tryBroker()
    }

    private mutating func tryBroker() throws -> SetupEvent {
        var trial = BrokerTrial()
        let uri = SetupAnswers.uri(conversation.answers[.broker] ?? "")
        guard let broker = try? BrokerAddress(uri: uri),
            let topics = try? Topics(
                root: settings.configuration.mqtt.root, id: conversation.answers[.name] ?? "")
        else { return .tried(BrokerTrial(problem: "\(uri) is no broker")) }
        if case .known(let clock) = HostGather.clock() {
            var facts = Facts()
            facts.clock = .known(clock)
            trial.clock = ClockCheck.judge(facts).compactMap(\.diagnosis).first
        }
        authority = nil
        if let fingerprint, broker.tls {
            let (pem, problem) = Authority.fetch(broker, fingerprint)
            guard let pem else {
                trial.problem = problem
                return .tried(trial)
            }
            authority = try EditedFile(pem)
        }
        do throws(ClientError) {
            let client = BrokerClient(access(broker))
            try client.connect()
            defer { client.disconnect() }
            let rights = try TopicTrial.run(client, topics)
            trial.denied = rights.filter { $0.isGranted == false }.map(\.topic)
            trial.isUnverified = rights.contains { $0.isGranted == nil }
        } catch {
            trial.problem = safeLines(error.description)
        }
        return .tried(trial)
    }

    private func access(_ broker: BrokerAddress) -> BrokerAccess {
        let mqtt = settings.configuration.mqtt
        var access = BrokerAccess(brokers: [broker])
        access.root = mqtt.root
        if mqtt.protocolVersion != .auto { access.version = mqtt.protocolVersion == .v311 ? .v311 : .v5 }
        access.username = conversation.answers[.user] ?? ""
        access.password = conversation.answers[.password].flatMap { $0.isEmpty ? nil : $0 } ?? storedPassword()
        // What is there has been given for its own broker.
        if mqtt.uris.contains(broker.description) || mqtt.uris.contains(conversation.answers[.broker] ?? "") {
            access.tls.caFile = mqtt.tls.caFile
            (access.tls.certFile, access.tls.keyFile) = (mqtt.tls.certFile, mqtt.tls.keyFile)
        }
        if let file = authority?.path ?? options.ca { access.tls.caFile = file }
        return access
    }

    /// The password that is there for the same user and broker.
    private func storedPassword() -> String? {
        let mqtt = settings.configuration.mqtt
        guard !mqtt.username.isEmpty, mqtt.username == conversation.answers[.user],
            mqtt.uris.contains(conversation.answers[.broker] ?? "")
        else { return nil }
        if !mqtt.password.isEmpty { return mqtt.password }
        let path = mqtt.passwordFile.hasPrefix("/") ? mqtt.passwordFile : "\(folder)/credentials/\(mqtt.passwordFile)"
        guard !mqtt.passwordFile.isEmpty, case .success(let text) = SecretFile.read(path) else { return nil }
        return text
    }

    // MARK: files and service

    private func changes() throws(CtlError) -> [FileChange] {
        var changes: [FileChange] = []
        var files = SetupFiles()
        if let password = conversation.answers[.password], !password.isEmpty {
            files.passwordFile = "\(folder)/mqtt-password"
            changes.append(FileChange(path: files.passwordFile, text: password + "\n", isSecret: true))
        }
        if let pem = authority.flatMap({ SmallFiles.text($0.path) }) {
            files.caFile = "\(folder)/broker-ca.pem"
            changes.append(FileChange(path: files.caFile, text: pem))
        } else if let ca = options.ca {
            files.caFile = ca
        }
        do throws(CodedError) {
            let text = try SettingsEdit.edit(old, conversation.answers.patch(files, mounting: conversation.mounting))
            changes.insert(FileChange(path: path, text: text), at: 0)
        } catch { throw CtlError(status: .settings, error.text(fileName: path)) }
        return changes
    }

    private func save() throws -> SetupEvent {
        let changes = try changes()
        do throws(CodedErrors) { _ = try Settings.load(file: Array(changes[0].text.utf8)) } catch {
            return .saved(false, problem: error.text(fileName: path))
        }
        var different: [FileChange] = []
        for change in changes {
            let difference = try change.difference()
            guard !difference.isEmpty else { continue }
            different.append(change)
            if options.json {
                print(
                    Value.object([
                        .init("kind", "change"), .init("file", .string(change.path)),
                        .init("text", .string(difference)),
                    ]).jsonText)
            } else {
                print(safeLines(difference), terminator: "")
            }
        }
        if different.isEmpty {
            if !options.json { print("  Nothing is different from what is there.") }
            return .saved(true, problem: "")
        }
        if asks, ask(.save, "Write this", "y").flatMap(SetupAnswers.yes) != true {
            return .saved(false, problem: "not saved")
        }
        // Secrets first: settings must not name what is not there.
        for change in different.reversed() { try change.write() }
        return .saved(true, problem: "")
    }

    private mutating func start() -> SetupEvent {
        if options.noStart { return .started(problem: "--no-start; to start it: sudo systemctl enable --now seismote") }
        if Glibc.access("/run/systemd/system", F_OK) == 0 {
            _ = ProgramRun(["systemctl", "daemon-reload"])
            _ = ProgramRun(["systemctl", "enable", "seismote"])
            guard let run = ProgramRun(["systemctl", "restart", "seismote"], seconds: 60), run.status == 0 else {
                return .started(problem: "systemctl restart seismote failed: journalctl -u seismote -n 50 says why")
            }
            hasStopped = false
            return .started(problem: nil)
        }
        // An agent that somebody else supervises begins anew with what was saved.
        guard let process = AgentProcesses.with(settings: path), kill(pid_t(process), SIGHUP) == 0 else {
            return .started(problem: "systemd does not run here; to start it by hand: seismoted --config \(path)")
        }
        return .started(problem: nil)
    }

    private func test() -> SetupEvent {
        let name = conversation.answers[.name] ?? ""
        let byHand = "seismote ctl test-event \(name) with an account that may command, or the page"
        func end(_ problem: String?, isFault: Bool = true) -> SetupEvent {
            .tested(problem: problem, remedy: byHand, isFault: isFault)
        }
        guard let broker = try? BrokerAddress(uri: SetupAnswers.uri(conversation.answers[.broker] ?? "")) else {
            return end("no broker")
        }
        let client = BrokerClient(access(broker))
        var problem = "no answer"
        let deadline = monotonicSeconds() + 30
        let line = WaitingLine(enabled: asks)
        defer { line.clear() }
        do throws(ClientError) {
            try client.connect()
            defer { client.disconnect() }
            let trigger = "\(client.access.root)/\(name)/event/trigger"
            while monotonicSeconds() < deadline, !Interrupt.came {
                var (isDone, isBack) = (false, false)
                let exchange = Exchange(client, "test-event", [:], .stations([name]), patience: 4, line: line)
                exchange.filters = [trigger]
                exchange.onMessage = { if $0.topic == trigger, !$0.isRetained { isBack = true } }
                exchange.onAccepted = { _, _ in 15 }
                exchange.onAnswer = { answer in
                    isDone = answer.outcome == .done
                    problem = answer.reply?.complaints.first ?? answer.outcome.rawValue
                }
                try exchange.run()
                if isDone {
                    return isBack
                        ? end(nil)
                        : end(
                            "A test event was made, but this account may not read it from the broker.", isFault: false)
                }
                poll(nil, 0, 500)
            }
        } catch {
            if error.description.hasPrefix("the broker refuses") {
                return end(
                    "The station's own account may not send commands, so no test event was made (that is as it should be).",
                    isFault: false)
            }
            return end("The test event: \(error.description)")
        }
        return end("No test event within 30 s: \(problem)", isFault: client.version == .v5)
    }
}
