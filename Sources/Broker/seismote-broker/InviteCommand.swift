import Administration
import Glibc
import Values

/// `invite`: lines that make stations of boards.
struct InviteCommand {
    let place: Place
    let options: Options

    func run(_ names: [String]) throws(Failure) {
        guard names.count <= 1 else { throw .misuse("one NAME, and --count for more stations") }
        let given = names.first
        if let given, let problem = AccountName.problem(given) { throw .misuse(problem) }
        try AccountFiles.needsRoot(place, "invite\(given.map { " " + $0 } ?? "")")
        var source: (list: String, key: String)?
        if options.isInstall {
            guard options.isUserData else { throw .misuse("--install is for cloud-init: --user-data") }
            source = try self.source()
        }
        try InitCommand(place: place, options: options).makeWhatIsMissing()
        var files = try AccountFiles(place)
        let invited = try choose(given, files.ledger)
        let host = options.hosts.first ?? Machine.usual
        let mark = try Authority(place: place).fingerprint().dropFirst("SHA256:".count)
        let mustRestart = try files.mendTimes()
        try Removed(place: place).forget(invited)
        try files.begin()
        files.ledger.withdraw(Set(invited))
        var tokens: [(name: String, token: String)] = []
        let end = wallSeconds() + options.hours * 3600
        for name in invited {
            var id = ReadableLetters.draw(8, randomByte)
            while files.ledger.invitations[id] != nil { id = ReadableLetters.draw(8, randomByte) }
            // 128.8 bits behind the number.
            let secret = ReadableLetters.draw(26, randomByte)
            files.setPassword("enrol-\(id)", Array(secret.utf8))
            files.ledger.invitations[id] = Invitation(name: name, end: end)
            files.ledger.add(Account(name: name, role: Role.station.rawValue))
            tokens.append((name, id + secret))
        }
        try files.commit()
        if mustRestart { _ = Systemd.does("restart", BrokerUnit.name) }
        try show(tokens.map { ($0.name, "\(host)/\($0.name)#\($0.token)@\(mark)") }, source)
    }

    private func choose(_ given: String?, _ ledger: Ledger) throws(Failure) -> [String] {
        if let given, options.count == 1 {
            if let role = ledger.role(of: given), role != Role.station.rawValue {
                throw Failure("there is an account \(given) that is no station (\(role))")
            }
            return [given]
        }
        // The next ones that are free.
        var (names, number): ([String], Int) = ([], 1)
        while names.count < options.count {
            let name = "\(given ?? "station")-\(number < 10 ? "0" : "")\(number)"
            if let problem = AccountName.problem(name) { throw .misuse(problem) }
            if ledger.role(of: name) == nil { names.append(name) }
            number += 1
        }
        return names
    }

    private func source() throws(Failure) -> (list: String, key: String) {
        for file in [Place.sourceList, Place.sourceKey] where !Disk.holds(file) {
            throw Failure(
                "--install: this machine has no \(file), so the board cannot be told where the package comes from")
        }
        let letters = Array(Base64.text(Disk.bytes(Place.sourceKey) ?? []).utf8)
        let key = stride(from: 0, to: letters.count, by: 120)
            .map { String(decoding: letters[$0..<min($0 + 120, letters.count)], as: UTF8.self) }
            .joined(separator: "\n")
        return (Disk.text(Place.sourceList) ?? "", key)
    }

    private func show(_ lines: [(name: String, line: String)], _ source: (list: String, key: String)?) throws(Failure) {
        var told: [Value] = []
        for (name, line) in lines {
            if !options.output.isEmpty {
                let folder = "\(options.output)/\(name)"
                for path in [options.output, folder] where mkdir(path, 0o700) != 0 && errno != EEXIST {
                    throw Disk.failure("mkdir", path)
                }
                let file = folder + (options.isUserData ? "/user-data" : "/seismote-join")
                try Disk.replace(
                    file, options.isUserData ? CloudConfig.text(line, source: source) : line + "\n", owner: .root)
                if !options.isJSON { say(file) }
            }
            if options.isJSON {
                told.append([
                    "name": .string(name),
                    "line": .string(options.output.isEmpty ? "sudo seismote join \(line)" : ""),
                    "hours": .int(Int64(options.hours)),
                ])
            } else if options.output.isEmpty {
                if options.isUserData {
                    print(CloudConfig.text(line, source: source), terminator: "")
                } else {
                    say("sudo seismote join \(line)")
                    if lines.count == 1 { QRCode.show("sudo seismote join \(line)", options) }
                }
            }
        }
        if options.isJSON {
            say(String(decoding: Value.array(told).json(), as: UTF8.self))
        } else if !options.isUserData {
            note("Good for one board each, for \(options.hours) hours. seismote-broker remove NAME withdraws it.")
        }
    }
}

/// Letters and digits that are not taken for each other, 4.95 bits each.
enum ReadableLetters {
    private static let all = Array("abcdefghjkmnpqrstuvwxyz23456789".utf8)

    /// - Parameter random: a source of random bytes.
    static func draw(_ count: Int, _ random: () -> UInt8) -> String {
        var letters: [UInt8] = []
        while letters.count < count {
            let byte = Int(random())
            // (Each letter as often as the others.)
            if byte < 256 / all.count * all.count { letters.append(all[byte % all.count]) }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// A password of 118 bits, in groups of four.
    static func password(_ random: () -> UInt8) -> String {
        let letters = Array(draw(24, random))
        return stride(from: 0, to: 24, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }
}

/// Files for cloud-init that make a station of a board.
enum CloudConfig {
    /// - Parameters:
    ///   - line: of the invitation.
    ///   - source: where the board gets the package: apt's list, and its key in base64; nil: it has it.
    static func text(_ line: String, source: (list: String, key: String)?) -> String {
        // (By `bootcmd`, which cloud-init does at each start: what it does once it does not do again when the power fails
        // before it is on the disk. Here each part is done until it is there.)
        var text = """
            #cloud-config
            bootcmd:
              - |
                # (At each start, until it is on the disk: a power cut takes nothing away.)
                done=/var/lib/cloud/instance/seismote
                if ! [ -e $done-line ]; then
                    mkdir -p /etc/seismote
                    mkdir -p -m 700 /etc/seismote/joining
                    (umask 077 && echo '\(line)' >/etc/seismote/joining/line)
                    sync && touch $done-line
                fi

            """
        guard let source else {
            return text + """
                runcmd:
                  - [systemctl, --no-block, start, seismote-join.service]

                """
        }
        func indented(_ part: String) -> String {
            part.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        }
        text += """
                if ! [ -e $done-installed ]; then
                    mkdir -p /etc/apt/keyrings
                    base64 -d >/etc/apt/keyrings/seismote.gpg <<'KEY'
            \(indented(source.key))
                KEY
                    cat >/etc/apt/sources.list.d/seismote.list <<'SOURCE'
            \(indented(source.list))
                SOURCE
                    systemd-run --quiet --no-block --unit=seismote-install -p Wants=network-online.target -p After=network-online.target \\
                        -p Restart=on-failure -p RestartSec=30 -E DEBIAN_FRONTEND=noninteractive sh -ec '
                            # (Lists that a power cut has emptied count as up to date.)
                            rm -rf /var/lib/apt/lists
                            dpkg --configure -a || true
                            apt-get -q -o DPkg::Lock::Timeout=600 update
                            apt-get -q -o DPkg::Lock::Timeout=600 -y --fix-broken install seismote
                            sync
                            touch '$done'-installed
                            systemctl --no-block start seismote-join'
                fi

            """
        return text
    }
}
