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
    func state() -> UpdateMessage? {
        let text = SmallFile.text(statePath)
        return text.isEmpty ? nil : UpdateMessage(json: Array(text.utf8))
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
    mutating func look(_ file: UpdateMessage?, wall: Int64, now: Int64) -> News? {
        if let one = asked {
            if let file, file != one.before {
                if let other = file.id, other != one.id {
                    // (After a start of the machine the updater says first how the last one ended.)
                    guard !file.phase.isEnd else {
                        asked?.before = file
                        return nil
                    }
                    return refuse(
                        "an update to \(file.version ?? "another version") is under way, which was interrupted: ask again when it has ended",
                        wall)
                }
                asked = nil
                told = file
                return .say(file)
            }
            guard now >= one.deadline else { return nil }
            unheard = wall
            return refuse(
                "nobody heard the request: on the board, sudo systemctl enable --now seismote-update.path", wall)
        }
        guard let file, file != told else { return nil }
        // (What the agent has said of a request that nobody heard is newer than what the updater last said.)
        if let unheard, file.since < unheard { return nil }
        told = file
        return .say(file)
    }

    private mutating func refuse(_ reason: String, _ wall: Int64) -> News {
        asked = nil
        var message = told ?? UpdateMessage(phase: .refused, since: wall)
        (message.phase, message.since, message.reason) = (.refused, wall, reason)
        told = message
        return .withdraw(message)
    }
}

extension UpdateMessage {
    /// What the updater has written; nil when it is not its file.
    public init?(json: [UInt8]) {
        guard let value = try? JSONReader.read(json), let phase = Self.text(value, "phase").flatMap(Phase.init),
            let since = Self.time(value, "t")
        else { return nil }
        self.init(phase: phase, since: since)
        (id, version, from) = (Self.text(value, "id"), Self.text(value, "version"), Self.text(value, "from"))
        (installed, reason) = (Self.text(value, "installed"), Self.text(value, "reason"))
        until = Self.time(value, "until")
        if let counts = value["ended"] {
            func count(_ name: String) -> Int {
                guard case .int(let number)? = counts[name], (0...999_999_999).contains(number) else { return 0 }
                return Int(number)
            }
            ended = Counts(
                updated: count("updated"), returned: count("returned"), refused: count("refused"),
                failed: count("failed"))
        }
    }

    private static func text(_ value: Value, _ name: String) -> String? {
        guard let text = value[name]?.rawText, !text.isEmpty else { return nil }
        return text
    }

    private static func time(_ value: Value, _ name: String) -> Int64? {
        text(value, name).flatMap { Timestamp($0)?.nanoseconds }
    }
}
