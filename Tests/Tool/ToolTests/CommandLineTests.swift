import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import seismote

/// What the tool makes of its arguments and of a narrow terminal.
@Suite(.timeLimit(.minutes(10))) struct CommandLineTests {
    /// A defect: `ctl lst` meant `log`, and `lst` was an unexpected argument.
    @Test(arguments: [(["ctl", "lst"], "list"), (["docter"], "doctor"), (["ctl", "pnig"], "ping")])
    func aCommandThatThereIsNotIsToldTheNearest(arguments: [String], meant: String) throws {
        let tool = try Tool(arguments)
        #expect(tool.status == 64 && tool.errors.contains("did you mean `\(meant)`?"), "\(tool.errors)")
    }

    /// A defect: `seismote watch` was answered with the list of subcommands.
    @Test(arguments: [
        (["watch"], "`seismote ctl watch`"), (["explain", "mqtt"], "`seismote config explain`"),
        (["list"], "`seismote interface list` or `seismote ctl list`"), (["ctl", "doctor"], "`seismote doctor`"),
    ])
    func aCommandOfAnotherPlaceIsNamedThere(arguments: [String], place: String) throws {
        let tool = try Tool(arguments)
        #expect(tool.status == 64 && tool.errors.contains("did you mean \(place)?"), "\(tool.errors)")
    }

    /// The simulated fleet serves those who build, and is a program of its own.
    @Test func theToolHasNoSimulatedFleet() throws {
        let fleet = try Tool("simulate-fleet", "3")
        #expect(fleet.status == 64 && fleet.errors.contains("There is no command `simulate-fleet`"), "\(fleet.errors)")
        let help = try Tool("--help")
        #expect(help.status == 0 && !help.output.contains("fleet "), "\(help.output)")
    }

    /// A defect: the parser took `-1e-6` for an option.
    @Test(arguments: [
        (["a", "--scale", "-1e-6"], ["a", "--scale=-1e-6"]), (["--centre", "-33.9,151"], ["--centre=-33.9,151"]),
        (["--a=1", "-5"], ["--a=1", "-5"]), (["-o", "-1"], ["-o", "-1"]), (["--a", "-o"], ["--a", "-o"]),
        (["--a", "-.5", "-.5"], ["--a=-.5", "-.5"]), (["--", "--a", "-5"], ["--", "--a", "-5"]), (["-"], ["-"]),
        ([], []),
    ])
    func aNegativeNumberIsTheValueOfTheOptionBeforeIt(given: [String], joined: [String]) {
        #expect(joiningNegativeNumbers(given) == joined)
    }

    @Test func optionsTakeNegativeNumbersAsTheyAreTyped() throws {
        let folder = try TemporaryFolder()
        let lines = (0..<300).map { "\(Double($0) / 100),\($0 % 2),0,9.8" }
        try Data("t,x,y,z\n\(lines.joined(separator: "\n"))\n".utf8).write(
            to: folder.url.appendingPathComponent("a.csv"))
        let replay = try Tool("replay", folder.path("a.csv"), "--scale", "-1e-3", "--quiet", "-o", folder.path("out"))
        #expect(replay.status == 0, "\(replay.errors)")
        let offset = try Tool(
            "report", "a", "--messages", "/dev/null", "--utc-offset", "-13", "-o", folder.path("page"))
        #expect(offset.status == 64 && offset.errors.contains("must be from -12 to 14"), "\(offset.errors)")
    }

    /// Every command without subcommands has an example in its help, and the parser takes each.
    @Test func everyHelpHasAnExampleThatParses() throws {
        let leaves = Self.leaves(Seismote.self, ["seismote"])
        #expect(leaves.count > 50)
        for (path, command) in leaves {
            let lines = command.configuration.discussion.split(separator: "\n").map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            let name = path.joined(separator: " ")
            let examples = lines.filter { ("\($0) ").hasPrefix("\(name) ") || "\($0) ".hasPrefix("sudo \(name) ") }
            #expect(!examples.isEmpty, "\(name) --help has no example")
            for example in examples {
                let words = Self.words(example.components(separatedBy: " > ")[0])
                // (By the command itself: from the root each takes half a second without optimisation.)
                let arguments = Array(words.drop { $0 == "sudo" }.dropFirst(path.count))
                do { _ = try command.parseAsRoot(arguments) } catch {
                    // (An editor wants a terminal, which a test has not.)
                    let words = command.fullMessage(for: error)
                    #expect(words.contains("no terminal"), "\(example): \(words)")
                }
            }
        }
    }

    /// A defect: `-o` was `--output` in some commands only.
    @Test func outputIsShortenedEverywhere() throws {
        let help = try Tool("--experimental-dump-help").object()
        func check(_ command: [String: Any]) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                let names = (argument["names"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }
                if names.contains("output") { #expect(names.contains("o"), "\(command["commandName"] ?? "")") }
            }
            for one in command["subcommands"] as? [[String: Any]] ?? [] { check(one) }
        }
        check(try #require(help["command"] as? [String: Any]))
    }

    private static func leaves(_ command: any ParsableCommand.Type, _ path: [String])
        -> [(path: [String], command: any ParsableCommand.Type)]
    {
        let under = command.configuration.subcommands
        if under.isEmpty { return [(path, command)] }
        return under.flatMap { leaves($0, path + [$0._commandName]) }
    }

    /// Words of a command line, with single quotes.
    private static func words(_ line: String) -> [String] {
        line.components(separatedBy: "'").enumerated().flatMap { number, part in
            number % 2 == 1 ? [part] : part.split(separator: " ").map(String.init)
        }
    }

    /// A defect: `ctl list` without a broker said "Connection refused" and nothing else.
    @Test(.enabled(if: access("/etc/seismote/seismote.yaml", F_OK) != 0)) func withoutABrokerTheWaysToNameOneAreNamed()
        throws
    {
        // (On a machine with a broker on the usual port there is nothing to see.)
        let tool = try Tool("ctl", "list", "--wait", "1")
        if tool.status == 69 {
            for words in ["No broker was named", "--broker", "SEISMOTE_BROKER", "--config"] {
                #expect(tool.errors.contains(words), "\(tool.errors)")
            }
        }
        let named = try Tool("ctl", "list", "--broker", "127.0.0.1:1")
        #expect(named.status == 69 && !named.errors.contains("No broker was named"), "\(named.errors)")
    }

    /// A defect: `seismote-network --help` did not list `--config`.
    @Test(arguments: [("seismote-network", ["--help"]), ("seismote-notify", ["run", "--help"])])
    func serversListTheirOptions(program: String, words: [String]) throws {
        let child = try ChildProcess(AgentProcess.builtProgram(program), words)
        #expect(child.wait(within: 60) == 0)
        for option in ["--config", "--set", "--health", "--default"] {
            #expect(child.output.contains(option), "\(child.output)")
        }
    }

    /// A defect: Swift reads the command line from /proc, so that the tool printed its help and the agent began with the
    /// settings that are built in. (Only root can take /proc away.)
    @Test(.enabled(if: geteuid() == 0), arguments: [("seismote", "version", 0), ("seismoted", "--no-such", 64)])
    func argumentsCountWithoutProc(program: String, argument: String, status: Int) throws {
        let path = AgentProcess.builtProgram(program)
        let script = "mount -t tmpfs none /proc && exec timeout 20 \(path) \(argument)"
        let child = try ChildProcess("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        #expect(child.wait(within: 60) == status, "\(child.output)\(child.errors)")
        #expect((child.output + child.errors).contains(program))
    }

    @Test func aTableThatIsTooWideForATerminalBecomesParagraphs() {
        var table = Table(["station", "state", "last event", ""], left: [0, 1, 2, 3])
        table.add(["basement", "online", "2019-07-06 03:19:53 UTC", "the quick brown fox jumps over the lazy dog"])
        table.add(["attic", "offline", "-", ""])
        let wide = table.text(width: 100)
        #expect(wide.split(separator: "\n").count == 3 && wide == table.text(width: .max))
        let narrow = table.text(width: 60)
        #expect(narrow.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(narrow)")
        #expect(
            narrow == """
                  basement
                    state       online
                    last event  2019-07-06 03:19:53 UTC
                                the quick brown fox jumps over the lazy dog
                  attic
                    state       offline
                """)
    }

    @Test(arguments: [40, 60, 79, 80, 120]) func doctorFitsATerminal(width: Int) {
        var facts = Facts()
        facts.settings.exists = false
        facts.settings.path = "/etc/seismote/seismote.yaml"
        let report = DoctorReport(facts)
        let lines = report.text(width: width).split(separator: "\n", omittingEmptySubsequences: false)
        // (A word may be longer than the line.)
        #expect(lines.allSatisfy { $0.count <= width }, "\(report.text(width: width))")
        func words(_ text: String) -> [Substring] { text.split { $0 == " " || $0 == "\n" } }
        #expect(words(report.text(width: width)) == words(report.text(width: .max)))
    }

    /// As it is on a terminal, and whole where it is read by a program.
    @Test func aListOfStationsFitsATerminalOfSixtyColumns() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement")
        defer { _ = station }
        let words = ["ctl", "list", "--broker", "127.0.0.1:\(broker.port)"]
        let terminal = try TerminalProcess(words, width: 60, height: 20)
        #expect(terminal.wait() == 0)
        #expect(terminal.screen.text.contains("  basement\n    state"), "\(terminal.screen.text)")
        #expect(try Tool(words).output.contains("station"))
    }
}
