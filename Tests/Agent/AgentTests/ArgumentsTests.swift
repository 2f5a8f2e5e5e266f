import Testing

@testable import Agent

@Suite struct ArgumentsTests {
    @Test func readsAllForms() throws {
        let arguments = try Arguments([
            "--config", "a.yaml", "--set", "trace.rate_hz=10", "--set=mqtt.uri=mqtt://h:1", "--preset=shake",
            "--exit-at-end",
        ])
        #expect(arguments.config == "a.yaml")
        #expect(arguments.overrides == ["trace.rate_hz=10", "mqtt.uri=mqtt://h:1"])
        #expect(arguments.preset == "shake")
        #expect(arguments.exitAtEnd)
        #expect(!arguments.check && !arguments.version && !arguments.help)
        #expect(try Arguments(["-c", "b", "--check"]).check)
        #expect(try Arguments(["--clock", "/run/x"]).clock == "/run/x")
        #expect(try Arguments([]) == Arguments(["--set="].filter { _ in false }))
    }

    @Test(arguments: [
        ["--config"], ["--set"], ["--nonsense"], ["file.yaml"], ["--check=yes"], ["-x"], ["--version=1"], [""],
    ])
    func refuses(_ arguments: [String]) {
        #expect(throws: AgentError.self) { try Arguments(arguments) }
    }
}
