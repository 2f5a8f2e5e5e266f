import Foundation
import Instruments
import Messages
import Platform
import TestSupport
import Testing

@testable import Settings

@Suite struct SensorMemoryTests {
    static let report = SelfTestReport(
        x: .init(change: 1, minimum: 0.5, maximum: 2), y: .init(change: 3, minimum: 0.5, maximum: 2.5),
        z: .init(change: 1, minimum: 0.5, maximum: 2), unit: "m/s^2", source: "p. 4")

    @Test func whatIsKeptIsThereAfterwards() throws {
        let folder = try TemporaryFolder()
        let directory = folder.url.path
        #expect(SensorMemory.read(directory: directory).memory == SensorMemory())
        let value = Self.report.value(time: 1_767_608_430_120_000_000)
        try SensorMemory.keep(.selfTest, of: "adxl345", value, directory: directory)
        try SensorMemory.keep(.calibration, of: "adxl345", ["a": 1.5], directory: directory)
        try SensorMemory.keep(.selfTest, of: "lis3dh", ["b": true], directory: directory)
        try SensorMemory.keep(.calibration, of: "adxl345", ["a": 2.5], directory: directory)
        let (memory, problem) = SensorMemory.read(directory: directory)
        #expect(problem == nil)
        #expect(memory.report(.calibration, of: "adxl345") == ["a": 2.5])
        #expect(memory.report(.selfTest, of: "lis3dh") == ["b": true])
        #expect(memory.report(.calibration, of: "lis3dh") == nil)
        let kept = try #require(memory.report(.selfTest, of: "adxl345"))
        #expect(kept["t"] == "2026-01-05T10:20:30.120000000Z")
        #expect(kept["passed"] == false && kept["y"]?["max"] == value["y"]?["max"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["sensor.json"])
    }

    @Test func aFolderThatIsNotThereIsNoReasonToFail() {
        let (memory, problem) = SensorMemory.read(directory: "/nonexistent/seismote")
        #expect(memory == SensorMemory() && problem == nil)
        #expect(throws: FileError.self) {
            try SensorMemory.keep(.selfTest, of: "c", [:], directory: "/nonexistent/seismote")
        }
    }

    @Test(arguments: [
        "", "{", "[]", "{\"v\":2,\"chips\":{}}", "{\"v\":1,\"chips\":[]}", "{\"v\":1,\"chips\":{\"c\":5}}",
    ])
    func aDamagedFileIsAnEmptyMemory(text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write("sensor.json", text)
        let (memory, problem) = SensorMemory.read(directory: folder.url.path)
        #expect(memory.report(.selfTest, of: "c") == nil)
        #expect((problem == nil) == text.contains("\"c\":5"))
        // And is mended by the next report.
        try SensorMemory.keep(.selfTest, of: "c", ["a": 1], directory: folder.url.path)
        #expect(SensorMemory.read(directory: folder.url.path).memory.report(.selfTest, of: "c") == ["a": 1])
    }

    /// What cannot be written leaves the old file as it is: here the place of the new one is taken by a folder, and so are
    /// all names under which it could be put aside.
    @Test func aFileThatCannotBeWrittenLeavesTheOldOne() throws {
        let folder = try TemporaryFolder()
        try SensorMemory.keep(.selfTest, of: "c", ["a": 1], directory: folder.url.path)
        for name in [""] + (1...9).map({ ".damaged-\($0)" }) {
            try FileManager.default.createDirectory(
                atPath: folder.path("sensor.json.new\(name)"), withIntermediateDirectories: true)
        }
        #expect(throws: FileError.self) {
            try SensorMemory.keep(.selfTest, of: "c", ["a": 2], directory: folder.url.path)
        }
        #expect(SensorMemory.read(directory: folder.url.path).memory.report(.selfTest, of: "c") == ["a": 1])
    }

    /// The tool runs as root, the agent that publishes the report as a user of its own.
    @Test func theAgentReadsWhatTheToolWrote() throws {
        let folder = try TemporaryFolder()
        try SensorMemory.keep(.selfTest, of: "c", ["a": 1], directory: folder.url.path)
        var status = stat()
        #expect(stat(folder.path("sensor.json"), &status) == 0 && status.st_mode & 0o777 == 0o644)
    }
}
