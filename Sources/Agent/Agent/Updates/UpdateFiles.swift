import Commands
import Files
import Glibc
import Messages
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

    /// What the updater says now; nil: nothing.
    func state() -> UpdateStatement? {
        let text = SmallFile.text(statePath)
        return text.isEmpty ? nil : UpdateStatement(json: Array(text.utf8))
    }
}

/// What is known of an update, from the request on. Pure but for the clock that it is told.
struct UpdateCourse {
    /// A request that nobody has heard for so long is taken back (ns).
    static let patience: Int64 = 60_000_000_000

    /// What was last said, by the updater or by the agent itself.
    private(set) var told: UpdateMessage?
    /// What the updater's file said when the request was written, and until when it has to say something else (monotonic, ns).
    private var asked: (id: String?, before: UpdateMessage?, deadline: Int64)?
    /// Since when the agent says that nobody has heard a request (ns of UTC): what the updater said before is older.
    private var unheard: Int64?
    /// The refusal that the updater's file had when it was last read: ids of commands may come again.
    private var refusal: UpdateMessage?

    /// The phase of an update that has not ended.
    var underWay: String? { told.flatMap { $0.phase.isEnd ? nil : $0.phase.rawValue } }
    var onTrial: String? {
        guard let told, told.phase == .watching || told.phase == .confirming else { return nil }
        return told.version
    }

    enum News: Equatable {
        case say(UpdateMessage)
        /// Nobody has heard the request.
        case withdraw(UpdateMessage)
    }

    /// A request is on the disk.
    mutating func ask(_ request: UpdateRequest, wall: Int64, now: Int64) -> UpdateMessage {
        var message = UpdateMessage(phase: .requested, since: wall)
        (message.id, message.version, message.installed) = (request.id, request.version, told?.installed)
        asked = (request.id, asked?.before ?? told, now + Self.patience)
        unheard = nil
        told = message
        return message
    }

    /// What the updater's file says now.
    ///
    /// Whatever becomes of a request, the updater says. The agent speaks for it only where it does not answer at all.
    mutating func look(_ statement: UpdateStatement?, wall: Int64, now: Int64) -> News? {
        let file = statement?.message
        let isNew = statement?.refused != refusal
        refusal = statement?.refused
        if let one = asked {
            if let refused = statement?.refused, let id = one.id, refused.id == id, isNew {
                asked = nil
                told = refused
                return .say(refused)
            }
            if let file, file != one.before {
                // (After a start of the machine the updater says first how the last one ended, or goes on with it.)
                guard file.id == nil || file.id == one.id else {
                    asked?.before = file
                    return nil
                }
                asked = nil
                told = file
                return .say(file)
            }
            guard now >= one.deadline else { return nil }
            return refuse(Self.silence(file), wall)
        }
        guard let file, file != told else { return nil }
        // (What the agent has said of a request that nobody heard is newer than what the updater last said.)
        if let unheard, file.since < unheard { return nil }
        told = file
        return .say(file)
    }

    /// Why there is no answer to a request.
    private static func silence(_ file: UpdateMessage?) -> (reason: String, isUnheard: Bool) {
        guard let file else { return (nobody, true) }
        let version = file.version ?? "another version"
        if file.phase == .failed {
            return (
                "the updater tries to put back the version before \(version), and does not answer: journalctl -u seismote-update",
                false
            )
        }
        guard file.phase.isEnd else {
            return ("an update to \(version) is under way (\(file.phase.rawValue)): ask again when it has ended", false)
        }
        return (nobody, true)
    }

    private static let nobody =
        "nobody heard the request: on the board, sudo systemctl enable --now seismote-update.path"

    private mutating func refuse(_ silence: (reason: String, isUnheard: Bool), _ wall: Int64) -> News {
        asked = nil
        if silence.isUnheard { unheard = wall }
        var message = told ?? UpdateMessage(phase: .refused, since: wall)
        (message.phase, message.since, message.reason) = (.refused, wall, silence.reason)
        told = message
        return .withdraw(message)
    }
}
