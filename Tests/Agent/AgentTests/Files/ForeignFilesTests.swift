import Foundation
import Messages
import Settings
import TestSupport
import Testing

@testable import Agent
@testable import Commands

/// Something else in the place of the agent's own files. Defects: a FIFO there made the start wait for ever, a folder made
/// every change of the settings fail.
@Suite(.timeLimit(.minutes(10))) struct ForeignFilesTests {
    enum Thing: CaseIterable { case fifo, folder, fullFolder }

    private static func put(_ thing: Thing, at path: String) throws {
        switch thing {
        case .fifo: #expect(mkfifo(path, 0o600) == 0)
        case .folder: #expect(mkdir(path, 0o700) == 0)
        case .fullFolder:
            #expect(mkdir(path, 0o700) == 0)
            try Data("x".utf8).write(to: URL(fileURLWithPath: path + "/inside"))
        }
    }

    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    @Test(arguments: Thing.allCases, ["", ".new", ".damaged"])
    func changesOfTheSettingsAreKeptAllTheSame(_ thing: Thing, _ ending: String) throws {
        let folder = try TemporaryFolder()
        let path = folder.path("settings.json")
        try Self.put(thing, at: path + ending)
        // A name that is taken must not stop the way out of another.
        if ending == ".damaged" { try Self.put(.fullFolder, at: path) }
        let layers = SettingsLayers(file: Array("storage: {directory: \"\(folder.url.path)\"}".utf8))
        let keeper = try SettingsKeeper(layers)
        #expect(keeper.notes.map(\.kind) == (ending == ".new" ? [] : [.damaged]))
        for number in 1...2 {
            let proposal = try keeper.propose(.merge(["trace": ["rate_hz": .int(Int64(number))]]))
            _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
        }
        #expect(Self.isFile(path))
        #expect(try SettingsKeeper(layers).settings.configuration.trace.rate == 2)
    }

    @Test func aFolderThatComesLaterIsPutAside() throws {
        let folder = try TemporaryFolder()
        let layers = SettingsLayers(file: Array("storage: {directory: \"\(folder.url.path)\"}".utf8))
        let keeper = try SettingsKeeper(layers)
        try Self.put(.fullFolder, at: folder.path("settings.json"))
        let proposal = try keeper.propose(.merge(["trace": ["qos": 0]]))
        _ = try keeper.adopt(proposal, confirm: nil, source: "test", connection: 1)
        #expect(Self.isFile(folder.path("settings.json")))
        #expect(Self.isFile(folder.path("settings.json.damaged-1/inside")))
    }

    @Test(arguments: Thing.allCases, ["", ".new"])
    func commandsAreRememberedAllTheSame(_ thing: Thing, _ ending: String) throws {
        let folder = try TemporaryFolder()
        try Self.put(thing, at: folder.path(CommandJournal.fileName + ending))
        var journal = CommandJournal(directory: folder.url.path)
        var memory = journal.read()
        #expect(memory.entries.isEmpty && journal.problem == nil)
        let entry = CommandMemory.Entry(id: "a", digest: "d", reply: [1], isFinal: true)
        memory.set(entry)
        journal.append(entry, isDurable: true, memory)
        #expect(journal.problem == nil)
        var next = CommandJournal(directory: folder.url.path)
        #expect(next.read().entries.map(\.id) == ["a"])
    }

    @Test(arguments: Thing.allCases, ["", ".new"])
    func placesOfHomeAssistantAreRememberedAllTheSame(_ thing: Thing, _ ending: String) throws {
        let folder = try TemporaryFolder()
        try Self.put(thing, at: folder.path(HomeAssistantMemory.fileName + ending))
        var memory = HomeAssistantMemory(directory: folder.url.path)
        #expect(memory.read().isEmpty)
        let place = HomeAssistantPlace(prefix: "p", id: "i", form: .device)
        #expect(memory.keep([place])?() == nil)
        var next = HomeAssistantMemory(directory: folder.url.path)
        #expect(next.read() == [place])
    }

    @Test(arguments: Thing.allCases, ["", ".new"])
    func whatIsKnownOfTheSensorIsKeptAllTheSame(_ thing: Thing, _ ending: String) throws {
        let folder = try TemporaryFolder()
        try Self.put(thing, at: folder.path(SensorMemory.fileName + ending))
        let (memory, problem) = SensorMemory.read(directory: folder.url.path)
        #expect(memory == SensorMemory() && (problem != nil) == ending.isEmpty)
        try SensorMemory.keep(.calibration, of: "c", ["a": 1], directory: folder.url.path)
        #expect(SensorMemory.read(directory: folder.url.path).memory.report(.calibration, of: "c") == ["a": 1])
    }

    /// The files are read with a bound: what is larger than any that the agent writes is not taken in.
    @Test func aHugeFileIsNotReadIn() throws {
        let folder = try TemporaryFolder()
        for name in ["settings.json", SensorMemory.fileName, HomeAssistantMemory.fileName] {
            #expect(FileManager.default.createFile(atPath: folder.path(name), contents: nil))
            #expect(truncate(folder.path(name), 1 << 40) == 0)
        }
        let layers = SettingsLayers(file: Array("storage: {directory: \"\(folder.url.path)\"}".utf8))
        #expect(try SettingsKeeper(layers).notes.map(\.kind) == [.damaged])
        #expect(SensorMemory.read(directory: folder.url.path).problem != nil)
        var places = HomeAssistantMemory(directory: folder.url.path)
        #expect(places.read().isEmpty)
    }
}
