import Administration
import Glibc
import Messages
import Platform
import Values

/// The machine that this program runs on. Its parts: the job, here; packages; the agent.
final class StationMachine: UpdateMachine {
    typealias Place = StationPlace

    var seconds: Double { monotonicSeconds() }
    var time: Int64 { HostClock.wall() }

    func pause(_ seconds: Double) { Administration.pause(seconds) }
    func say(_ line: String) { Administration.note(line) }

    // MARK: the job

    var hasJob: Bool {
        var facts = stat()
        return lstat(Place.job, &facts) == 0
    }

    func noted(_ name: String) -> String? {
        Disk.text("\(Place.job)/\(name)")?.split(separator: "\n", omittingEmptySubsequences: false).first
            .map(String.init)
    }

    func note(_ name: String, _ text: String) throws {
        try written { () throws(Failure) in
            try Disk.replace("\(Place.job)/\(name)", with: Array((text + "\n").utf8), mode: 0o644)
        }
    }

    func open(_ notes: [(name: String, text: String)]) throws {
        Self.removeAll("\(Place.job).new")
        Self.removeAll("\(Place.job).over")
        try written { () throws(Failure) in
            guard mkdir("\(Place.job).new", 0o700) == 0 else { throw Disk.failure("mkdir", "\(Place.job).new") }
            for (name, text) in notes {
                try Disk.write("\(Place.job).new/\(name)", Array((text + "\n").utf8), mode: 0o644)
            }
            Disk.syncFolder(of: "\(Place.job).new/step")
            try Disk.move("\(Place.job).new", Place.job)
        }
    }

    func forget(_ name: String) { Disk.remove("\(Place.job)/\(name)") }

    func discard() {
        for name in ["old", "copy", "copy.writing"] { Self.removeAll("\(Place.job)/\(name)") }
    }

    func makeRoom() {
        unlink("\(Place.kept)/failed.tar")
        unlink("\(Place.kept)/failed.writing")
        ChildProgram(["apt-get", "clean"], seconds: 60)
    }

    func close() throws {
        try written { () throws(Failure) in try Disk.move(Place.job, "\(Place.job).over") }
        Self.removeAll("\(Place.job).over")
    }

    /// (By a program: its children have one way to remove a folder, too.)
    static func removeAll(_ path: String) {
        ChildProgram(["rm", "-rf", "--one-file-system", "--", path], seconds: 300)
    }

    /// Turns a failure to write into a problem of the disk.
    private func written(_ work: () throws(Failure) -> Void) throws(DiskProblem) {
        do throws(Failure) { try work() } catch { throw DiskProblem(error.words) }
    }

    // MARK: what is told

    func counts() -> UpdateMessage.Counts { .init(text: Disk.text("\(Place.kept)/counts") ?? "") }

    func setCounts(_ counts: UpdateMessage.Counts) throws {
        try written { () throws(Failure) in
            try Disk.replace("\(Place.kept)/counts", with: Array(counts.text.utf8), mode: 0o644)
        }
    }

    var told: UpdateStatement? { Disk.bytes("\(Place.kept)/state.json").flatMap { UpdateStatement(json: $0) } }

    func publish(_ statement: UpdateStatement) throws {
        show(statement.json)
        try written { () throws(Failure) in
            try Disk.replace("\(Place.kept)/state.json", with: statement.json, mode: 0o644)
        }
    }

    /// After a start of the machine the agent is told what became of the last one.
    func showLast() {
        if let bytes = Disk.bytes("\(Place.kept)/state.json"), !bytes.isEmpty { show(bytes) }
    }

    private func show(_ bytes: [UInt8]) {
        mkdir(Place.shown, 0o755)
        do throws(Failure) { try Disk.replace("\(Place.shown)/state.json", with: bytes, mode: 0o644) } catch {
            say(error.words)
        }
    }

    // MARK: requests. The folder is the agent's own, which has no rights.

    static func asAgent(_ words: [String]) -> [String] {
        ["setpriv", "--reuid", Place.user, "--regid", Place.user, "--clear-groups"] + words
    }

    var isAsked: Bool { isThere("request") }

    func takeRequest() -> String { take("request") }

    func takeConfirmation() -> String? { isThere("confirm") ? take("confirm") : nil }

    private func isThere(_ name: String) -> Bool {
        var facts = stat()
        return lstat("\(Place.requests)/\(name)", &facts) == 0
    }

    /// (Also what cannot be read goes: the unit would be started for it again and again.)
    private func take(_ name: String) -> String {
        let path = "\(Place.requests)/\(name)"
        let run = ChildProgram(Self.asAgent(["head", "-c", "300", "--", path]), seconds: 10)
        ChildProgram(Self.asAgent(["rm", "-rf", "--", path]), seconds: 60)
        let line = (run?.output ?? []).prefix { $0 != 10 }.filter { (0x20...0x7e).contains($0) }
        return String(decoding: line, as: UTF8.self)
    }
}

/// Where things are, and how long an update may take.
enum StationPlace {
    static let package = "seismote"
    static let unit = "seismote.service"
    /// The agent's user, as whom everything in its folders is done: a link there leads nowhere where that user may not go.
    static let user = "seismote"
    /// Folder of the agent, and what it asks for.
    static let data = "/var/lib/seismote"
    static let requests = "\(data)/update"
    static let settings = "/etc/seismote/seismote.yaml"
    /// Folder of this program.
    static let kept = "/var/lib/seismote-update"
    static let job = "\(kept)/job"
    /// Folder in memory that the agent reads.
    static let shown = "/run/seismote-update"
    /// The agent's own file.
    static let status = "/run/seismote/status.json"
    static let archives = "/var/cache/apt/archives"
    static let lists = "/var/lib/apt/lists"

    /// Megabytes that have to be free beside the copies.
    static var spare: Int { number("ROOM_MB", 200) }

    static var limits: UpdateLimits {
        var limits = UpdateLimits()
        limits.patience = Double(number("PATIENCE", Int(limits.patience)))
        limits.settle = Double(number("SETTLE", Int(limits.settle)))
        limits.calm = Double(number("CALM", Int(limits.calm)))
        limits.memory = number("MEMORY_MB", limits.memory)
        return limits
    }

    private static func number(_ name: String, _ usual: Int) -> Int {
        guard let text = getenv("SEISMOTE_UPDATE_\(name)"), let number = Int(String(cString: text)),
            (0...1_000_000).contains(number)
        else { return usual }
        return number
    }
}
