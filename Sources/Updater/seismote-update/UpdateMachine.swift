import Messages

/// A write that the disk did not take.
struct DiskProblem: Error, Sendable, Equatable {
    /// Call, file and cause.
    var words: String

    init(_ words: String) { self.words = words }
}

/// The station's machine, as an update needs it: its job on the disk, its packages, its agent.
///
/// Functions that write throw `DiskProblem`. Functions that return a text say why they failed; nil: it is done.
protocol UpdateMachine: AnyObject {
    /// Small texts of the job, each replaced durably. (`old` and `copy`, which are large, are the machine's own.)
    var hasJob: Bool { get }
    func noted(_ name: String) -> String?
    func note(_ name: String, _ text: String) throws
    /// Makes the job: there with all of these, or not at all.
    func open(_ notes: [(name: String, text: String)]) throws
    func forget(_ name: String) throws
    /// Removes what is large of the job.
    func discard() throws
    /// Frees room that an update can do without.
    func makeRoom() throws
    func close() throws

    /// Returns the numbers of updates by their end.
    func counts() -> UpdateMessage.Counts
    func setCounts(_ counts: UpdateMessage.Counts) throws
    /// The last statement.
    var told: UpdateStatement? { get }
    /// Writes the file that the agent publishes: into memory in any case.
    func publish(_ statement: UpdateStatement) throws
    func say(_ line: String)

    /// Whether the agent asks for an update.
    var isAsked: Bool { get }
    /// Takes a request away, whatever it is, and returns its line.
    func takeRequest() throws -> String
    /// Takes a confirmation away: the version that it is about.
    func takeConfirmation() throws -> String?

    /// Version of the package that is installed, and dpkg's letters for its state; empty: none.
    func installed() -> (version: String, state: String)
    func isOlder(_ version: String, than other: String) -> Bool
    /// Reason why the disks have not enough room for so many megabytes to fetch and to unpack.
    func shortage(fetch: Int, unpack: Int) -> String?
    /// Whether a power cut has emptied lists of packages, which apt would take for up to date.
    func hasEmptyLists() -> Bool
    /// Has apt read its sources; anew: nothing of what is there is believed.
    func readSources(anew: Bool) throws -> String?
    func simulate(_ version: String, allowsOlder: Bool) -> Simulation
    func fetch(_ version: String, allowsOlder: Bool) throws -> String?
    /// Keeps the package of the present version.
    func keep(_ version: String) throws -> String?
    /// Whether the package of the present version is kept.
    var isKept: Bool { get }
    /// Copies database and settings. The agent stands still.
    func copy() throws -> String?
    /// Finishes what dpkg was at.
    func configure() throws
    func install(_ version: String, allowsOlder: Bool, isAgain: Bool) throws -> String?
    /// Installs the package that was kept.
    func putBack() throws -> String?
    /// Puts settings and, where it has changed or `isSpoilt`, the database back.
    func restore(isSpoilt: Bool) throws -> String?

    func startAgent() throws
    func stopAgent() throws
    func look() -> AgentLook
    /// The agent's last line in its journal.
    func lastWords() -> String

    /// Seconds of a clock that never jumps.
    var seconds: Double { get }
    /// Nanoseconds of UTC.
    var time: Int64 { get }
    func pause(_ seconds: Double) throws
}

/// A run of apt that changes nothing.
struct Simulation: Sendable, Equatable {
    /// Reason why it cannot be done.
    var problem: String?
    /// Packages that would be removed.
    var removed: [String] = []
    /// Megabytes.
    var fetch = 0
    var unpack = 0
}

/// How the agent is at a moment.
struct AgentLook: Sendable, Equatable {
    /// Its own words; nil: none, or none that are new.
    var state: AgentWords?
    /// Number of restarts by systemd.
    var restarts = 0
    /// It does not start any more.
    var isFailed = false
    /// Memory of all its processes.
    var kilobytes = 0
}

/// Limits of an update.
struct UpdateLimits: Sendable {
    /// Seconds in which the new version has to show itself, and be confirmed.
    var patience = 600.0
    /// Seconds for which all has to be well without a break.
    var settle = 60.0
    /// Seconds that the end of an event is waited for.
    var calm = 600.0
    /// Megabytes that the new version may have, or four times those of the old one.
    var memory = 128
}
