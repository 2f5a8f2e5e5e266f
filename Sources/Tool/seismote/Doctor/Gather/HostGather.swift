import Administration
import CLinux
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// Looks at this machine for `seismote doctor`.
enum HostGather {
    static func service() -> Known<ServiceFacts> {
        let names = "LoadState,ActiveState,SubState,UnitFileState,Result,ExecMainStatus,NRestarts"
        guard let run = ProgramRun(["systemctl", "show", "seismote.service", "-p", names]) else {
            return .unknown("systemd is not installed here")
        }
        let found = run.properties
        guard run.status == 0, let load = found["LoadState"] else {
            let why = run.errors.split(separator: "\n").first.map { safe(String($0), limit: 200) } ?? "no answer"
            return .unknown("systemd does not answer: \(why)")
        }
        return .known(
            ServiceFacts(
                load: load, active: found["ActiveState"] ?? "", sub: found["SubState"] ?? "",
                file: found["UnitFileState"] ?? "", result: found["Result"] ?? "",
                exitStatus: Int(found["ExecMainStatus"] ?? "") ?? 0, restarts: Int(found["NRestarts"] ?? "") ?? 0))
    }

    static func agent(settings path: String) -> AgentFacts? {
        guard let process = AgentProcesses.with(settings: path) else { return nil }
        let link = SmallFiles.link("/proc/\(process)/exe") ?? ""
        let gone = " (deleted)"
        let isReplaced = link.hasSuffix(gone)
        return AgentFacts(
            process: process, program: isReplaced ? String(link.dropLast(gone.count)) : link, isReplaced: isReplaced)
    }

    /// Version of an installed agent.
    static func installed(_ agent: AgentFacts?) -> Known<String> {
        let program = agent.flatMap { $0.program.isEmpty ? nil : $0.program } ?? "seismoted"
        guard let run = ProgramRun([program, "--version"]) else { return .unknown("no seismoted is installed") }
        let words = run.output.split(separator: " ")
        guard run.status == 0, words.count > 1 else { return .unknown("\(program) does not say its version") }
        return .known(safe(String(words[1])))
    }

    static func clock() -> Known<ClockFacts> {
        var state = timex()
        let code = adjtimex(&state)
        guard code >= 0 else { return .unknown("the kernel may not be asked for the clock's state") }
        // (The kernel keeps 15 letters of a name.)
        let known = [
            "chronyd": "chronyd", "ntpd": "ntpd", "systemd-timesyn": "systemd-timesyncd", "phc2sys": "phc2sys",
            "ntpsec": "ntpsec",
        ]
        let daemons = SmallFiles.names(in: "/proc").compactMap(Int.init).compactMap { process in
            SmallFiles.text("/proc/\(process)/comm").flatMap { known[String($0.dropLast())] }
        }
        return .known(
            ClockFacts(
                isSynchronised: state.status & STA_UNSYNC == 0,
                errorMs: Double(max(0, state.maxerror > 0 ? state.maxerror : state.esterror)) / 1000,
                now: ToolSensor.now(), daemons: Set(daemons).sorted()))
    }

    static func disk(_ directory: String) -> Known<DiskFacts> {
        let path = DiskSpace.folder(at: directory)
        guard let space = DiskSpace(path) else { return .unknown("\(path): \(String(cString: strerror(errno)))") }
        return .known(
            DiskFacts(
                path: path, total: space.total, free: space.free, freeFiles: space.freeFiles,
                isReadOnly: space.isReadOnly, device: mountPoint(of: path)))
    }

    /// `/var (/dev/mmcblk0p2)` of the file system that a path is on.
    private static func mountPoint(of path: String) -> String {
        var best = (place: "/", source: "?")
        for line in (SmallFiles.text("/proc/self/mounts") ?? "").split(separator: "\n") {
            let fields = line.split(separator: " ").map(String.init)
            guard fields.count > 2 else { continue }
            let place = fields[1]
            let isAbove = path == place || path.hasPrefix(place == "/" ? "/" : place + "/")
            if isAbove, place.count >= best.place.count { best = (place, fields[0]) }
        }
        return best.place
    }
}

/// The files that the agent needs, and the user that it runs as.
enum FileGather {
    /// - Parameter user: name that was asked for; nil: that of the agent's process, else `seismote`.
    static func files(_ settings: SettingsFacts, agent: AgentFacts?, user: String?) -> Known<FileFacts> {
        guard let owner = owner(agent: agent, user: user) else {
            return .unknown("there is no user \(user ?? "seismote") on this machine, and no agent runs")
        }
        var facts = owner
        let mqtt = settings.configuration.mqtt
        var needed: [(path: String, role: String, isSecret: Bool)] = []
        if settings.exists { needed.append((settings.path, "the settings file", holdsSecret(settings))) }
        needed += [
            (mqtt.username.isEmpty ? "" : mqtt.passwordFile, "the password file", true),
            (mqtt.tls.caFile, "the CA file", false), (mqtt.tls.certFile, "the client certificate", false),
            (mqtt.tls.keyFile, "the client key", true), (mqtt.tls.pskFile, "the PSK file", true),
        ]
        for file in needed where file.path.hasPrefix("/") {
            facts.files += above(file.path)
            facts.files.append(look(file.path, file.role, .read, isSecret: file.isSecret))
        }
        let folder = settings.configuration.storage.directory
        facts.files += above(folder)
        facts.files.append(look(folder, "the storage folder", .write))
        return .known(facts)
    }

    private static func holdsSecret(_ settings: SettingsFacts) -> Bool { !settings.configuration.mqtt.password.isEmpty }

    private static func owner(agent: AgentFacts?, user: String?) -> FileFacts? {
        if user == nil, let agent, let text = SmallFiles.text("/proc/\(agent.process)/status") {
            func numbers(_ key: String) -> [UInt32] {
                let line = text.split(separator: "\n").first { $0.hasPrefix(key + ":") }
                return (line ?? "").split(whereSeparator: { $0 == "\t" || $0 == " " }).dropFirst().compactMap {
                    UInt32($0)
                }
            }
            let (uids, gids) = (numbers("Uid"), numbers("Gid"))
            if uids.count > 1, gids.count > 1 {
                let name = getpwuid(uids[1]).map { String(cString: $0.pointee.pw_name) } ?? "\(uids[1])"
                return FileFacts(user: name, uid: uids[1], groups: [gids[1]] + numbers("Groups"), files: [])
            }
        }
        guard let entry = getpwnam(user ?? "seismote")?.pointee else { return nil }
        var count: Int32 = 64
        var groups = [gid_t](repeating: 0, count: 64)
        let known = getgrouplist(entry.pw_name, entry.pw_gid, &groups, &count) >= 0 ? Int(count) : 0
        return FileFacts(
            user: String(cString: entry.pw_name), uid: entry.pw_uid, groups: [entry.pw_gid] + groups.prefix(known),
            files: [])
    }

    private static func above(_ path: String) -> [FileFact] {
        var found: [FileFact] = []
        var rest = path
        while let slash = rest.lastIndex(of: "/"), slash != rest.startIndex {
            rest = String(rest[..<slash])
            if access(rest, F_OK) == 0 { found.append(look(rest, "the folder", .search)) }
        }
        return found.reversed()
    }

    private static func look(_ path: String, _ role: String, _ need: FileFact.Need, isSecret: Bool = false) -> FileFact
    {
        var fact = FileFact(path: path, role: role, need: need, isSecret: isSecret)
        var facts = stat()
        if stat(path, &facts) == 0 { (fact.mode, fact.uid, fact.gid) = (facts.st_mode, facts.st_uid, facts.st_gid) }
        return fact
    }
}

/// The certificates that a connection depends on.
enum CertificateGather {
    static func certificates(_ access: ConnectionOptions) -> Known<[CertificateFacts]> {
        guard access.brokers.contains(where: \.tls) else { return .known([]) }
        guard OpenSSL.isInstalled else { return .unknown(OpenSSL.missing) }
        var found: [CertificateFacts] = []
        for (path, what) in [
            (access.mqtt.tls.caFile, "The CA file"), (access.mqtt.tls.certFile, "The client certificate"),
        ]
        where !path.isEmpty {
            let parts = PEM.parts("CERTIFICATE", in: SmallFiles.text(path) ?? "").prefix(10)
            if parts.isEmpty {
                found.append(
                    CertificateFacts(what: "\(what) \(path)", problem: "holds no certificate that can be read"))
            }
            found += parts.map { part in
                part.flatMap { Certificate($0) }.map { facts("\(what) \(path)", $0) }
                    ?? CertificateFacts(what: "\(what) \(path)", problem: "holds a certificate that cannot be read")
            }
        }
        for broker in access.brokers where broker.tls && access.mqtt.tls.pskIdentity.isEmpty {
            let what = "The certificate of \(broker)"
            if let first = TLSServer(broker, access.mqtt.tls).chain(isCancelled: { Interrupt.came }).first {
                found.append(facts(what, first))
            } else {
                found.append(CertificateFacts(what: what, problem: "the broker shows none"))
            }
        }
        return .known(found)
    }

    private static func facts(_ what: String, _ certificate: Certificate) -> CertificateFacts {
        CertificateFacts(what: what, from: nanoseconds(certificate.from), until: nanoseconds(certificate.until))
    }

    /// (Nanoseconds end in 2262, and some authorities in 9999.)
    private static func nanoseconds(_ seconds: Int) -> Int64 { Int64(min(seconds, 9_000_000_000)) * 1_000_000_000 }
}

extension TLSServer {
    init(_ broker: BrokerAddress, _ tls: MQTTConfiguration.TLS = MQTTConfiguration().tls) {
        self.init(
            host: broker.host, port: broker.port, name: "\(broker)", certificateFile: tls.certFile,
            keyFile: tls.keyFile)
    }
}

extension Certificate {
    /// When it begins and ends, in UTC, for people.
    var begin: String { dateAndTime(UTC.text(from)) }
    var end: String { dateAndTime(UTC.text(until)) }
}
