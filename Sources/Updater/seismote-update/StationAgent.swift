import Administration
import Glibc
import Messages
import Platform
import Values

/// The agent: its unit, its data, and what it says of itself.
extension StationMachine {
    func startAgent() {
        ChildProgram(["systemctl", "reset-failed", Place.unit], seconds: 60)
        ChildProgram(["systemctl", "start", "--no-block", Place.unit], seconds: 60)
    }

    func stopAgent() {
        ChildProgram(["systemctl", "stop", Place.unit], seconds: 300)
    }

    // MARK: how it is

    func look() -> AgentLook {
        var look = AgentLook()
        let text =
            ChildProgram(
                [
                    "systemctl", "show", "-p", "MainPID", "-p", "NRestarts", "-p", "ControlGroup", "-p", "ActiveState",
                    Place.unit,
                ])?
            .text ?? ""
        var facts: [Substring: Substring] = [:]
        for line in text.split(separator: "\n") {
            if let mark = line.firstIndex(of: "=") { facts[line[..<mark]] = line[line.index(after: mark)...] }
        }
        look.restarts = facts["NRestarts"].flatMap { Int($0) } ?? 0
        look.isFailed = facts["ActiveState"] == "failed"
        look.kilobytes = Self.kilobytes(facts["ControlGroup"].map(String.init) ?? "")
        if let words = words(), facts["MainPID"] == "\(words.process)" { look.state = words }
        return look
    }

    /// The agent's words, unless they are old. (It writes them every two seconds.)
    private func words() -> AgentWords? {
        var facts = stat()
        guard stat(Place.status, &facts) == 0, wallSeconds() - Int(facts.st_mtim.tv_sec) < 15 else { return nil }
        let run = ChildProgram(Self.asAgent(["head", "-c", "262144", "--", Place.status]), seconds: 5)
        return run.flatMap { AgentWords(json: $0.output) }
    }

    /// Memory of all processes of the unit. (Not of its control group: the board's kernel may have no account of memory.)
    private static func kilobytes(_ group: String) -> Int {
        guard !group.isEmpty, let list = SmallFile.text("/sys/fs/cgroup\(group)/cgroup.procs") else { return 0 }
        var all = 0
        for process in list.split(separator: "\n") {
            guard Int(process) != nil, let text = SmallFile.text("/proc/\(process)/status") else { continue }
            for line in text.split(separator: "\n") where line.hasPrefix("VmRSS:") {
                all += line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) } ?? 0
            }
        }
        return all
    }

    func lastWords() -> String {
        let text =
            ChildProgram(["journalctl", "_SYSTEMD_UNIT=\(Place.unit)", "-n", "1", "-o", "cat", "-q", "--no-pager"])?
            .output ?? []
        let line = text.split(separator: 10).last ?? []
        return String(decoding: line.filter { (0x20...0x7e).contains($0) }.prefix(160), as: UTF8.self)
    }

    // MARK: its data

    /// Which database there is: the version that SQLite keeps in it, and what was set aside.
    private func database() -> String {
        let version =
            ChildProgram(
                Self.asAgent(["od", "-An", "-v", "-tx1", "-j60", "-N4", "\(Place.data)/spool.db"]))?.text ?? ""
        let aside =
            ChildProgram(
                Self.asAgent(["find", Place.data, "-maxdepth", "1", "-name", "spool.db.broken-*"]))?.text ?? ""
        return ([version.filter { $0 != "\n" }] + aside.split(separator: "\n").map(String.init).sorted())
            .joined(separator: "\n")
    }

    /// Database of before, as lines without the empty ones.
    private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

    func copy() -> String? {
        let (copy, writing) = ("\(Place.job)/copy", "\(Place.job)/copy.writing")
        Self.removeAll(copy)
        Self.removeAll(writing)
        guard mkdir(writing, 0o700) == 0 else { return Disk.failure("mkdir", writing).words }
        if let problem = packed(["-C", Place.data, "-c", "."], "\(writing)/data.tar") { return problem }
        do throws(Failure) {
            try Disk.write("\(writing)/database", Array((database() + "\n").utf8), mode: 0o644)
        } catch { return error.words }
        guard let run = ChildProgram(["cp", "-a", "--", Place.settings, "\(writing)/settings"], seconds: 60), run.isDone
        else { return "the settings could not be copied" }
        guard Disk.syncDisk(of: writing) else { return Disk.failure("sync", writing).words }
        do throws(Failure) { try Disk.move(writing, copy) } catch { return error.words }
        return nil
    }

    /// Packs files of the agent, read as its user, into a file of root's.
    private func packed(_ words: [String], _ path: String) -> String? {
        let file = Glibc.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return Disk.failure("open", path).words }
        defer { Glibc.close(file) }
        let run = ChildProgram(Self.asAgent(["tar"] + words), seconds: 1800, files: (nil, file, nil))
        guard run?.isDone == true else { return "tar: \(Self.lines(run?.errorText ?? "").first ?? "it does not run")" }
        return fsync(file) == 0 ? nil : Disk.failure("fsync", path).words
    }

    private func unpacked(_ words: [String]) -> String? {
        let path = "\(Place.job)/copy/data.tar"
        let file = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return Disk.failure("open", path).words }
        defer { Glibc.close(file) }
        let run = ChildProgram(
            Self.asAgent(["tar", "-C", Place.data, "-x"] + words), seconds: 1800, files: (file, nil, nil))
        return run?.isDone == true ? nil : "tar: \(Self.lines(run?.errorText ?? "").first ?? "it does not run")"
    }

    func restore(isSpoilt: Bool) throws -> String? {
        let copy = "\(Place.job)/copy"
        guard Disk.exists(copy) else { return nil }
        // What the new version has left of a database that the old one can use stays in use: nothing that was measured since
        // is lost. (Once some of it was put back, all of it is.)
        let isChanged = Self.lines(database()) != Self.lines(Disk.text("\(copy)/database") ?? "")
        if isChanged || isSpoilt || noted("failed") != nil {
            if noted("failed") == nil {
                keepFailed()
                try note("failed", "kept")
            }
            ChildProgram(
                Self.asAgent(["find", Place.data, "-maxdepth", "1", "-name", "spool.db*", "-delete"]), seconds: 60)
            if unpacked(["--wildcards", "./spool.db*"]) != nil {
                makeRoom()
                if let problem = unpacked(["--wildcards", "./spool.db*"]) { return problem }
            }
        }
        // What was set remotely, and what is known of the sensor. (Not which commands were carried out: none is a second time.
        // A station that has neither has none of these.)
        _ = unpacked(["--wildcards", "--no-wildcards-match-slash", "./*.json"])
        guard let run = ChildProgram(["cp", "-a", "--", "\(copy)/settings", "\(Place.settings).writing"]), run.isDone,
            rename("\(Place.settings).writing", Place.settings) == 0
        else { return "the settings could not be written" }
        guard Disk.syncDisk(of: Place.data), Disk.syncDisk(of: Place.settings) else { return "sync failed" }
        return nil
    }

    /// The database that the new version leaves is kept until the next time, where it has room.
    private func keepFailed() {
        let files = Disk.names(Place.data).filter { $0.hasPrefix("spool.db") }
        let writing = "\(Place.kept)/failed.writing"
        guard !files.isEmpty, packed(["-C", Place.data, "-c", "--"] + files.map { "./\($0)" }, writing) == nil else {
            unlink(writing)
            return
        }
        rename(writing, "\(Place.kept)/failed.tar")
    }
}

/// The agent's own file `status.json`, as far as an update needs it.
struct AgentWords: Sendable, Equatable {
    var process = 0
    var samples: Int64 = 0
    /// Messages that the broker has acknowledged.
    var acked: Int64 = 0
    var isConnected = false
    var isEventOpen = false
    /// Codes of alerts that are errors, and that of damage of the stored data.
    var errors: Set<String> = []

    init() {}

    init?(json: [UInt8]) {
        guard let state = (try? JSONReader.read(json)).map(AgentStateReading.init), let process = state.process,
            process > 0
        else { return nil }
        self.process = process
        (isConnected, isEventOpen) = (state.isConnected == true, state.isEventOpen)
        (samples, acked) = (state.health?.samples ?? 0, state.health?.acknowledged ?? 0)
        for alert in state.alerts {
            guard let code = alert.code, Self.isCode(code) else { continue }
            if alert.severity == "error" || code == "storage_set_aside" { errors.insert(code) }
        }
    }

    /// (It comes into a line of words.)
    private static func isCode(_ text: String) -> Bool {
        text.isMade(1...64) { $0.isSmallLetter || $0.isDigit || $0 == 0x5f }
    }
}

/// How the station was before the new version came: nothing has to be better afterwards.
struct StationBefore: Sendable, Equatable {
    /// Samples came.
    var flows = false
    var kilobytes = 0
    var errors: Set<String> = []

    init(flows: Bool, kilobytes: Int, errors: Set<String>) {
        (self.flows, self.kilobytes, self.errors) = (flows, kilobytes, errors)
    }

    /// A line of the job.
    init(line: String) {
        let words = line.split(separator: " ").map(String.init)
        flows = words.first == "flow"
        kilobytes = words.count > 1 ? Int(words[1]) ?? 0 : 0
        errors = Set(words.dropFirst(2))
    }

    var line: String {
        (["\(flows ? "flow" : "still")", "\(kilobytes)"] + errors.sorted()).joined(separator: " ")
    }
}
