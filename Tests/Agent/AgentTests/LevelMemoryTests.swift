import Foundation
import Station
import TestSupport
import Testing

@testable import Agent

/// The level of a sensor on the disk: written seldom, and not believed.
@Suite struct LevelMemoryTests {
    private let level = RestLevel(x: 0.1, y: -0.25, z: 9.8125, time: 1_767_608_430_120_000_000, origin: .max - 5)
    private static let hour: Int64 = 3_600_000_000_000

    @Test func itIsWrittenOnceAnHourAndAtTheEnd() throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("state")
        #expect(LevelMemory.read(directory: directory) == nil)
        var (memory, now, writes) = (LevelMemory(directory: directory), Int64(5), 0)
        let nothing = memory.look(nil, now: now, isEnd: true)
        #expect(nothing == nil)
        var newest = level
        for _ in 0..<3 * 3600 {
            newest.time += 1_000_000_000
            if let write = memory.look(newest, now: now) {
                #expect(write() == nil)
                writes += 1
            }
            now += 1_000_000_000
        }
        #expect(writes == 2)
        newest.time += 1
        let end = memory.look(newest, now: now, isEnd: true)
        let last = try #require(end)
        #expect(last() == nil && LevelMemory.read(directory: directory) == newest)
        let again = memory.look(newest, now: now, isEnd: true)
        #expect(again == nil)
    }

    @Test(arguments: [
        "", "{}", "[1]", "null", #"{"v":2,"x":0,"y":0,"z":9.8,"time":"2026-01-05T10:20:30Z","of":"7"}"#,
        #"{"v":1,"x":"0","y":0,"z":9.8,"time":"2026-01-05T10:20:30Z","of":"7"}"#,
        #"{"v":1,"x":0,"y":0,"z":1e999,"time":"2026-01-05T10:20:30Z","of":"7"}"#,
        #"{"v":1,"x":0,"y":0,"z":9.8,"time":"soon","of":"7"}"#,
        #"{"v":1,"x":0,"y":0,"z":9.8,"time":"2026-01-05T10:20:30Z","of":"-7"}"#,
        #"{"v":1,"x":0,"y":0,"z":9.8,"time":"2026-01-05T10:20:30Z","of":"11111111111111111"}"#,
        #"{"v":1,"x":0,"y":0,"z":9.8,"time":"2026-01-05T10:20:30Z"}"#,
    ]) func whatIsNoLevelIsNone(_ text: String) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("state"), withIntermediateDirectories: true)
        try folder.write("state/level.json", text)
        #expect(LevelMemory.read(directory: folder.path("state")) == nil)
    }

    @Test func aFolderThatCannotBeWrittenIsSaid() throws {
        let folder = try TemporaryFolder()
        try folder.write("state", "a file")
        var memory = LevelMemory(directory: folder.path("state"))
        let end = memory.look(level, now: 0, isEnd: true)
        let write = try #require(end)
        #expect(write()?.contains("level") == true)
    }
}
