import Glibc
import Settings

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
