import Alerts
import Glibc
import Messages
import Platform
import Settings
import Station
import Values

/// A small file of the storage directory: which alerts a broker may have of this station. Pure but for the file.
///
/// A run empties the topics of alerts that a run before it may have left, and no others: with each connection they go out
/// again. What was emptied over a connection that held for a while is forgotten.
struct AlertMemory {
    static let fileName = "alerts.json"
    /// How long a connection has held when all that was to be emptied is with the broker (ns).
    static let patience: Int64 = 60_000_000_000
    /// They say that nothing can be written down.
    private static let ofStorage: Set<String> = [
        "storage_failed", "storage_set_aside", "storage_taken", "queue_dropping",
    ]

    private let file: DurableFile
    /// Content of the file; nil: there is none, or it cannot be read.
    private var kept: Set<String>?
    /// Raised by this run.
    private var raised: Set<String> = []
    /// Since when all has been emptied and the connection holds.
    private var since: Int64?

    init(directory: String) { file = DurableFile(directory: directory, name: Self.fileName) }

    /// The codes whose alerts a run before this one may have left; all where that cannot be known.
    mutating func read() -> Set<String> {
        guard let root = try? JSONReader.read(try SettingsFile.read(file.path, isOwn: true)),
            case .array(let list)? = root["codes"]
        else { return Set(AlertDeclaration.all.map(\.code)) }
        let known = list.compactMap(\.rawText).filter { AlertDeclaration.of($0) != nil }
        kept = Set(known)
        return Set(known).union(Self.ofStorage)
    }

    /// An alert leaves.
    /// - Returns: writes it down, and says why it cannot; nil where it is known already.
    mutating func raise(_ code: String) -> (@Sendable () -> String?)? {
        raised.insert(code)
        guard var codes = kept, codes.insert(code).inserted else { return nil }
        return keep(codes)
    }

    /// To be called now and then.
    /// - Parameters:
    ///   - isEmptied: nothing is left that was to be emptied.
    ///   - now: of the monotonic clock (ns).
    /// - Returns: as of `raise`.
    mutating func look(isEmptied: Bool, isConnected: Bool, now: Int64) -> (@Sendable () -> String?)? {
        guard isEmptied, isConnected else {
            since = nil
            return nil
        }
        since = since ?? now
        guard let since, now - since >= Self.patience, kept != raised else { return nil }
        return keep(raised)
    }

    private mutating func keep(_ codes: Set<String>) -> @Sendable () -> String? {
        kept = codes
        let list = codes.sorted().map { Value.string($0) }
        return { [file] in
            do throws(FileError) { try file.write(["v": 1, "codes": .array(list)]) } catch {
                return "the list of alerts is not saved: \(error.message)"
            }
            return nil
        }
    }
}

/// A small file of the storage directory: the level that the sensor showed last. Pure but for the file.
///
/// It is written once an hour, and when the agent ends.
struct LevelMemory {
    static let fileName = "level.json"
    /// ns.
    static let interval: Int64 = 3_600_000_000_000

    private let file: DurableFile
    private var written: RestLevel?
    private var due: Int64?

    init(directory: String) { file = DurableFile(directory: directory, name: Self.fileName) }

    /// The level of an earlier run; nil where there is none that can be one.
    static func read(directory: String) -> RestLevel? {
        let path = DurableFile(directory: directory, name: fileName).path
        guard let root = try? JSONReader.read(try SettingsFile.read(path, isOwn: true)), root["v"]?.integer == 1,
            let x = root["x"]?.number, let y = root["y"]?.number, let z = root["z"]?.number,
            let time = root["time"]?.anyTime,
            let origin = root["of"]?.rawText.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        return RestLevel(x: x, y: y, z: z, time: time, origin: origin)
    }

    /// To be called now and then.
    /// - Parameters:
    ///   - now: of the monotonic clock (ns).
    ///   - isEnd: the agent ends.
    /// - Returns: writes it down, and says why it cannot; nil where nothing is due.
    mutating func look(_ level: RestLevel?, now: Int64, isEnd: Bool = false) -> (@Sendable () -> String?)? {
        guard let level, level != written else { return nil }
        let due = due ?? now + Self.interval
        self.due = due
        guard isEnd || now >= due else { return nil }
        (written, self.due) = (level, now + Self.interval)
        return { [file] in
            do throws(FileError) {
                try file.write([
                    "v": 1, "x": .double(level.x), "y": .double(level.y), "z": .double(level.z),
                    "time": .string(Timestamp(nanoseconds: level.time).description),
                    "of": .string(String(level.origin, radix: 16)),
                ])
            } catch { return "the sensor's level is not saved: \(error.message)" }
            return nil
        }
    }
}

/// A small file of the storage directory: where something may be announced to Home Assistant.
struct HomeAssistantMemory {
    static let fileName = "home-assistant.json"
    private static let limit = 8

    private let file: DurableFile
    private var known: [HomeAssistantPlace]?

    init(directory: String) { file = DurableFile(directory: directory, name: Self.fileName) }

    /// Reads the memory of earlier runs; nothing where that cannot be read.
    mutating func read() -> [HomeAssistantPlace] {
        guard let root = try? JSONReader.read(try SettingsFile.read(file.path, isOwn: true)),
            case .array(let list)? = root["places"]
        else { return [] }
        let places = list.prefix(Self.limit).compactMap { value -> HomeAssistantPlace? in
            guard case .string(let prefix)? = value["prefix"], case .string(let id)? = value["id"],
                case .string(let name)? = value["form"], let form = HomeAssistantPlace.Form(rawValue: name),
                Topics.problem(inRoot: prefix) == nil, Topics.problem(inID: id) == nil
            else { return nil }
            return HomeAssistantPlace(prefix: prefix, id: id, form: form)
        }
        known = places
        return places
    }

    /// Takes the places.
    /// - Returns: writes them down, and says why it cannot; nil where they are known already, or where there never was one.
    mutating func keep(_ places: [HomeAssistantPlace]) -> (@Sendable () -> String?)? {
        guard places != known ?? [] else { return nil }
        known = places
        let list = places.suffix(Self.limit).map { place -> Value in
            ["prefix": .string(place.prefix), "id": .string(place.id), "form": .string(place.form.rawValue)]
        }
        return { [file] in
            do throws(FileError) { try file.write(["v": 1, "places": .array(list)]) } catch {
                return "discovery topics not saved: \(error.message)"
            }
            return nil
        }
    }
}

/// The agent's own state as a file for this machine (`AgentState`), in the folder that systemd makes for it in memory. By
/// the main thread: a state that grows old is a main thread that hangs.
struct StateFile {
    /// Nil: nobody has given the agent a folder.
    let path: String?
    private var last: Int64?
    private(set) var problem: String?

    /// - Parameter environment: reads a variable of the environment.
    init(environment: (String) -> String? = { name in getenv(name).map { String(cString: $0) } }) {
        // (systemd names several with colons between them.)
        let folder = environment("RUNTIME_DIRECTORY")?.split(separator: ":").first.map(String.init)
        path = folder.flatMap { $0.hasPrefix("/") ? "\($0)/\(AgentState.fileName)" : nil }
    }

    /// - Parameter now: of the monotonic clock.
    func isDue(isNew: Bool, now: Int64) -> Bool {
        guard path != nil, let last else { return path != nil }
        return isNew || now - last >= AgentState.interval
    }

    /// Replaces the file, for root and the agent's group.
    /// - Returns: why not, when that is new.
    mutating func write(_ state: AgentState) -> String? {
        guard let path else { return nil }
        last = state.written
        let before = problem
        problem = MemoryFile.replace(path, state.json(), mode: 0o640) ? nil : String(cString: strerror(errno))
        guard let problem, problem != before else { return nil }
        return "\(path) cannot be written, so that seismote doctor knows less: \(problem)"
    }

    /// The agent ends in order.
    func remove() { if let path { unlink(path) } }
}
