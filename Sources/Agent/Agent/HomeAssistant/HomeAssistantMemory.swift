import Messages
import Platform
import Settings
import Values

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
