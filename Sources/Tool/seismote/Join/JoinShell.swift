import Administration
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

import struct Administration.Failure

/// The steps of joining. What each has made is on the disk before the next begins, in `joining` beside the settings file, and
/// is taken up from there: so a power cut costs nothing but a repetition. A unit has the step that speaks with the network
/// done by the service's user.
struct JoinShell {
    private let options: JoinCommand
    private let config: String
    private let home: String
    private let certificate: StationCertificate
    /// For root and the service's user alone.
    private var folder: String { "\(home)/joining" }
    private var lineFile: String { "\(folder)/line" }
    private var authorityFile: String { "\(folder)/broker-ca.pem" }
    private var portFile: String { "\(folder)/port" }
    /// There when the broker has taken the certificate.
    private var provenFile: String { "\(folder)/proven" }

    init(_ options: JoinCommand, config: String) {
        (self.options, self.config) = (options, config)
        home = config.lastIndex(of: "/").map { String(config[..<$0]) } ?? ""
        certificate = StationCertificate(home: home)
    }

    func run() throws -> CtlStatus {
        switch options.part {
        case nil:
            guard let line = try take() else { return .done }
            try obtain(line)
            try finish(line)
        case .take: _ = try take()
        case .obtain: if let line = try begun() { try obtain(line) }
        case .finish: if let line = try begun(), access(provenFile, F_OK) == 0 { try finish(line) }
        }
        return .done
    }

    /// - Returns: nil where nothing is to be done.
    private func take() throws(CtlError) -> JoinLine? {
        guard let line = try line() else {
            print("Nothing was begun: there is no \(lineFile)")
            return nil
        }
        if !isBegun(line), isThere(line) {
            print("This board has joined \(line.broker.host) as \(line.name) already.")
            return nil
        }
        try keep(line)
        return line
    }

    private func begun() throws(CtlError) -> JoinLine? {
        guard let text = SmallFiles.text(lineFile) else {
            if errno == ENOENT { return nil }
            throw CtlError(status: .files, "\(lineFile) cannot be read: \(String(cString: strerror(errno)))")
        }
        return try JoinLine(text)
    }

    /// The key, a certificate for it, and the proof that the broker takes it.
    private func obtain(_ line: JoinLine) throws(CtlError) {
        if access(provenFile, F_OK) == 0 { return }
        let keyFile = "\(folder)/\(line.id).pem"
        try authority(line)
        if SmallFiles.text(keyFile) == nil { try write(keyFile, try StationCertificate.newKey()) }
        let port = try fetch(line, keyFile)
        try prove(line, port)
        try write(provenFile, "")
    }

    private func finish(_ line: JoinLine) throws(CtlError) {
        guard let port = SmallFiles.number(portFile) else {
            throw CtlError(status: .files, "\(portFile) cannot be read")
        }
        try save(line, port)
        try start(line)
        // The line last: without it nothing is taken up.
        for name in SmallFiles.names(in: folder) where name != "line" { unlink("\(folder)/\(name)") }
        unlink(lineFile)
        rmdir(folder)
    }

    private func write(_ path: String, _ text: String) throws(CtlError) {
        try FileChange(path: path, text: text, isForService: true).write()
    }

    // MARK: the line

    private func line() throws(CtlError) -> JoinLine? {
        if let text = options.line { return try JoinLine(text) }
        if let file = options.file {
            guard let text = file == "-" ? Keyboard.line() : SmallFiles.text(file) else {
                throw CtlError(status: .files, "\(safe(file)) cannot be read")
            }
            return try JoinLine(text)
        }
        if let text = try fromBoot() ?? SmallFiles.text(lineFile) { return try JoinLine(text) }
        if options.resume { return nil }
        print("Line of `seismote-broker invite` (it is not shown):", terminator: " ")
        flushOutput()
        let hidden = HiddenInput()
        let text = Keyboard.line()
        hidden.end()
        print("")
        return try JoinLine(text ?? "")
    }

    /// A line that another computer has put on the boot partition, where everybody may read it: it is moved from there.
    private func fromBoot() throws(CtlError) -> String? {
        let source = "\(options.boot)/seismote-join"
        guard let text = SmallFiles.text(source) else { return nil }
        let complaint = "\(source)-errors.txt"
        do throws(CtlError) {
            try keep(try JoinLine(BootFile.plain(text)))
        } catch {
            try? FileChange(path: complaint, text: "seismote-join was not taken over: \(error.message)\n").write()
            throw error
        }
        try BootFile.wipe(source)
        unlink(complaint)
        return SmallFiles.text(lineFile)
    }

    private func isBegun(_ line: JoinLine) -> Bool { SmallFiles.text(lineFile) == line.text + "\n" }

    /// Whether the settings have this station at this broker, with a certificate.
    private func isThere(_ line: JoinLine) -> Bool {
        guard let settings = try? Settings.load(file: Array((SmallFiles.text(config) ?? "").utf8)).configuration,
            let broker = settings.mqtt.uris.first.flatMap({ try? BrokerAddress(uri: $0) })
        else { return false }
        return settings.station.id == line.name && broker.host == line.broker.host
            && settings.mqtt.tls.certFile == certificate.file && access(certificate.file, F_OK) == 0
    }

    private func keep(_ line: JoinLine) throws(CtlError) {
        try certificate.prepare()
        try StationCertificate.makeFolder(folder)
        if !isBegun(line) { for name in SmallFiles.names(in: folder) { unlink("\(folder)/\(name)") } }
        // (Also one that is there: cloud-init has written it for root alone.)
        try write(lineFile, line.text + "\n")
    }

    // MARK: the broker

    /// Says once why it waits, and waits.
    private struct Waiting {
        let end: Double
        private var said = ""
        /// Seconds.
        private var next = 0.5

        init(_ seconds: Double) { end = monotonicSeconds() + seconds }

        /// - Throws: at the end of the patience, or at Ctrl-C.
        mutating func pause(_ why: String) throws(CtlError) {
            let seconds = next
            next = min(5, 2 * next)
            if Interrupt.came { throw CtlError(status: .interrupted, "interrupted; to continue: `sudo seismote join`") }
            if monotonicSeconds() + seconds > end {
                throw CtlError(status: .broker, "\(why); given up. To continue: `sudo seismote join`")
            }
            if why != said {
                print("\(why); waiting")
                flushOutput()
            }
            said = why
            let until = monotonicSeconds() + seconds
            while monotonicSeconds() < until, !Interrupt.came { poll(nil, 0, 200) }
        }
    }

    /// The authority of the broker, by its fingerprint; waits for the broker, and for a clock by which its certificate is valid.
    private func authority(_ line: JoinLine) throws(CtlError) {
        var waiting = Waiting(options.wait)
        while true {
            let server = TLSServer(line.broker)
            let chain = server.chain(isCancelled: { Interrupt.came })
            guard let shown = chain.first else {
                try waiting.pause("\(line.broker) does not answer")
                continue
            }
            let pem: String
            do throws(Failure) { pem = try server.authority(line.fingerprint, in: chain).pem } catch {
                throw CtlError(refused: error)
            }
            let now = Int(ToolSensor.now() / 1_000_000_000)
            if now < shown.from || now >= shown.until {
                try waiting.pause(
                    "the clock of this board says \(UTC.text(now).prefix(10)), and the broker's certificate is valid from \(shown.begin) to \(shown.end) (UTC): no connection before the clock is set"
                )
                continue
            }
            if SmallFiles.text(authorityFile) != pem {
                try write(authorityFile, pem)
            }
            return
        }
    }

    /// The certificate for our key, where it is not here yet.
    /// - Returns: port for stations with a certificate.
    private func fetch(_ line: JoinLine, _ keyFile: String) throws(CtlError) -> Int {
        if let own = SmallFiles.text(certificate.file),
            StationCertificate.problem(own, keyFile: keyFile, name: line.name) == nil,
            StationCertificate.problemOfTime(own) == nil,
            let port = SmallFiles.number(portFile)
        {
            return port
        }
        let request = try StationCertificate.request(keyFile: keyFile, name: line.name)
        var access = ConnectionOptions(brokers: [line.broker])
        (access.mqtt.username, access.mqtt.password) = (line.account, line.secret)
        access.mqtt.tls.caFile = authorityFile
        var waiting = Waiting(options.wait)
        while true {
            var (answer, why): (EnrolmentAnswer?, String) = (
                nil, "\(line.broker.host) answers, but gives no certificate yet (seismote-broker-enrol.service)"
            )
            do throws(ClientError) {
                answer = try Enrolment.ask(access, line.requestTopic, line.answerTopic, request, patience: options.wait)
            } catch {
                if BrokerProblem(error.description) == .credentials {
                    throw CtlError(
                        status: .refused,
                        "\(line.broker.host) does not take the invitation: it has ended, was withdrawn, or a board has used it. A new line: seismote-broker invite \(line.name)"
                    )
                }
                why = safeLines(error.description)
            }
            switch answer {
            case .refused(let problem)?:
                throw CtlError(
                    status: .refused,
                    "\(line.broker.host) refuses: \(safe(problem, limit: 300)). A new line: seismote-broker invite \(line.name)"
                )
            case .certificate(let pem, let authorities, let port)?:
                let problem = StationCertificate.problem(pem, keyFile: keyFile, name: line.name)
                // (The answer to us is still to come.)
                if problem == Certificate.isForAnotherKey {
                    why = "\(line.broker.host) gives a certificate to another board by the same line"
                    break
                }
                if let problem {
                    throw CtlError(status: .refused, "the certificate of \(line.broker.host): \(problem)")
                }
                // (When the clocks are right it is made anew.)
                if let problem = StationCertificate.problemOfTime(pem) {
                    why = "the certificate of \(line.broker.host): \(problem)"
                    break
                }
                try write(portFile, "\(port)\n")
                try certificate.install(
                    key: SmallFiles.text(keyFile) ?? "", certificate: pem, authorities: authorities)
                return port
            case nil: break
            }
            try waiting.pause(why)
        }
    }

    /// Connects with the certificate, and tells so, by which the invitation is used up.
    private func prove(_ line: JoinLine, _ port: Int) throws(CtlError) {
        var access = ConnectionOptions(brokers: [BrokerAddress(host: line.broker.host, port: port, tls: true)])
        (access.mqtt.tls.caFile, access.mqtt.tls.certFile, access.mqtt.tls.keyFile) = (
            certificate.authorities, certificate.file, certificate.file
        )
        var waiting = Waiting(options.wait)
        while true {
            do throws(ClientError) {
                let client = BrokerClient(access)
                try client.connect()
                defer { client.disconnect() }
                // (Kept by the broker: the service may be away.)
                try client.publish("renew/\(line.name)/joined", Array(line.id.utf8), retain: true)
                return
            } catch { try waiting.pause("the certificate is there, and \(safeLines(error.description))") }
        }
    }

    // MARK: this board

    private func save(_ line: JoinLine, _ port: Int) throws(CtlError) {
        let broker = BrokerAddress(host: line.broker.host, port: port, tls: true)
        let patch: Value = [
            "station": ["id": .string(line.name)],
            "mqtt": [
                "uri": .string(broker.description), "username": .null, "password": .null, "password_file": .null,
                "tls": [
                    "ca_file": .string(certificate.authorities), "cert_file": .string(certificate.file),
                    "key_file": .string(certificate.file), "psk_identity": .null, "psk_file": .null,
                ],
            ],
        ]
        let old = SmallFiles.text(config) ?? ""
        var change = FileChange(path: config, text: old)
        do throws(CodedError) { change.text = try SettingsEdit.edit(old, patch) } catch {
            throw CtlError(status: .settings, error.text(fileName: config))
        }
        do throws(CodedErrors) { _ = try Settings.load(file: Array(change.text.utf8)) } catch {
            throw CtlError(status: .settings, error.text(fileName: config))
        }
        if change.text != old { try change.write() }
    }

    /// - Throws: where an agent would go on with its former settings: then the line stays, and this is done again.
    private func start(_ line: JoinLine) throws(CtlError) {
        print("This board is the station \(line.name) of \(line.broker.host).")
        if access("/run/systemd/system", F_OK) == 0 {
            _ = ProgramRun(
                ["systemctl", "enable", "--now", "seismote-certificate.timer"], seconds: AgentService.patience)
        }
        if options.noStart { return print("The service was not started: --no-start") }
        switch AgentService.start(settings: config) {
        case .runs: print("The service runs; the page: https://\(line.broker.host)/#/station/\(line.name)")
        case .later(let why): print("The service does not run yet: \(why)")
        case .failed(let why):
            throw CtlError(
                status: .unready, "the service was not started again: \(why). `sudo seismote join` tries it once more")
        }
    }
}

/// A certificate request over MQTT.
enum Enrolment {
    /// Seconds after which it is asked again, one after the other.
    private static let pauses = [2.0, 4, 6, 8]

    /// - Parameter patience: seconds, of which no more than twenty are used.
    /// - Returns: nil when nobody has answered for so long.
    static func ask(
        _ access: ConnectionOptions, _ requestTopic: String, _ answerTopic: String, _ request: String, patience: Double
    ) throws(ClientError) -> EnrolmentAnswer? {
        let client = BrokerClient(access)
        try client.connect()
        defer { client.disconnect() }
        try client.subscribe([answerTopic])
        let end = monotonicSeconds() + patience
        for pause in pauses where !Interrupt.came && monotonicSeconds() < end {
            try client.publish(requestTopic, Array(request.utf8))
            let deadline = min(end, monotonicSeconds() + pause)
            while let message = try client.next(until: deadline) {
                if message.topic == answerTopic, let answer = EnrolmentAnswer(message.payload) { return answer }
            }
        }
        return nil
    }
}
