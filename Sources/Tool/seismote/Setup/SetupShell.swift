import Administration
import ArgumentParser
import Glibc
import Instruments
import MQTT
import Messages
import Sensors
import Settings
import Values

/// The thin shell around `SetupConversation`: terminal, sensor, broker, files, service.
struct SetupShell {
    let options: SetupCommand
    private let path: String
    /// Text of the settings file that is there; empty: there is none.
    private let old: String
    let settings: LoadedSettings
    var conversation: SetupConversation
    /// The authority that was fetched by its fingerprint.
    var authority: EditedFile?
    /// Fingerprint of the broker that was installed on this machine.
    var ownFingerprint: String?
    private var recording: (recording: RestRecording, chip: String)?
    private var hasStopped = false
    /// The broker on this machine was told a moment ago: it may take some more until it listens to that.
    var isFresh = false
    var page: String?
    /// Account that may look at the broker: made on this machine, in this run or one before.
    var viewer: (name: String, password: String)?
    /// Where its password is kept for the next run, which cannot have it from the broker.
    var viewerFile: FileChange { FileChange(path: "\(folder)/viewer-password", text: "", isForRoot: true) }

    var asks: Bool { !options.yes && !options.json }
    var fingerprint: String? {
        ownFingerprint ?? conversation.answers[.fingerprint].flatMap { $0.isEmpty ? nil : $0 }
    }
    var folder: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "" }

    init(_ options: SetupCommand, config path: String) throws {
        (self.options, self.path) = (options, path)
        old = SmallFiles.text(path) ?? ""
        if old.isEmpty, Glibc.access(path, F_OK) == 0, Glibc.access(path, R_OK) != 0 {
            throw CtlError(status: .files, "\(path) may not be read; run it with sudo")
        }
        settings = try LayerOptions.parse([]).load(path: old.isEmpty ? nil : path)
        page = options.page
        conversation = SetupConversation(
            given: try options.answers(), defaults: Self.defaults(settings),
            known: settings.configuration.mqtt.tls.caFile.isEmpty ? [] : settings.configuration.mqtt.uris,
            hasOwnBroker: ProgramRun.path("seismote-broker") != nil, assumesYes: options.yes || options.json)
    }

    /// Defaults of a second run: the present settings.
    private static func defaults(_ settings: LoadedSettings) -> SetupAnswers {
        var defaults = SetupAnswers()
        let (station, mqtt, sensor) = (
            settings.configuration.station, settings.configuration.mqtt, settings.configuration.sensor
        )
        defaults[.name] = station.id.isEmpty ? BrokerGather.hostID() : station.id
        defaults[.latitude] = station.latitude.map { significant($0, 10) }
        defaults[.longitude] = station.longitude.map { significant($0, 10) }
        defaults[.groups] = station.groups.joined(separator: ",")
        // The file of the package gives no more than an empty name.
        guard settings.origins.contains(where: { !$0.key.hasPrefix("station.") }) else { return defaults }
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
        defer {
            if hasStopped {
                // (A program that is run ends at Ctrl-C.)
                Interrupt.finish()
                _ = ProgramRun(["systemctl", "start", "seismote"], seconds: 60)
            }
        }
        while true {
            let action = conversation.next()
            tell()
            if case .end(let isDone) = action { return finish(isDone) }
            let event = try perform(action)
            // The cursor is behind ^C.
            if Interrupt.came, asks { print("") }
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
                case .info: show("", line.text)
                case .fault: show("WRONG: ", line.text)
                case .remedy: show("To fix: ", line.text)
                }
            }
        }
        flushOutput()
    }

    /// A sentence, broken at its words where the terminal is narrow.
    private func show(_ mark: String, _ text: String, terminator: String = "\n") {
        print("  " + wrapped(mark + text, width: Terminal.width ?? .max, indent: 2), terminator: terminator)
    }

    func ask(_ question: SetupQuestion, _ text: String, _ initial: String) -> String? {
        show("", "\(text)\(initial.isEmpty ? "" : " [\(initial)]"):", terminator: " ")
        flushOutput()
        let hidden = question == .password ? HiddenInput() : nil
        let line = Keyboard.line()
        if let hidden {
            hidden.end()
            // The cursor is still behind the question.
            if line != nil { print("") }
        }
        guard let line, !Interrupt.came else {
            print("")
            return nil
        }
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
            if let viewer {
                let words = "\(viewer.name) with the password \(viewer.password)"
                print("Sign in there as \(words); it is in \(viewerFile.path).")
            }
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
        let base = page ?? (broker.tls ? "https://\(host)/" : "http://\(host):8080/index.html")
        return "\(Self.base(of: base))#/station/\(name)"
    }

    private static func base(of page: String) -> String { page.hasSuffix("#/") ? String(page.dropLast(2)) : page }

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
            let words = "the broker's authority, SHA256:\(fingerprint.flatMap(Fingerprint.digits) ?? "?")"
            changes.append(FileChange(path: files.caFile, text: pem, summary: words))
        } else if let ca = options.ca {
            files.caFile = ca
        }
        // Home Assistant's device leads there. (One that is guessed is for the eyes of who is here.)
        if let page { files.page = "\(Self.base(of: page))#/station/{id}" }
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
        if asks {
            let said = ask(.save, "Write this", "y")
            if said == SetupAnswers.back { return .answer(.save, said) }
            if said.flatMap(SetupAnswers.yes) != true { return .saved(false, problem: "not saved") }
        }
        // Secrets first: settings must not name what is not there.
        for change in different.reversed() { try change.write() }
        return .saved(true, problem: "")
    }

    private mutating func start() -> SetupEvent {
        if options.noStart { return .started(problem: "--no-start; to start it: sudo systemctl enable --now seismote") }
        let problem = AgentService.start(settings: path).problem
        if problem == nil { hasStopped = false }
        return .started(problem: problem)
    }
}
