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
            "\(file):1:11: /network/gate_s: This value is out of range. [range; got 99; allowed: 0.2…10 s]",
            "\(file):1:23: /network/stat: There is no key `stat` here.", "did you mean `state`?",
            "\(file):1:32: /network/confirm: This must be true or false, not a number.", "/mqtt/uri",
            "/mqtt/keepalive_s", "5…65535", "did you mean `network.confirm`?",
        ] { #expect(run.errors.contains(words), "\(words) is not in \(run.errors)") }
        #expect(try Tool("network", "run", "--check", "--set", "network.confirm").errors.contains("allowed: key=value"))
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
