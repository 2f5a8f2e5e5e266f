import Commands
import Glibc
import Messages
import Platform
import Settings
import Values

/// Where agent and updater meet: small files. The agent writes what is wanted into its own folder, which the updater reads as
/// the agent's user; what becomes of it stands in a file of the updater's, in memory.
struct UpdateFiles: Sendable {
    /// `seismote-update`, of a package of its own.
    static let program = "/usr/sbin/seismote-update"
    static let statePath = "/run/seismote-update/state.json"

    /// Below the folder that systemd gives to the agent; nil: it does not run as its service.
    let folder: String?
    private let program: String
    private let statePath: String

    /// - Parameter environment: reads a variable of the environment.
    init(
        environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } },
        program: String = Self.program, state: String = Self.statePath
    ) {
        let state = (environment("STATE_DIRECTORY")?.split(separator: ":").first.map(String.init), state)
        folder = state.0.flatMap { $0.hasPrefix("/") ? "\($0)/update" : nil }
        (self.program, statePath) = (program, state.1)
    }

    /// Whether there is somebody who carries it out.
    var isPossible: Bool { folder != nil && access(program, X_OK) == 0 }

    /// - Returns: a write for the thread of the disk, which says why it failed.
    func request(_ request: UpdateRequest) -> @Sendable () -> String? { write("request", request.line) }

    func confirm(_ version: String) -> @Sendable () -> String? { write("confirm", version + "\n") }

    /// Whether a request lies there that nobody has taken.
    var isWaiting: Bool { folder.map { access("\($0)/request", F_OK) == 0 } ?? false }

    /// Takes a request back that nobody has heard.
    func withdraw() -> @Sendable () -> String? {
        let folder = self.folder
        return {
            if let folder { unlink("\(folder)/request") }
            return nil
        }
    }

    private func write(_ name: String, _ text: String) -> @Sendable () -> String? {
        let folder = self.folder
        return {
            guard let folder else { return "the agent has no folder" }
            _ = mkdir(folder, 0o700)
            do throws(FileError) { try DurableFile(directory: folder, name: name).write(Array(text.utf8)) } catch {
                return error.message
            }
            return nil
        }
    }

    /// The updater's present state; nil: there is none.
    func state() -> UpdateStatement? {
        let text = SmallFile.text(statePath, limit: 4096) ?? ""
        return text.isEmpty ? nil : UpdateStatement(json: Array(text.utf8))
    }
}

/// The updater's state, which the agent passes on, and whether it has heard a request. Pure but for the clock that it is told.
struct UpdateCourse {
    /// A request that is not answered for so long is taken back (ns): after a failure the updater looks once a minute.
    static let patience: Int64 = 90_000_000_000

    /// The state that was passed on last.
    private(set) var told: UpdateMessage?
    /// A request that has no answer yet: what the updater said before, and when its time is over (monotonic, ns).
    private var asked: (id: String?, before: UpdateMessage?, deadline: Int64)?
    /// The contents of the updater's file when it was last read: ids of commands may come again.
    private var last: UpdateStatement?

    /// The phase of an update that has not ended.
    var underWay: String? {
        asked == nil
            ? told.flatMap { $0.phase.isEnd ? nil : $0.phase.rawValue } : UpdateMessage.Phase.requested.rawValue
    }
    var onTrial: String? {
        guard let told, told.phase == .watching || told.phase == .confirming else { return nil }
        return told.version
    }

    enum Answer: Equatable {
        /// The updater has begun with it, or says on `state/update` why it does not.
        case heard
        case refused(String)
        /// Nobody answers: it is taken back.
        case unheard(String)
    }

    /// A request is on the disk.
    mutating func ask(_ id: String?, now: Int64) { asked = (id, last?.message, now + Self.patience) }

    /// Returns what is to be passed on of the updater's file, as it is now.
    /// - Parameter isWaiting: a request lies there that nobody has taken.
    mutating func look(
        _ statement: UpdateStatement?, isWaiting: Bool, now: Int64
    ) -> (news: UpdateMessage?, answer: Answer?) {
        let before = last
        if let statement { last = statement }
        // (It was there when this agent was started.)
        if asked == nil, isWaiting { ask(nil, now: now) }
        let answer = answer(statement, before, isWaiting, now)
        if answer != nil { asked = nil }
        guard let statement else { return (nil, answer) }
        let message = statement.message
        // (At the start the last refusal may be long ago.)
        if let refused = statement.refused, refused != before?.refused, before != nil || refused.since > message.since {
            told = refused
            return (refused, answer)
        }
        guard message != told else { return (nil, answer) }
        told = message
        return (message, answer)
    }

    private func answer(
        _ statement: UpdateStatement?, _ before: UpdateStatement?, _ isWaiting: Bool, _ now: Int64
    ) -> Answer? {
        guard let asked else { return nil }
        let message = statement?.message
        if let id = asked.id {
            if let refused = statement?.refused, refused.id == id, refused != before?.refused {
                return .refused(refused.reason ?? "")
            }
            if message?.id == id, message != asked.before { return .heard }
        } else if !isWaiting {
            return .heard
        }
        return now < asked.deadline ? nil : .unheard(Self.silence(message, isWaiting))
    }

    /// Why there is no answer to a request.
    private static func silence(_ message: UpdateMessage?, _ isWaiting: Bool) -> String {
        let version = message?.version ?? "another version"
        switch message?.phase {
        case .failed?:
            return
                "the updater tries to put back the version before \(version), and does not answer: journalctl -u seismote-update"
        case let phase? where !phase.isEnd:
            return "an update to \(version) is under way (\(phase.rawValue)): ask again when it has ended"
        default:
            return isWaiting
                ? "nobody heard the request: on the board, sudo systemctl enable --now seismote-update.path"
                : "the updater has taken the request, and does not answer: journalctl -u seismote-update"
        }
    }
}
