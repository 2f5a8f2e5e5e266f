import Administration
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

import struct Administration.Failure

/// Requests of the setup to the broker: an account, a trial of it, and a test event.
extension SetupShell {
    mutating func makeAccount() -> SetupEvent {
        func failed(_ problem: String) -> SetupEvent { .tried(BrokerTrial(problem: problem)) }
        if ProgramRun.path("seismote-broker") == nil {
            // Where the station's own package came from a folder, deploy/install has left the broker's beside it.
            let words = ["apt-get", "install", "-y", Self.packageBeside() ?? "seismote-broker"]
            if asks, ask(.start, "Install seismote-broker (\(words.joined(separator: " ")))", "y") != "y" {
                return failed("seismote-broker is not installed")
            }
            let run = ProgramRun(words, seconds: 600)
            guard run?.status == 0, ProgramRun.path("seismote-broker") != nil else {
                let reason = run?.errors.split(separator: "\n").last { $0.hasPrefix("E: ") }.map {
                    String($0.dropFirst(3))
                }
                return failed(
                    "seismote-broker could not be installed: \(safe(reason ?? "apt-get did not end in time", limit: 200)). "
                        + "It is in the folder of packages that deploy/install has made: sudo apt install ./seismote-broker_….deb, then sudo seismote setup again"
                )
            }
        }
        let name = conversation.answers[.name] ?? "station"
        // With somebody to look at the page; where there are such accounts already, without.
        for words in [["add", name, "--viewer", "viewer"], ["add", name], ["password", name]] {
            guard let run = ProgramRun(["seismote-broker"] + words + ["--json", "--no-qr"], seconds: 60),
                run.status == 0,
                let said = try? JSONReader.read(Array(run.output.utf8)), let broker = said["broker"]?.rawText,
                let password = said["password"]?.rawText
            else { continue }
            (ownFingerprint, isFresh) = (said["fingerprint"]?.rawText, true)
            page = options.page ?? said["page"]?.text
            keepViewer(said["viewer"]?["password"]?.rawText, broker)
            return .account(broker: broker, user: name, password: password)
        }
        return failed("seismote-broker add \(name) did not make an account; run by hand it says why")
    }

    private static func packageBeside() -> String? {
        let folder = "/var/cache/seismote"
        let found = ProgramRun(["find", folder, "-name", "seismote-broker_*.deb"], seconds: 10)
        return found?.output.split(separator: "\n").map(String.init).sorted().last
    }

    /// The password of the account that looks at the page is told once by the broker, and this may not be the last run.
    private mutating func keepViewer(_ password: String?, _ broker: String) {
        var file = viewerFile
        if let password {
            file.text = password + "\n"
            viewer = ("viewer", password)
            do throws(CtlError) { try file.write() } catch { printError("the viewer's password: \(error.message)") }
        } else if let kept = SmallFiles.text(file.path)?.split(separator: "\n").first {
            viewer = ("viewer", String(kept))
        }
    }

    mutating func tryPatiently() throws -> SetupEvent {
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
            let pem: String
            do throws(Failure) { pem = try TLSServer(broker).authority(fingerprint).pem } catch {
                trial.problem = safe(error.words, limit: 300)
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

    private func access(_ broker: BrokerAddress) -> ConnectionOptions {
        let mqtt = settings.configuration.mqtt
        var access = ConnectionOptions(brokers: [broker])
        access.mqtt.root = mqtt.root
        access.takeNames(of: mqtt, station: settings.configuration.station.id)
        access.mqtt.protocolVersion = mqtt.protocolVersion
        access.mqtt.username = conversation.answers[.user] ?? ""
        let password = conversation.answers[.password] ?? ""
        access.mqtt.password = password.isEmpty ? storedPassword() : password
        // What is there has been given for its own broker.
        if mqtt.uris.contains(broker.description) || mqtt.uris.contains(conversation.answers[.broker] ?? "") {
            access.mqtt.tls.caFile = mqtt.tls.caFile
            (access.mqtt.tls.certFile, access.mqtt.tls.keyFile) = (mqtt.tls.certFile, mqtt.tls.keyFile)
        }
        if let file = authority?.path ?? options.ca { access.mqtt.tls.caFile = file }
        return access
    }

    /// The password that is there for the same user and broker; empty: there is none.
    private func storedPassword() -> String {
        let mqtt = settings.configuration.mqtt
        guard !mqtt.username.isEmpty, mqtt.username == conversation.answers[.user],
            mqtt.uris.contains(conversation.answers[.broker] ?? "")
        else { return "" }
        if !mqtt.password.isEmpty { return mqtt.password }
        let path = mqtt.passwordFile.hasPrefix("/") ? mqtt.passwordFile : "\(folder)/credentials/\(mqtt.passwordFile)"
        guard !mqtt.passwordFile.isEmpty, case .success(let text) = SecretFile.read(path) else { return "" }
        return text
    }

    private static let mayNotCommand =
        "The station's own account may not send commands, so no test event was made (that is as it should be)."

    func test() -> SetupEvent {
        let name = conversation.answers[.name] ?? ""
        let byHand = "`seismote ctl test-event \(name)` makes one, with an account that may command; so does the page"
        func end(_ problem: String?, isFault: Bool = true, remedy: String = byHand) -> SetupEvent {
            .tested(problem: problem, remedy: remedy, isFault: isFault)
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
            let base = "\(client.options.mqtt.root)/\(name)"
            let (trigger, command) = ("\(base)/event/trigger", "\(base)/cmd/test-event")
            // With MQTT 3.1.1 a broker throws away what an account may not send, and says nothing: what it lets pass comes
            // back to whoever may read commands, as a station may.
            var isWatched = false
            if client.version == .v311 { isWatched = (try? client.subscribe([command])) != nil }
            while monotonicSeconds() < deadline, !Interrupt.came {
                var (isDone, isBack, isSent) = (false, false, false)
                let exchange = Exchange(client, "test-event", [:], .stations([name]), patience: 4, line: line)
                exchange.filters = [trigger]
                exchange.onMessage = {
                    if $0.topic == trigger, !$0.isRetained { isBack = true }
                    if $0.topic == command { isSent = true }
                }
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
                            "A test event was made, but this account may not read it from the broker.",
                            isFault: false, remedy: "")
                }
                if isWatched, !isSent { return end(Self.mayNotCommand, isFault: false) }
                poll(nil, 0, 500)
            }
        } catch {
            if error.description.hasPrefix("the broker refuses") { return end(Self.mayNotCommand, isFault: false) }
            return end("The test event: \(error.description)")
        }
        return end("No test event within 30 s: \(problem)", isFault: client.version == .v5)
    }
}

/// Brokers that announce themselves on the network (DNS-SD), by `avahi-browse` where it is installed.
enum BrokerFinder {
    /// - Returns: nil where it is not installed, or the network's own service (avahi-daemon) does not run.
    static func find() -> [String]? {
        guard let secure = ProgramRun(["avahi-browse", "-rpt", "_secure-mqtt._tcp"], seconds: 6),
            let plain = ProgramRun(["avahi-browse", "-rpt", "_mqtt._tcp"], seconds: 6),
            // (Its time is over when somebody announces what cannot be resolved.)
            secure.status ?? 0 == 0
        else { return nil }
        return brokers(secure.output, tls: true, isKnown) + brokers(plain.output, tls: false, isKnown)
    }

    /// Whether this machine finds a name. (Names that end in .local need libnss-mdns.)
    private static func isKnown(_ name: String) -> Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found { freeaddrinfo(found) } }
        return getaddrinfo(name, nil, nil, &found) == 0
    }

    /// The addresses in the lines of `avahi-browse -rp`: `=;eth0;IPv4;Name;_mqtt._tcp;local;host.local;192.168.1.2;1883;…`.
    /// Others may announce anything: what is no address is left out.
    /// - Parameter isKnown: whether a name can be used; else the address of IPv4 is taken.
    static func brokers(_ lines: String, tls: Bool, _ isKnown: (String) -> Bool = { _ in true }) -> [String] {
        var found: [String] = []
        for line in lines.split(separator: "\n") where line.hasPrefix("=;") {
            let fields = line.split(separator: ";", omittingEmptySubsequences: false).map(String.init)
            guard fields.count > 8 else { continue }
            func isPlain(_ text: String) -> Bool {
                text.utf8.allSatisfy { ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || (45...57).contains($0) }
            }
            guard isPlain(fields[6]) else { continue }
            let host = isKnown(fields[6]) ? fields[6] : fields[7]
            let uri = "\(tls ? "mqtts" : "mqtt")://\(host):\(fields[8])"
            // (An address of IPv6 is not plain: such a line has one of IPv4 beside it.)
            if isPlain(host), SetupAnswers.problem(.broker, uri) == nil, !found.contains(uri) { found.append(uri) }
        }
        return found
    }
}
