import Messages
import Values

/// An update from the request to its end. All that it needs to go on after a power cut is in the job, written before each step.
final class Updater<Machine: UpdateMachine> {
    typealias Turn = UpdateStep.Turn

    let machine: Machine
    let limits: UpdateLimits
    /// The last message, and the last request that was refused meanwhile.
    private var statement: UpdateStatement?

    init(_ machine: Machine, limits: UpdateLimits) {
        (self.machine, self.limits) = (machine, limits)
        statement = machine.told
    }

    /// Goes on with an update that was interrupted, and carries out what the agent asks for.
    /// - Returns: false: it has to be tried again.
    func run() throws -> Bool {
        do {
            guard try carryOn() else { return false }
            try take()
            return try carryOn()
        } catch let problem as DiskProblem {
            // (Whatever cannot be written: the station samples.)
            machine.say(problem.words)
            try machine.startAgent()
            return false
        }
    }

    // MARK: requests

    /// A request begins a job; what is wrong with it is told.
    private func take() throws {
        guard machine.isAsked else { return }
        let (id, request) = UpdateRequest.read(try machine.takeRequest())
        _ = try machine.takeConfirmation()
        do {
            try machine.open([
                ("id", id ?? ""), ("version", request?.version ?? ""),
                ("auto", request?.isAutomatic == true ? "auto" : "confirm"),
                ("downgrade", request?.allowsDowngrade == true ? "downgrade" : "upwards"),
                ("from", machine.installed().version),
                // (What is no request ends at once.)
                ("phase", request == nil ? "refused" : ""), ("reason", request == nil ? Self.noRequest : ""),
                ("step", request == nil ? UpdateStep.end.rawValue : UpdateStep.check.rawValue),
            ])
            statement = nil
            if request != nil { try tell(.requested) }
        } catch let problem as DiskProblem {
            var message = UpdateMessage(phase: .refused, since: machine.time)
            (message.id, message.version, message.reason) = (id, request?.version, short(problem.words))
            (message.installed, message.ended) = (machine.installed().version, machine.counts())
            machine.say("refused: \(problem.words)")
            try? publish(message)
        }
    }

    private static var noRequest: String {
        "the request is not one: a Debian version is wanted, such as 0.2.0~deb13"
    }

    /// A request that comes while an update is under way is refused, counted and answered.
    func hear() throws {
        guard machine.isAsked else { return }
        let (id, request) = UpdateRequest.read(try machine.takeRequest())
        machine.say("a request that came while this update was under way is refused: 1 at a time")
        var counts = machine.counts()
        counts.refused += 1
        do { try machine.setCounts(counts) } catch is DiskProblem {}
        let phase = statement?.message.id == text("id") ? statement?.message.phase : nil
        let version = machine.noted("version") ?? "another version"
        var answer = UpdateMessage(phase: .refused, since: machine.time)
        (answer.id, answer.version, answer.ended) = (id, request?.version, counts)
        answer.installed = machine.installed().version
        if phase == .failed {
            answer.reason =
                "the update to \(version) has failed, and the version before is not back yet: that is tried again every minute"
        } else {
            answer.reason = "an update to \(version) is under way (\(phase?.rawValue ?? "begun")): 1 at a time"
        }
        guard var statement else {
            self.statement = UpdateStatement(answer, refused: answer)
            return
        }
        (statement.refused, statement.message.ended) = (answer, counts)
        self.statement = statement
        do { try machine.publish(statement) } catch is DiskProblem {}
    }

    // MARK: what is told

    /// Tells where the update stands; a disk that does not take it matters at the end alone.
    func tell(_ phase: UpdateMessage.Phase, _ reason: String? = nil) throws {
        machine.say(reason.map { "\(phase.rawValue): \($0)" } ?? phase.rawValue)
        var message = UpdateMessage(phase: phase, since: machine.time)
        (message.id, message.version, message.from) = (text("id"), text("version"), text("from"))
        message.until = text("until").flatMap { Timestamp($0)?.nanoseconds }
        (message.installed, message.ended) = (machine.installed().version, machine.counts())
        message.reason = reason.map { short($0) }
        do { try publish(message) } catch let problem as DiskProblem {
            if phase.isEnd, phase != .failed { throw problem }
        }
    }

    private func publish(_ message: UpdateMessage) throws {
        let statement = UpdateStatement(message, refused: self.statement?.refused)
        self.statement = statement
        try machine.publish(statement)
    }

    func text(_ name: String) -> String? {
        machine.noted(name).flatMap { $0.isEmpty ? nil : $0 }
    }

    // MARK: from step to step

    /// - Returns: false: it has to be tried again.
    private func carryOn() throws -> Bool {
        while machine.hasJob {
            guard let step = machine.noted("step").flatMap(UpdateStep.init(rawValue:)) else {
                try follow(.end(.failed, "the state of the update cannot be read"))
                continue
            }
            try hearUnlessCounted()
            var turn: Turn
            do { turn = try perform(step) } catch let problem as DiskProblem {
                turn = step.turn(after: problem.words)
            }
            // (Before anything else is written: a copy that was not made does not leave the station silent.)
            if step == .copy, turn != .step(.install) { try machine.startAgent() }
            do { try follow(turn) } catch let problem as DiskProblem {
                turn = turn.isWayOut ? turn : step.turn(after: problem.words)
                if step == .copy { try machine.startAgent() }
                try makeRoom(for: turn)
                try follow(turn)
            }
            if case .unfinished = turn { return false }
        }
        return true
    }

    /// (A request that comes when the end is counted already is the next one.)
    private func hearUnlessCounted() throws {
        if machine.noted("counts") == nil { try hear() }
    }

    private func makeRoom(for turn: Turn) throws {
        // (A version on trial may still have to go back, and needs what was kept.)
        if case .end(let phase, _) = turn, phase != .updated { try machine.discard() }
        try machine.makeRoom()
    }

    private func follow(_ turn: Turn) throws {
        switch turn {
        case .step(let step):
            try machine.note("begun", "0")
            try machine.note("step", step.rawValue)
        case .back(let reason):
            try machine.note("reason", short(reason))
            try follow(.step(.back))
        case .end(let phase, let reason):
            try machine.note("phase", phase.rawValue)
            try machine.note("reason", reason.map { short($0) } ?? "")
            try follow(.step(.end))
        case .unfinished(let reason):
            let words = text("reason").map { "\($0); and \(reason)" } ?? reason
            try tell(.failed, words)
            try hearUnlessCounted()
            try machine.startAgent()
        case .over: break
        }
    }

    private func perform(_ step: UpdateStep) throws -> Turn {
        if let turn = step.turnAfterAttempts {
            let count = (machine.noted("begun").flatMap { Int($0) } ?? 0) + 1
            try machine.note("begun", "\(count)")
            if count > UpdateStep.attempts { return turn }
        }
        switch step {
        case .check: return check()
        case .fetch: return try fetch()
        case .rest: return try rest()
        case .copy: return try copy()
        case .install: return try install()
        case .watch: return try watch()
        case .back: return try putBack()
        case .over:
            try machine.startAgent()
            return .end(.returned, text("reason"))
        case .end: return try end()
        }
    }

    /// How it ended is counted and told before the job goes, so that nothing is told twice otherwise.
    private func end() throws -> Turn {
        let phase = machine.noted("phase").flatMap(UpdateMessage.Phase.init(rawValue:)) ?? .failed
        try machine.forget("until")
        try machine.discard()
        // (Once, also where a power cut is the next.)
        if machine.noted("counts") == nil {
            var counts = machine.counts()
            switch phase {
            case .updated: counts.updated += 1
            case .returned: counts.returned += 1
            case .refused: counts.refused += 1
            default: counts.failed += 1
            }
            try machine.note("counts", counts.text)
        }
        try machine.setCounts(UpdateMessage.Counts(text: machine.noted("counts") ?? ""))
        let reason = text("reason")
        try tell(phase, phase == .updated ? nil : reason)
        try machine.close()
        return .over
    }
}

extension UpdateStep.Turn {
    /// Whether it leads out of an update that does not work.
    var isWayOut: Bool {
        switch self {
        case .step, .over: false
        case .back, .end, .unfinished: true
        }
    }
}

/// A reason for a message: printable, and at most 300 bytes.
private func short(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x20...0x7e).contains($0) ? $0 : 0x20 }.prefix(300), as: UTF8.self)
}

/// Whether a new version does what the old one did, from one look to the next. Pure: it is told the time (s, monotonic).
struct TrialWatch {
    private let before: StationBefore
    private let limits: UpdateLimits
    private let deadline: Double
    private let restarts: Int
    private var samples: Progress
    private var acked: Progress
    /// Since when all is well.
    private var well: Double?

    /// A counter, and when it last changed.
    private struct Progress {
        var count: Int64 = 0
        var at: Double
    }

    enum Verdict: Equatable {
        case wait
        /// All is well for long enough.
        case good
        /// It goes back at once, or its time is over.
        case back(String)
    }

    /// - Parameter restarts: how often the agent had been started again.
    init(_ before: StationBefore, _ limits: UpdateLimits, restarts: Int, at seconds: Double) {
        (self.before, self.limits, self.restarts) = (before, limits, restarts)
        deadline = seconds + limits.patience
        (samples, acked) = (Progress(at: seconds), Progress(at: seconds))
    }

    /// - Parameter lastWords: what the agent wrote last, for a reason.
    mutating func look(
        _ look: AgentLook, at seconds: Double, isConfirmed: Bool, lastWords: () -> String
    ) -> Verdict {
        if let reason = atOnce(look, lastWords) { return .back(reason) }
        let reason = slowly(look, seconds, lastWords)
        if reason == nil { well = well ?? seconds } else { well = nil }
        let isGood = well.map { seconds - $0 >= limits.settle } ?? false
        if isGood, isConfirmed { return .good }
        if seconds >= deadline {
            let unconfirmed = well == nil ? nil : "nobody confirmed it within \(Int(limits.patience)) s"
            let restless = "it was not well for \(Int(limits.settle)) s on end"
            return .back(reason ?? (isConfirmed ? restless : unconfirmed) ?? restless)
        }
        return isGood ? .good : .wait
    }

    private func atOnce(_ look: AgentLook, _ lastWords: () -> String) -> String? {
        if look.restarts - restarts >= 3 { return "the agent ends by itself: \(lastWords())" }
        if look.isFailed { return "the agent does not start: \(lastWords())" }
        let limit = max(before.kilobytes * 4, limits.memory * 1024)
        if look.kilobytes > limit {
            return "it uses \(look.kilobytes / 1024) MB of memory, more than \(limit / 1024) MB"
        }
        // (Nothing of the stored data is to be lost: it goes back before more is.)
        let storage = look.state?.errors.filter { $0.hasPrefix("storage_") && !before.errors.contains($0) }
        return storage?.min().map { "it raises the alert \($0)" }
    }

    private mutating func slowly(_ look: AgentLook, _ seconds: Double, _ lastWords: () -> String) -> String? {
        let (newSamples, newAcked) = (look.state?.samples ?? 0, look.state?.acked ?? 0)
        if newSamples != samples.count { samples = Progress(count: newSamples, at: seconds) }
        if newAcked != acked.count { acked = Progress(count: newAcked, at: seconds) }
        guard let state = look.state else { return "the agent says nothing of itself: \(lastWords())" }
        if before.flows, newSamples == 0 || seconds - samples.at > 10 { return "no samples come" }
        if !state.isConnected { return "it has no connection to the broker" }
        if newAcked == 0 || seconds - acked.at > 90 { return "the broker acknowledges nothing that it sends" }
        return state.errors.subtracting(before.errors).min().map { "it raises the alert \($0)" }
    }
}
