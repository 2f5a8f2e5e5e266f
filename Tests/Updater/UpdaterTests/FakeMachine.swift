import Messages
import Values

@testable import seismote_update

/// The power goes.
struct PowerCut: Error {}

/// A machine whose disk is a value: `Disk` is all that a power cut leaves. Each act is counted; before a given one the power
/// goes, or from a given one on the disk is full.
final class FakeMachine: UpdateMachine {
    struct Disk: Equatable {
        var job: [String: String]?
        var hasOld = false
        var hasCopy = false
        var counts = UpdateMessage.Counts()
        var told: UpdateStatement?
        var request: String?
        var confirmation: String?
        var version = "1"
        /// State of the package, as dpkg abbreviates it.
        var state = "ii "
        /// Which version has written the database last, and whether it is whole.
        var database = "1"
        var settings = "1"
        var areListsEmpty = false
    }

    var disk = Disk()
    /// Whether the agent is to run; systemd starts it with the machine.
    var runs = true
    var isBad = false
    var hasEvent = false
    var said: [String] = []
    /// In memory: gone with the power.
    var shown: UpdateStatement?
    /// Changes that come while the update runs: before the act of this number.
    var happens: [Int: (inout Disk) -> Void] = [:]

    private(set) var acts: [String] = []
    var cutBefore: Int?
    /// From this act on writes fail, so many of them.
    var fullFrom: Int?
    var fullFor = Int.max
    /// Writes of large things fail only.
    var isOnlyForLarge = false
    var seconds = 0.0
    private var samples: Int64 = 0

    var time: Int64 { 1_700_000_000_000_000_000 + Int64(seconds * 1e9) }

    private func act(_ name: String, writes: Bool = false, isLarge: Bool = false) throws {
        let number = acts.count
        happens[number]?(&disk)
        if number == cutBefore { throw PowerCut() }
        acts.append(name)
        if writes, isLarge || !isOnlyForLarge, let fullFrom, number >= fullFrom, number - fullFrom < fullFor {
            throw DiskProblem("write: No space left on device")
        }
    }

    private func large(_ name: String) throws -> String? {
        do { try act(name, writes: true, isLarge: true) } catch let problem as DiskProblem { return problem.words }
        return nil
    }

    func restartAfterCut() {
        (cutBefore, fullFrom, shown, happens, runs) = (nil, nil, nil, [:], true)
        acts = []
    }

    var hasJob: Bool { disk.job != nil }
    func noted(_ name: String) -> String? { disk.job?[name] }
    func note(_ name: String, _ text: String) throws {
        try act("note \(name) \(text)", writes: true)
        disk.job?[name] = text
    }
    func open(_ notes: [(name: String, text: String)]) throws {
        try act("open", writes: true)
        disk.job = Dictionary(notes.map { ($0.name, $0.text) }, uniquingKeysWith: { $1 })
    }
    func forget(_ name: String) throws {
        try act("forget \(name)")
        disk.job?[name] = nil
    }
    func discard() throws {
        try act("discard")
        (disk.hasOld, disk.hasCopy) = (false, false)
    }
    func makeRoom() throws { try act("makeRoom") }
    func close() throws {
        try act("close")
        disk.job = nil
    }
    func counts() -> UpdateMessage.Counts { disk.counts }
    func setCounts(_ counts: UpdateMessage.Counts) throws {
        try act("counts", writes: true)
        disk.counts = counts
    }
    var told: UpdateStatement? { disk.told }
    func publish(_ statement: UpdateStatement) throws {
        shown = statement
        try act("tell \(statement.message.phase)", writes: true)
        disk.told = statement
    }
    func say(_ line: String) { said.append(line) }

    var isAsked: Bool { disk.request != nil }
    func takeRequest() throws -> String {
        try act("request")
        defer { disk.request = nil }
        return disk.request ?? ""
    }
    func takeConfirmation() throws -> String? {
        guard disk.confirmation != nil else { return nil }
        try act("confirmation")
        defer { disk.confirmation = nil }
        return disk.confirmation
    }

    func installed() -> (version: String, state: String) { (disk.version, disk.state) }
    func isOlder(_ version: String, than other: String) -> Bool { version < other }
    func shortage(fetch: Int, unpack: Int) -> String? { nil }
    func hasEmptyLists() -> Bool { disk.areListsEmpty }
    func readSources(anew: Bool) throws -> String? {
        if let problem = try large("readSources \(anew)") { return problem }
        if anew { disk.areListsEmpty = false }
        return nil
    }
    func simulate(_ version: String, allowsOlder: Bool) -> Simulation {
        Simulation(problem: disk.areListsEmpty ? "E: Version '\(version)' was not found" : nil)
    }
    func fetch(_ version: String, allowsOlder: Bool) throws -> String? { try large("fetch") }
    func keep(_ version: String) throws -> String? {
        if let problem = try large("keep") { return problem }
        disk.hasOld = true
        return nil
    }
    var isKept: Bool { disk.hasOld }
    func copy() throws -> String? {
        disk.hasCopy = false
        if let problem = try large("copy") { return problem }
        disk.hasCopy = true
        return nil
    }
    func configure() throws {
        try act("configure")
        if disk.state == "iU " { (disk.state, disk.settings) = ("ii ", disk.version) }
    }
    func install(_ version: String, allowsOlder: Bool, isAgain: Bool) throws -> String? {
        if disk.version == version, disk.state == "ii " { return nil }
        disk.state = "iHR"
        if let problem = try large("unpack") { return problem }
        (disk.version, disk.state) = (version, "iU ")
        if let problem = try large("configure") { return problem }
        (disk.state, disk.settings) = ("ii ", version)
        return nil
    }
    func putBack() throws -> String? {
        guard disk.hasOld else { return "its package is not there any more" }
        disk.state = "iHR"
        if let problem = try large("unpack the old one") { return problem }
        (disk.version, disk.state) = ("1", "ii ")
        return nil
    }
    func restore(isSpoilt: Bool) throws -> String? {
        guard disk.hasCopy else { return nil }
        disk.database = "none"
        if let problem = try large("restore") { return problem }
        (disk.database, disk.settings) = ("1", "1")
        return nil
    }
    func startAgent() throws {
        try act("start")
        runs = true
        if disk.state == "ii ", !(isBad && disk.version == "2") { disk.database = disk.version }
    }
    func stopAgent() throws {
        try act("stop")
        runs = false
    }
    func look() -> AgentLook {
        var look = AgentLook()
        look.isFailed = isBad && disk.version == "2"
        guard runs, !look.isFailed else { return look }
        samples += 100
        var words = AgentWords()
        (words.process, words.samples, words.acked, words.isConnected) = (7, samples, samples / 100, true)
        words.isEventOpen = hasEvent
        look.state = words
        return look
    }
    func lastWords() -> String { "nothing works" }
    func pause(_ seconds: Double) throws {
        try act("pause")
        self.seconds += seconds
    }
}
