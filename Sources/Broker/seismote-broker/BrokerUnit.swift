import Administration
import Glibc
import Platform
import Values

/// The running broker: has it read its files anew, ends connections, and says who is connected.
struct BrokerUnit {
    static let name = "seismote-broker"
    let place: Place

    /// Seconds that sessions in the way are waited for: longer than the session of a station, which lasts as long as its last
    /// will waits.
    private static let patience = 30.0

    /// Seconds that a station is waited for that has joined: longer than the 30 s after which its unit (seismote-join.service)
    /// tries again to start the agent. A station that goes in that moment would cost the broker a new start.
    private static let patienceForJoined = 60.0

    /// Reads the files anew, and ends the connections of accounts. When it returns, both are done: the broker itself has said
    /// so.
    /// - Parameters:
    ///   - secret: the new password of the account ``Ledger/control``: with it the broker takes us as soon as it has read the
    ///     files, and not before.
    ///   - changed: accounts whose password is another one.
    ///   - known: accounts that have a password.
    ///   - ended: accounts whose connections end, whatever they have connected with.
    func tell(secret: String, changed: Set<String>, known: Set<String>, ended: Set<String>) throws(Failure) {
        if let process = place.process {
            guard kill(process, SIGHUP) == 0 else {
                throw Failure("the files are written, but not read by the broker: restart its container")
            }
            return
        }
        guard place.isServed, Systemd.isThere else { return }
        // (One that is just being started may have read its files before they were changed.)
        var state = Systemd.state(Self.name)
        for _ in 0..<50 {
            if state != "activating" { break }
            pause(0.2)
            state = Systemd.state(Self.name)
        }
        guard state == "active" else { return }
        let watched = try awaitSessions(changed, known)
        guard let watched else { return }
        guard Systemd.does("reload", Self.name) else {
            // It has ended in this moment; one that is started again has read the files.
            for _ in 0..<50 {
                pause(0.2)
                if Systemd.isActive(Self.name) { return }
            }
            throw Failure(
                "the files are written, but systemctl reload seismote-broker failed: see journalctl -u seismote-broker")
        }
        let reloaded = wallSeconds()
        guard let control = control(secret) else {
            // (Settings of before, which somebody has changed and kept.)
            if !ended.isEmpty {
                return try again("it has no listener \(place.socket), by which connections are ended")
            }
            pause(1)
            return
        }
        defer { control.disconnect() }
        if !ended.isEmpty, !end(ended.sorted(), control) {
            return try again("it did not end the connections of \(ended.sorted().joined(separator: ", "))")
        }
        // Whoever went between the look and the reload: it shows after a second.
        guard watched > 0 else { return }
        pause(2.1)
        let gone = try sessions(judged: { known.contains($0) && !changed.contains($0) }).away
            .filter { $0.left <= reloaded + 1 }
        if !gone.isEmpty { try again(Self.kept(gone)) }
    }

    private func again(_ why: String) throws(Failure) {
        note(
            "The broker is started again, since \(why). Stations connect again by themselves, and nothing is lost.")
        guard Systemd.does("restart", Self.name) else {
            throw Failure(
                "the files are written, but systemctl restart seismote-broker failed: see journalctl -u seismote-broker"
            )
        }
    }

    private static func kept(_ sessions: [SessionFile.Session]) -> String {
        let clients = sessions.map { AccountName.printable($0.client) }.joined(separator: " ")
        return "the session of \(clients) is kept while it is away (mosquitto 2.0 cannot read its files anew then)"
    }

    // MARK: sessions in the way

    /// Waits until no session is in the way of a reload.
    /// - Returns: how many might come into the way; nil: the broker was started again.
    private func awaitSessions(_ changed: Set<String>, _ known: Set<String>) throws(Failure) -> Int? {
        var end: Double?
        while true {
            let (away, watched) = try sessions(judged: { known.contains($0) && !changed.contains($0) })
            guard !away.isEmpty else { return watched }
            let deadline = end ?? monotonicSeconds() + Self.patience
            let longest = away.map { Double($0.ends - wallSeconds()) }.max() ?? 0
            if monotonicSeconds() >= deadline || longest > deadline - monotonicSeconds() {
                try again(Self.kept(away))
                return nil
            }
            if end == nil {
                let clients = away.map { AccountName.printable($0.client) }.joined(separator: " ")
                note(
                    "Waiting, for at most \(Int(Self.patience)) s, until the sessions of those that are away have ended or they are back: \(clients)"
                )
            }
            end = deadline
            pause(1)
        }
    }

    /// Sessions that are away and in the way, and how many clients have one that may come to be.
    private func sessions(
        judged: (String) -> Bool
    ) throws(Failure) -> (away: [SessionFile.Session], watched: Int) {
        guard Self.needsSessions else { return ([], 0) }
        guard let process = pid_t(Systemd.property("MainPID", of: Self.name)), process > 0 else { return ([], 0) }
        let before = inode
        // (The signal ends who does not await it yet.)
        for _ in 0..<50 {
            if awaitsSignal(process) { break }
            pause(0.1)
        }
        guard awaitsSignal(process), kill(process, SIGUSR1) == 0 else { return ([], 0) }
        // (It writes its sessions, with the next turn of its loop, into a new file.)
        for _ in 0..<250 {
            if inode != before { break }
            pause(0.02)
        }
        guard let bytes = Disk.bytes(place.database) else { return ([], 0) }
        guard let all = SessionFile.sessions(bytes) else {
            throw Failure(
                "the files are written, but not read by the broker: its sessions cannot be read from \(place.database)")
        }
        let text = Systemd.property("ExecMainStartTimestamp", of: Self.name)
        let started = Int(text.drop { $0 == "@" }) ?? 0
        let away = SessionFile.inTheWay(all, written: wallSeconds(), started: started, judged: judged)
        return (away, all.count { !(judged($0.account) && $0.left > started) })
    }

    private var inode: UInt {
        var facts = stat()
        return stat(place.database, &facts) == 0 ? UInt(facts.st_ino) : 0
    }

    /// Mended in mosquitto 2.1.
    private static let needsSessions: Bool = {
        let said = ChildProgram(["mosquitto", "-h"])?.text ?? ""
        guard let line = said.split(separator: "\n").first, line.hasPrefix("mosquitto version ") else { return false }
        let version = line.dropFirst(18).split(separator: ".")
        return version.first == "1" || version.prefix(2) == ["2", "0"]
    }()

    /// Whether the process has a handler for SIGUSR1 (10).
    private func awaitsSignal(_ process: pid_t) -> Bool {
        guard let text = SmallFile.text("/proc/\(process)/status") else { return false }
        for line in text.split(separator: "\n") where line.hasPrefix("SigCgt:") {
            let digits = line.dropFirst(7).drop { $0 == " " || $0 == "\t" }
            return UInt64(digits, radix: 16).map { $0 & 0x200 != 0 } ?? false
        }
        return false
    }

    // MARK: the broker's own account

    /// A connection by the socket, which the broker takes once it has read the files; nil: there is no socket.
    private func control(_ secret: String) -> Conversation? {
        let deadline = monotonicSeconds() + 30
        while Disk.exists(place.socket) {
            if let made = try? Conversation(
                host: place.socket, port: 0, client: "seismote-control", user: Ledger.control, password: secret)
            {
                return made
            }
            if monotonicSeconds() > deadline || !Systemd.isActive(Self.name) { return nil }
            pause(0.05)
        }
        return nil
    }

    /// Ends all connections of accounts, by the plugin "dynamic security": who is made and deleted there is disconnected.
    private func end(_ names: [String], _ control: Conversation) -> Bool {
        let topic = "$CONTROL/dynamic-security/v1"
        guard (try? control.subscribe(["\(topic)/response"])) != nil else { return false }
        for start in stride(from: 0, to: names.count, by: 20) {
            var commands: [Value] = []
            for name in names[start..<min(start + 20, names.count)] {
                commands.append(["command": "createClient", "username": .string(name)])
                commands.append(["command": "deleteClient", "username": .string(name)])
            }
            guard control.publish(topic, Value.object([.init("commands", .array(commands))]).json()) else {
                return false
            }
            var answer: Value?
            let deadline = monotonicSeconds() + 20
            while answer == nil, control.end == nil, monotonicSeconds() < deadline {
                control.step(wait: 0.2)
                answer = control.take().last.flatMap { try? JSONReader.read($0.payload) }
            }
            guard case .array(let responses)? = answer?["responses"] else { return false }
            let deleted = responses.count { $0["command"]?.rawText == "deleteClient" && $0["error"] == nil }
            if deleted != commands.count / 2 { return false }
        }
        return true
    }

    // MARK: who is connected

    /// From the broker's journal; for people.
    func connections() -> [BrokerLog.Connection] {
        var log = BrokerLog()
        let began = Systemd.isThere ? Systemd.property("ExecMainStartTimestamp", of: Self.name) : ""
        ChildProgram(
            ["journalctl", "-u", Self.name, "--since", began.isEmpty ? "today" : began, "-o", "cat", "-q"], seconds: 60,
            line: { log.take($0) })
        return log.connections
    }

    /// Waits until stations that have joined with an account of before are back with their certificates: their agents end and
    /// begin, and mosquitto 2.0 cannot read its files anew while a session is away.
    func awaitCertificates(_ names: [String]) {
        guard Systemd.isThere else { return }
        let end = monotonicSeconds() + Self.patienceForJoined
        for name in names {
            while monotonicSeconds() < end {
                let now = wallSeconds()
                // (The tool that joins comes with it as well, and goes.)
                let isBack = connections().contains {
                    $0.account == name && $0.port == Place.certificatesPort && $0.since < now
                        && !$0.client.hasPrefix("seismote-ctl-")
                }
                if isBack { break }
                pause(1)
            }
        }
    }
}
