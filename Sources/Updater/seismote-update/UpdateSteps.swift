import Messages
import Values

/// A step of an update, as the disk names it while the step lasts. Each may be begun again at any point.
enum UpdateStep: String, Sendable, CaseIterable {
    /// Whether the version is one that may be installed.
    case check
    /// All packages of both versions are fetched.
    case fetch
    /// An open event is waited for.
    case rest
    /// Settings and database are copied, while the agent is stopped.
    case copy
    case install
    /// The new version has to show that it works.
    case watch
    /// The version before is put back.
    case back
    /// The version before is started.
    case over
    /// How it ended is counted and told, and the job goes.
    case end

    /// Number of times that a step is begun which power cuts end.
    static let attempts = 3

    /// The turn after a step that cannot be done, such as with a full disk.
    func turn(after reason: String) -> Turn {
        switch self {
        case .check, .fetch, .rest, .copy: .end(.refused, reason)
        case .install, .watch: .back(reason)
        case .back, .over, .end: .unfinished(reason)
        }
    }

    /// The turn after a step that was begun too often; nil: it is done however often, as there is nothing else to do.
    var turnAfterAttempts: Turn? {
        let times = "it was interrupted \(Self.attempts) times while"
        switch self {
        case .check: return turn(after: "\(times) it was looked at")
        case .fetch: return turn(after: "\(times) packages were fetched")
        case .rest: return turn(after: "\(times) it waited for the end of an event")
        case .copy: return turn(after: "\(times) the database was copied")
        case .install: return turn(after: "\(times) it was installed")
        case .watch: return turn(after: "\(times) it was watched")
        case .back, .over, .end: return nil
        }
    }

    /// Where a step leads.
    enum Turn: Equatable {
        case step(UpdateStep)
        /// The old version has to be put back.
        case back(String)
        case end(UpdateMessage.Phase, String?)
        /// It is tried again in a minute.
        case unfinished(String)
        case over
    }
}

/// The steps of an update.
extension Updater {
    private var version: String { machine.noted("version") ?? "" }
    private var from: String { machine.noted("from") ?? "" }
    private var allowsOlder: Bool { machine.noted("downgrade") == "downgrade" }

    func check() -> Turn {
        let present = machine.installed()
        guard present.state == "ii " else {
            return .end(.refused, "the package seismote is not installed whole: \(present.state)")
        }
        if version == from { return .end(.refused, "\(version) is installed already") }
        if machine.isOlder(version, than: from), !allowsOlder {
            return .end(.refused, "\(version) is older than \(from), which is installed: allow_downgrade")
        }
        return .step(.fetch)
    }

    /// All packages of both versions are on this machine before anything is changed.
    func fetch() throws -> Turn {
        try tell(.fetching)
        if let problem = machine.shortage(fetch: 0, unpack: 0) { return .end(.refused, problem) }
        // (Lists that a power cut has emptied count as up to date.)
        var isAnew = machine.hasEmptyLists() || machine.noted("begun") != "1"
        if let problem = try machine.readSources(anew: isAnew) { return .end(.refused, Self.noSource(problem)) }
        // What would be done, first.
        var simulation = machine.simulate(version, allowsOlder: allowsOlder)
        if simulation.problem != nil, !isAnew {
            isAnew = true
            if let problem = try machine.readSources(anew: true) { return .end(.refused, Self.noSource(problem)) }
            simulation = machine.simulate(version, allowsOlder: allowsOlder)
        }
        if let problem = simulation.problem {
            return .end(.refused, "apt cannot install seismote \(version): \(problem)")
        }
        if !simulation.removed.isEmpty {
            return .end(.refused, "it would remove \(simulation.removed.joined(separator: " "))")
        }
        machine.say("\(version): \(simulation.fetch) MB to fetch, \(simulation.unpack) MB unpacked")
        if let problem = machine.shortage(fetch: simulation.fetch, unpack: simulation.unpack) {
            return .end(.refused, problem)
        }
        if let problem = try machine.fetch(version, allowsOlder: allowsOlder) {
            return .end(.refused, "seismote \(version) could not be fetched: \(problem)")
        }
        if let problem = try machine.keep(from) { return .end(.refused, problem) }
        return .step(.rest)
    }

    private static func noSource(_ problem: String) -> String {
        "the packages' source does not answer, or is not signed by its key: \(problem)"
    }

    /// Not in the midst of an earthquake.
    func rest() throws -> Turn {
        let deadline = machine.seconds + limits.calm
        var isTold = false
        while machine.look().state?.isEventOpen == true {
            if !isTold { try tell(.waiting, "an event is open") }
            isTold = true
            if machine.seconds >= deadline { return .end(.refused, "an event was open for \(Int(limits.calm)) s") }
            try machine.pause(1)
            try hear()
        }
        let first = machine.look().state?.samples ?? 0
        try machine.pause(3)
        let second = machine.look()
        let before = StationBefore(
            flows: (second.state?.samples ?? 0) > first, kilobytes: second.kilobytes,
            errors: second.state?.errors ?? [])
        try machine.note("before", before.line)
        return .step(.copy)
    }

    /// Settings and database, while nobody writes.
    func copy() throws -> Turn {
        // (A refusal that a full disk did not take has made room already.)
        guard machine.isKept else { return .step(.fetch) }
        // (The disk may have filled since.)
        if let problem = machine.shortage(fetch: 0, unpack: 0) { return .end(.refused, problem) }
        try tell(.installing)
        try machine.stopAgent()
        if let problem = try machine.copy() { return .end(.refused, "the database could not be copied: \(problem)") }
        return .step(.install)
    }

    func install() throws -> Turn {
        try tell(.installing)
        // (What the one before has left; apt does no work before.)
        try machine.configure()
        // A package that was being unpacked when the power went has to be unpacked anew.
        let isAgain = machine.installed().state.hasSuffix("R")
        let problem = try machine.install(version, allowsOlder: allowsOlder, isAgain: isAgain)
        guard problem == nil, machine.installed() == (version, "ii ") else {
            return .back("apt could not install it: \(problem ?? "")")
        }
        return .step(.watch)
    }

    /// Until the new version has shown for a while that it does all that the old one did, and somebody has said so.
    func watch() throws -> Turn {
        let before = StationBefore(line: machine.noted("before") ?? "")
        var isConfirmed = machine.noted("auto") == "auto" || machine.noted("confirmed") == "yes"
        var isTold = false
        // (The clock may have been set anew since, or not yet: the time is counted here, and a power cut begins it anew.)
        let until = Timestamp(nanoseconds: machine.time + Int64(limits.patience * 1e9))
        try machine.note("until", until.description.prefix(19) + "Z")
        try tell(.watching)
        try machine.startAgent()
        var trial = TrialWatch(before, limits, restarts: machine.look().restarts, at: machine.seconds)
        while true {
            try machine.pause(1)
            try hear()
            if !isConfirmed, let confirmed = try machine.takeConfirmation(), confirmed == version {
                isConfirmed = true
                try machine.note("confirmed", "yes")
            }
            let verdict = trial.look(
                machine.look(), at: machine.seconds, isConfirmed: isConfirmed, lastWords: machine.lastWords)
            switch verdict {
            case .wait: break
            case .back(let reason): return .back(reason)
            case .good:
                if isConfirmed { return .end(.updated, nil) }
                if !isTold { try tell(.confirming) }
                isTold = true
            }
        }
    }

    /// The old version, its settings and, where the new one has changed or spoilt it, its database.
    func putBack() throws -> Turn {
        let reason = text("reason") ?? ""
        // (However often: there is nothing else that could be done.)
        try tell(.returning, reason)
        try machine.stopAgent()
        try machine.configure()
        if machine.installed() != (from, "ii ") {
            if let problem = try machine.putBack() {
                return .unfinished("the version before could not be put back: \(problem)")
            }
            // (Its scripts have started it.)
            try machine.stopAgent()
        }
        let isSpoilt = Self.isOfStorage(reason)
        if let problem = try machine.restore(isSpoilt: isSpoilt) {
            return .unfinished("the database of before could not be put back: \(problem)")
        }
        // (From here on the old version writes into its database.)
        return .step(.over)
    }

    /// (An alert of the storage.)
    private static func isOfStorage(_ reason: String) -> Bool {
        reason.split(whereSeparator: { $0 == " " || $0 == "," }).contains { $0.hasPrefix("storage_") }
    }
}
