import Foundation
import TestSupport
import Testing

/// `seismote network run`: its settings.
@Suite struct NetworkTests {
    @Test func theDefaultFileIsValid() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("network.yaml", try Tool("network", "run", "--default").output)
        let run = try Tool("network", "run", "--config", file, "--check")
        #expect(run.status == 0)
        #expect(run.output == "\(file): valid\n")
    }

    /// All that is wrong is said, with what is allowed; the chapter of the broker is judged as the agent does.
    @Test func whatIsWrongIsNamed() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(
            "network.yaml",
            "network: {gate_s: 99, stat: x, confirm: 3}\nmqtt: {uri: \"ftp://x\", keepalive_s: 1}\nconfirm: true\n")
        let run = try Tool("network", "run", "--config", file, "--check")
        #expect(run.status == 78)
        for words in [
            "network.gate_s is 99; allowed: 0.2…10 s", "there is no setting network.stat",
            "network.confirm is 3; allowed: true or false", "mqtt.uri", "mqtt.keepalive_s", "5…65535",
            "did you mean network.confirm?",
        ] { #expect(run.errors.contains(words), "\(words) is not in \(run.errors)") }
        #expect(try Tool("network", "run", "--check", "--set", "network.confirm").errors.contains("KEY=VALUE"))
    }

    @Test func aFolderThatCannotBeUsedIsNamed() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("file", "")
        let run = try Tool(
            "network", "run", "--broker", "127.0.0.1:1", "--set", "network.state=\(file)")
        #expect(run.status == 74)
        #expect(run.errors.contains("\(file)/network.db"))
    }
}
