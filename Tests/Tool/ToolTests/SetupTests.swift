import Foundation
import Instruments
import Messages
import Settings
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors
@testable import seismote

/// The conversation of `seismote setup`, without a terminal, a sensor or a broker.
@Suite struct SetupTests {
    private static func answers(_ texts: [SetupQuestion: String]) -> SetupAnswers {
        var answers = SetupAnswers()
        for (question, text) in texts { answers[question] = text }
        return answers
    }

    private static let level = SetupEvent.tapped(gravity: [0, 0, 9.81], problem: "")
    private static let clock = Diagnosis("clock_not_set", "The clock is not set.", remedy: "chrony")
    private static let set = BrokerTrial()

    /// Answers each action as a table says, or by its default; the actions in their order.
    private static func run(
        _ conversation: inout SetupConversation, _ event: (SetupAction) -> SetupEvent?
    ) -> (actions: [SetupAction], lines: [SetupLine]) {
        var (actions, lines): ([SetupAction], [SetupLine]) = ([], [])
        for _ in 0..<100 {
            let action = conversation.next()
            actions.append(action)
            lines += conversation.takeLines()
            if case .end = action { break }
            conversation.take(event(action) ?? usual(action))
            lines += conversation.takeLines()
        }
        return (actions, lines)
    }

    private static func usual(_ action: SetupAction) -> SetupEvent {
        switch action {
        case .ask(let question, _, let initial): .answer(question, initial)
        case .survey: .survey(chip: "adxl345", lines: ["/dev/i2c-1 0x53  adxl345  certain"], remedies: [])
        case .tap: level
        case .findBrokers: .brokers(["mqtts://broker.local:8883"])
        case .tryBroker: .tried(set)
        case .listen: .quiet(nil, problem: "not asked")
        case .save: .saved(true, problem: "")
        case .start: .started(problem: nil)
        case .test, .end: .tested(problem: nil, remedy: "", isFault: true)
        }
    }

    /// An anonymous broker was offered beside that of `seismote-broker`.
    @Test(arguments: [
        (["mqtt://open.local:1883", "mqtts://broker.local:8883"], true, "mqtts://broker.local:8883"),
        (["mqtt://open.local:1883"], true, "here"), ([], true, "here"),
        (["mqtt://open.local:1883"], false, "mqtt://open.local:1883"), ([], false, "mqtt://localhost:1883"),
    ])
    func whatIsSafeIsOfferedFirst(found: [String], hasOwn: Bool, offered: String) {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), hasOwnBroker: hasOwn, assumesYes: false)
        var isMade = false
        let (actions, _) = Self.run(&conversation) { action in
            if action == .findBrokers { return .brokers(found) }
            // The shell makes an account of the broker of this machine.
            guard action == .tryBroker, offered == "here", !isMade else { return nil }
            isMade = true
            return .account(broker: "mqtts://pi.local:8883", user: "pi", password: "p")
        }
        let initials = actions.compactMap { if case .ask(.broker, _, let initial) = $0 { initial } else { nil } }
        #expect(initials == [offered])
    }

    /// `46,5` was "is not a latitude", which it is for most of Europe.
    @Test func aCommaIsToldAsOne() {
        for (question, text, point) in [
            (SetupQuestion.latitude, "46,5", "46.5"), (.longitude, "-7,25", "-7.25"), (.north, "12,0", "12.0"),
        ] {
            let problem = SetupAnswers.problem(question, text)
            #expect(problem == "`\(text)` has a comma in it: use a point, \(point)")
        }
        // Beyond the range, or no number.
        for text in ["95,5", "46,5,1", ",", "a,b"] {
            #expect(SetupAnswers.problem(.latitude, text)?.contains("is not a latitude") == true, "\(text)")
        }
    }

    @Test func theNormalWayTakesWhatIsOffered() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        let (actions, lines) = Self.run(&conversation) { _ in nil }
        #expect(actions.last == .end(isDone: true))
        #expect(conversation.answers[.name] == "pi" && conversation.answers[.broker] == "mqtts://broker.local:8883")
        #expect(lines.filter { $0.kind == .step }.count == 5)
        let tried = actions.firstIndex(of: .tryBroker) ?? .max
        #expect(tried < (actions.firstIndex(of: .save) ?? 0), "tried before it is saved")
    }

    @Test func optionsAloneAskNothing() {
        let given = Self.answers([
            .sensor: "simulate", .name: "basement", .broker: "mqtt://b", .user: "", .preset: "shake",
        ])
        var conversation = SetupConversation(given: given, defaults: SetupAnswers(), assumesYes: true)
        let (actions, _) = Self.run(&conversation) { _ in nil }
        #expect(actions == [.tap, .tryBroker, .listen, .save, .start, .test, .end(isDone: true)])
    }

    @Test func withoutASensorNothingIsSaved() {
        var conversation = SetupConversation(given: SetupAnswers(), defaults: SetupAnswers(), assumesYes: true)
        let (actions, lines) = Self.run(&conversation) { action in
            action == .survey ? .survey(chip: nil, lines: [], remedies: ["sudo raspi-config nonint do_i2c 0"]) : nil
        }
        #expect(actions == [.survey, .end(isDone: false)])
        #expect(lines.contains(SetupLine(kind: .remedy, text: "sudo raspi-config nonint do_i2c 0")))
    }

    @Test func aPersonMayLookAgainAfterWiring() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var looks = 0
        let (actions, _) = Self.run(&conversation) { action in
            guard action == .survey else { return nil }
            looks += 1
            return looks == 1 ? .survey(chip: nil, lines: [], remedies: []) : nil
        }
        #expect(looks == 2 && actions.last == .end(isDone: true))
    }

    @Test func whatTheBrokerRefusesIsAskedAgain() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var trials = [
            BrokerTrial(problem: "mqtt://b: Connection refused"), BrokerTrial(problem: "refused: not authorised."),
            BrokerTrial(denied: ["seismote/pi/event/selfcheck"]), BrokerTrial(),
        ]
        let (actions, lines) = Self.run(&conversation) { action in
            action == .tryBroker ? .tried(trials.removeFirst()) : nil
        }
        #expect(actions.count { $0 == .tryBroker } == 4 && actions.last == .end(isDone: true))
        #expect(lines.contains { $0.kind == .remedy && $0.text.contains("seismote-broker invite") })
        #expect(actions.count { $0 == .save } == 1)
    }

    @Test(arguments: [
        BrokerTrial(problem: "mqtt://b: Connection refused"), BrokerTrial(denied: ["seismote/a/event/selfcheck"]),
    ])
    func withOptionsARefusalEndsBeforeAnythingIsSaved(trial: BrokerTrial) {
        let given = Self.answers([.sensor: "simulate", .name: "a", .broker: "mqtt://b", .user: ""])
        var conversation = SetupConversation(given: given, defaults: SetupAnswers(), assumesYes: true)
        let (actions, _) = Self.run(&conversation) { $0 == .tryBroker ? .tried(trial) : nil }
        #expect(actions == [.tap, .tryBroker, .end(isDone: false)])
    }

    @Test func aClockThatIsNotSetIsAskedAbout() {
        for (answer, isDone) in [("y", true), ("n", false)] {
            var conversation = SetupConversation(
                given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
            let (actions, _) = Self.run(&conversation) { action in
                switch action {
                case .tryBroker: .tried(BrokerTrial(clock: Self.clock))
                case .ask(.clock, _, _): .answer(.clock, answer)
                default: nil
                }
            }
            #expect(actions.last == .end(isDone: isDone) && actions.contains(.start) == isDone)
            // A defect: all answers were lost.
            #expect(actions.count { $0 == .save } == 1)
        }
    }

    @Test func theClockIsLookedAtOnceMore() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var clocks = [Self.clock, Self.clock, nil]
        let (actions, _) = Self.run(&conversation) { action in
            action == .tryBroker ? .tried(BrokerTrial(clock: clocks.removeFirst())) : nil
        }
        #expect(actions.count { $0 == .tryBroker } == 3 && actions.last == .end(isDone: true))
    }

    /// A person goes from the preset back to the name, and gives another latitude on the way: what was answered is on
    /// offer, nothing is measured twice, and the broker is tried again.
    @Test func onePersonGoesBackQuestionByQuestion() {
        var conversation = SetupConversation(
            given: Self.answers([.groups: "school"]), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var texts: [SetupQuestion: [String]] = [
            .name: ["attic"], .latitude: ["46"], .longitude: ["7"], .broker: ["mqtt://b"], .user: ["attic"],
            .password: ["secret", "<"], .preset: ["<"],
        ]
        // From the preset back over password, user, broker, longitude, latitude to the name.
        for question in [SetupQuestion.user, .broker, .longitude, .latitude] { texts[question]?.append("<") }
        texts[.latitude]?.append("47")
        var offered: [SetupQuestion: [String]] = [:]
        let (actions, _) = Self.run(&conversation) { action in
            guard case .ask(let question, _, let initial) = action else { return nil }
            offered[question, default: []].append(initial)
            if texts[question]?.isEmpty == false { return .answer(question, texts[question]?.removeFirst()) }
            return .answer(question, initial)
        }
        #expect(actions.last == .end(isDone: true))
        #expect(offered[.name]?.last == "attic" && offered[.longitude]?.last == "7")
        #expect(offered[.broker]?.last == "mqtt://b")
        #expect(offered[.latitude] == ["", "46", "46"] && offered[.password]?.allSatisfy(\.isEmpty) == true)
        let expected: [SetupQuestion: String] = [
            .name: "attic", .latitude: "47", .longitude: "7", .groups: "school", .broker: "mqtt://b", .user: "attic",
            .password: "secret",
        ]
        for (question, text) in expected { #expect(conversation.answers[question] == text, "\(question)") }
        #expect(offered[.groups] == nil && actions.count { $0 == .listen } == 1)
        #expect(actions.count { $0 == .tryBroker } == 2)
    }

    @Test func theFirstQuestionHasNoneBeforeIt() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var said = ["<", "auto"]
        let (actions, lines) = Self.run(&conversation) { action in
            if case .ask(.sensor, _, _) = action { return .answer(.sensor, said.removeFirst()) }
            return nil
        }
        #expect(said.isEmpty && actions.last == .end(isDone: true))
        #expect(lines.contains { $0.text.contains("first question") })
    }

    /// What is shown before it is written can be gone back from.
    @Test func whatIsNotToBeWrittenYetIsAskedAgain() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var saves = 0
        let (actions, _) = Self.run(&conversation) { action in
            if action == .save { saves += 1 }
            return action == .save && saves == 1 ? .answer(.save, "<") : nil
        }
        let presets = actions.count { if case .ask(.preset, _, _) = $0 { true } else { false } }
        #expect(saves == 2 && presets == 2 && actions.last == .end(isDone: true))
    }

    /// A defect: the broker tells the viewer's password once, and whoever had to run the setup again never saw it.
    @Test func theViewersPasswordIsKnownInTheSecondRun() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder()
        try folder.write(
            "seismote-broker",
            """
            #!/bin/sh
            [ "$1" = add ] && [ -e "$0.made" ] && exit 1
            touch "$0.made"
            [ "$3" = --viewer ] && viewer=',"viewer":{"name":"viewer","password":"k7mq"}'
            echo "{\\"broker\\":\\"mqtt://127.0.0.1:\(broker.port)\\",\\"password\\":\\"p\\"$viewer}"

            """)
        chmod(folder.path("seismote-broker"), 0o755)
        let words = [
            "PATH=\(folder.path("")):\(ProcessInfo.processInfo.environment["PATH"] ?? "")",
            AgentProcess.builtProgram("seismote"), "setup", "--yes", "--no-start", "--sensor", "simulate", "--name",
            "pi", "--broker", "here", "--noise-seconds", "0", "--config", folder.path("seismote.yaml"),
        ]
        for run in 1...2 {
            let setup = try ChildProcess("/usr/bin/env", words)
            #expect(setup.wait(within: 60) != nil)
            #expect(setup.output.contains("viewer with the password k7mq"), "\(run): \(setup.output)\(setup.errors)")
        }
        var facts = stat()
        #expect(stat(folder.path("viewer-password"), &facts) == 0 && facts.st_mode & 0o777 == 0o600)
    }

    /// A defect: on a console of 60 columns the sentences were cut in the middle of their words.
    @Test func sentencesAreBrokenAtTheirWordsOnANarrowTerminal() throws {
        let folder = try TemporaryFolder()
        let program = AgentProcess.builtProgram("seismote")
        // (The end of the input comes with the first question.)
        let words =
            "stty cols 60 && timeout 30 '\(program)' setup --no-start --config '\(folder.path("seismote.yaml"))'"
        let setup = try ChildProcess(
            "/bin/sh", ["-c", "exec script -qec \"$0\" /dev/null </dev/null", words])
        #expect(setup.wait(within: 60) != nil)
        let lines = setup.output.split(whereSeparator: \.isNewline)
        #expect(lines.contains { $0.contains("1 of 5") } && lines.count > 5, "\(setup.output)\(setup.errors)")
        #expect(lines.allSatisfy { $0.count <= 60 }, "\(setup.output)")
    }

    /// A broker that announces itself has an authority that nobody knows: the conversation ended there.
    @Test func aBrokerWithTLSAsksForItsFingerprint() {
        let digits = "SHA256:" + String(repeating: "A1", count: 32)
        func asked(_ given: [SetupQuestion: String], known: [String] = []) -> Bool {
            var conversation = SetupConversation(
                given: Self.answers(given), defaults: Self.answers([.name: "pi"]), known: known, assumesYes: false)
            var said = ["SHA256:A1", digits]
            let (actions, lines) = Self.run(&conversation) { action in
                if case .ask(.fingerprint, _, _) = action { return .answer(.fingerprint, said.removeFirst()) }
                return nil
            }
            #expect(actions.last == .end(isDone: true))
            if said.isEmpty {
                #expect(conversation.answers[.fingerprint] == digits)
                #expect(lines.contains { $0.kind == .fault && $0.text.contains("64 hexadecimal digits") })
            }
            return said.count < 2
        }
        #expect(asked([:]))
        #expect(!asked([.broker: "mqtt://b"]) && !asked([.fingerprint: ""]) && !asked([.broker: "here"]))
        #expect(!asked([:], known: ["mqtts://broker.local:8883"]))
    }

    /// A clock that is wrong by half a second was taken for one that is not set.
    @Test func aClockThatIsOnlyInaccurateAsksNothing() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        let clock = Diagnosis("clock_inaccurate", .warning, "The clock may be wrong by 470 ms.", remedy: "GPS")
        let (actions, lines) = Self.run(&conversation) { $0 == .tryBroker ? .tried(BrokerTrial(clock: clock)) : nil }
        #expect(actions.last == .end(isDone: true) && lines.contains { $0.text.contains("470 ms") })
        let asked = actions.contains { action in
            if case .ask(.clock, _, _) = action { return true }
            return false
        }
        #expect(!asked)
    }

    @Test func gravityOnAnotherAxisProposesAMap() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        _ = Self.run(&conversation) { $0 == .tap ? .tapped(gravity: [9.8, 0, 0], problem: "") : nil }
        #expect(conversation.mounting == ["x": "+y", "y": "+z", "z": "+x"])
    }

    @Test func anAnswerThatIsNoneIsAskedAgain() {
        var conversation = SetupConversation(
            given: SetupAnswers(), defaults: Self.answers([.name: "pi"]), assumesYes: false)
        var said = ["a/b", "attic"]
        let (_, lines) = Self.run(&conversation) { action in
            if case .ask(.name, _, _) = action { return .answer(.name, said.removeFirst()) }
            return nil
        }
        #expect(
            conversation.answers[.name] == "attic" && lines.contains { $0.kind == .fault && $0.text.contains("a/b") })
    }

    @Test func theEndOfTheInputSavesNothing() {
        var conversation = SetupConversation(given: SetupAnswers(), defaults: SetupAnswers(), assumesYes: false)
        let (actions, lines) = Self.run(&conversation) { action in
            if case .ask(let question, _, _) = action { return .answer(question, nil) }
            return nil
        }
        #expect(actions.last == .end(isDone: false) && !actions.contains(.save))
        #expect(lines.last?.kind == .info && lines.last?.text.contains("nothing was saved") == true)
    }

    @Test func aBusOnWhichNothingAnswersAsksForTheWires() {
        var survey = Survey()
        survey.buses = [.init(number: 1, name: "bcm2835")]
        guard case .survey(let chip, let lines, let remedies) = SetupSensor.event(survey) else { return }
        #expect(chip == nil && remedies.count == 1 && remedies[0].contains("SDA to pin 3"), "\(lines)")
        // What answers at the wrong address is named.
        survey.findings = [
            .init(place: .i2c(bus: 1, address: 0x1d), chip: "adxl345", certainty: .certain)
        ]
        guard case .survey(let found, let said, let none) = SetupSensor.event(survey) else { return }
        #expect(
            found == "adxl345" && said.contains { $0.contains("/dev/i2c-1 0x1d  adxl345  certain") } && none.isEmpty)
    }

    @Test func aBusThatIsHeldIsSaidToBe() {
        var survey = Survey()
        survey.buses = [.init(number: 1, name: "bcm2835")]
        survey.findings = [
            .init(
                place: .i2c(bus: 1, address: 0x18), chip: "", certainty: .unknown,
                obstacles: [Obstacle(SensorError(.fault, "transfer with 0x18 on /dev/i2c-1 failed"))])
        ]
        guard case .survey(_, let lines, let remedies) = SetupSensor.event(survey) else { return }
        #expect(remedies.contains { $0.contains("SDA or SCL is at GND") })
        // That there is nothing is said once.
        #expect(!lines.contains { $0.contains("driver: auto") })
    }

    @Test func aMachineWithoutI2CIsToldHowToSwitchItOn() {
        var survey = Survey()
        survey.obstacles = [Obstacle(SensorError(.missing, "no I2C bus is switched on"), command: Obstacle.enableI2C)]
        guard case .survey(_, let lines, let remedies) = SetupSensor.event(survey) else { return }
        #expect(remedies == [Obstacle.enableI2C] && !lines.contains { $0.contains("raspi-config") })
    }

    // MARK: files

    @Test func aValueIsChangedInItsLineAndCommentsStay() throws {
        let text = """
            # Mine
            station:
              # the cellar
              id: "old"   # renamed
            mqtt:
              tls:
                ca_file: /a
            log: {level: info}

            """
        let new = try SettingsEdit.edit(
            text,
            [
                "station": ["id": "new", "latitude": 47.5], "mqtt": ["tls": ["ca_file": .null], "uri": "mqtt://b"],
                "trace": ["rate_hz": 10],
            ])
        #expect(new.hasPrefix("# Mine\nstation:\n  # the cellar\n  id: new\n  latitude: 47.5\nmqtt:\n"), "\(new)")
        #expect(!new.contains("ca_file") && new.contains("trace:\n  rate_hz: 10\n"), "\(new)")
        let loaded = try Settings.load(file: Array(new.utf8)).configuration
        #expect(loaded.station.id == "new" && loaded.mqtt.uris == ["mqtt://b"] && loaded.trace.rate == 10)
    }

    @Test func whatIsWrittenOnOneLineIsWrittenAnew() throws {
        let new = try SettingsEdit.edit("mqtt: {uri: mqtt://a, root: school}\n", ["mqtt": ["uri": "mqtt://b"]])
        let loaded = try Settings.load(file: Array(new.utf8)).configuration
        #expect(loaded.mqtt.uris == ["mqtt://b"] && loaded.mqtt.root == "school")
    }

    /// Groups on one line were written anew, without their comments, for a preset that changes nothing in them.
    @Test func whatIsSoAlreadyStaysAsItIsWritten() throws {
        let text = "# Mine\nsensor: {driver: simulate} # no chip\nstation: {id: a}\n"
        let answers = Self.answers([.sensor: "simulate", .name: "a", .preset: "seismology", .broker: "mqtt://b"])
        let new = try SettingsEdit.edit(text, answers.patch(SetupFiles(), mounting: nil))
        #expect(new == text + "mqtt:\n  uri: \"mqtt://b\"\n", "\(new)")
    }

    /// All keys of the annotated file are there already.
    @Test func theAnnotatedFileKeepsItsExplanations() throws {
        let new = try SettingsEdit.edit(
            DefaultFile.text, ["station": ["id": "a"], "mqtt": ["tls": ["ca_file": "/ca"]]])
        let changed = zip(new.split(separator: "\n"), DefaultFile.text.split(separator: "\n")).filter { $0 != $1 }
        #expect(changed.map { String($0.0) } == ["  id: a", "    ca_file: /ca"])
    }

    @Test func anotherPresetTakesTheFirstOneBack() throws {
        var text = ""
        for name in ["classroom", "quiet-vault", "seismology"] {
            var answers = Self.answers([.name: "a"])
            answers[.preset] = name
            text = try SettingsEdit.edit(text, answers.patch(SetupFiles(), mounting: nil))
            let alone = try Settings.load(
                preset: Preset.all.first { $0.name == name }.map { Array($0.text.utf8) }, overrides: ["station.id=a"])
            #expect(try Settings.load(file: Array(text.utf8)).configuration == alone.configuration, "\(name): \(text)")
        }
    }

    /// The device in Home Assistant leads to the station's page.
    @Test func thePageIsWrittenForHomeAssistant() throws {
        var files = SetupFiles()
        files.page = "https://broker.local/#/station/{id}"
        let text = try SettingsEdit.edit("", Self.answers([.name: "a"]).patch(files, mounting: nil))
        let loaded = try Settings.load(file: Array(text.utf8)).configuration
        #expect(loaded.mqtt.homeAssistant.page == files.page)
        #expect(Self.answers([.name: "a"]).patch(SetupFiles(), mounting: nil)["mqtt"] == nil)
    }

    /// A defect: a link was replaced by a file, and what it led to stayed as it was.
    @Test func aLinkStaysOneAndWhatItLeadsToIsWritten() throws {
        let folder = try TemporaryFolder()
        try FileChange(path: folder.path("real.yaml"), text: "a: 1\n").write()
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.yaml"), withDestinationPath: "real.yaml")
        try FileChange(path: folder.path("link.yaml"), text: "a: 2\n").write()
        #expect(SmallFiles.text(folder.path("real.yaml")) == "a: 2\n")
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.yaml"))) == "real.yaml")
        // A secret is written where it is said to be.
        try FileChange(path: folder.path("link.yaml"), text: "secret", isForRoot: true).write()
        #expect(SmallFiles.text(folder.path("real.yaml")) == "a: 2\n")
    }

    /// A defect: "Device or resource busy". A settings file that is mounted into a container cannot be replaced.
    /// A defect: "Read-only file system" of `other.yaml.new`, where the folder of that mount is read-only (a container's root).
    @Test(.enabled(if: geteuid() == 0), arguments: [false, true])
    func aFileOnItsOwnMountIsWritten(folderIsReadOnly: Bool) throws {
        let folder = try TemporaryFolder()
        for name in ["one.yaml", "other.yaml"] {
            try FileChange(path: folder.path(name), text: "station: {id: a}\n").write()
        }
        let home = folder.url.path
        let readOnly = "mount --rbind \(home) \(home) && mount -o remount,ro,bind \(home) &&"
        let script = """
            mount --bind \(folder.path("one.yaml")) \(folder.path("other.yaml")) &&
            \(folderIsReadOnly ? readOnly : "")
            cd \(home) && \(AgentProcess.builtProgram("seismote")) config preset construction --config other.yaml
            """
        let child = try ChildProcess("/usr/bin/unshare", ["-m", "/bin/sh", "-c", script])
        #expect(child.wait(within: 60) == 0, "\(child.output)\(child.errors)")
        #expect(SmallFiles.text(folder.path("one.yaml"))?.contains("vibration") == true)
        #expect(SmallFiles.text(folder.path("other.yaml")) == "station: {id: a}\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
    }

    /// A page of the documents wrote the whole file anew for a change of the broker: the sensor and the place were gone.
    @Test func settingsAreChangedInAFileThatKeepsTheRest() throws {
        let folder = try TemporaryFolder()
        let file = folder.path("s.yaml")
        let text = "station: {id: a, latitude: 47.5} # the cellar\nmqtt:\n  uri: mqtt://a\n  username: a\n"
        try FileChange(path: file, text: text).write()
        func set(_ words: String...) throws -> (status: Int?, output: String) {
            let child = try ChildProcess(
                AgentProcess.builtProgram("seismote"), ["config", "set", "--config", file] + words)
            return (child.wait(within: 60), child.output + child.errors)
        }
        var done = try set("mqtt.uri=mqtts://b", "mqtt.username=", "trace.rate_hz=10", "--dry-run")
        #expect(done.status == 0 && done.output.contains("+  uri: \"mqtts://b\""), "\(done.output)")
        #expect(SmallFiles.text(file) == text)
        done = try set("mqtt.uri=mqtts://b", "mqtt.username=", "trace.rate_hz=10")
        let changed = """
            station: {id: a, latitude: 47.5} # the cellar
            mqtt:
              uri: "mqtts://b"
            trace:
              rate_hz: 10

            """
        #expect(done.status == 0 && SmallFiles.text(file) == changed, "\(done.output)")
        done = try set("mqtt.uri=mqtts://b")
        #expect(done.status == 0 && done.output.contains("already has these values"), "\(done.output)")
        for wrong in ["trace.rate_hz=-1", "trace.rate=10", "mqtt.uri=ws://b", "trace.rate_hz"] {
            done = try set(wrong, "station.id=b")
            #expect(done.status != 0 && SmallFiles.text(file) == changed, "\(wrong): \(done.output)")
        }
    }

    @Test func aPasswordIsNotShown() {
        #expect(FileChange.masked("+  password: secret") == "+  password: ***")
        #expect(FileChange.masked("-mqtt: {username: a, password: b}") == "-mqtt: {username: a, password: ***")
        #expect(FileChange.masked("+  password_file: /a") == "+  password_file: /a")
    }

    @Test func brokersThatAnnounceThemselves() {
        let lines = """
            +;eth0;IPv4;Seismote\\032broker;_secure-mqtt._tcp;local
            =;eth0;IPv4;Seismote\\032broker;_secure-mqtt._tcp;local;cellar.local;192.168.1.2;8883;"product=seismote"
            =;eth0;IPv6;Seismote\\032broker;_secure-mqtt._tcp;local;cellar.local;fe80::1;8883;
            =;eth0;IPv4;bad;_mqtt._tcp;local;$(reboot);192.168.1.3;1883;
            """
        #expect(BrokerFinder.brokers(lines, tls: true) == ["mqtts://cellar.local:8883"])
        // Without libnss-mdns no name that ends in .local is known.
        #expect(BrokerFinder.brokers(lines, tls: true) { _ in false } == ["mqtts://192.168.1.2:8883"])
    }

    @Test(arguments: [
        ("simulate", true), ("i2c:1:0x53", true), ("i2c:1:7", false), ("iio:adxl355", true), ("usb", false),
    ])
    func sensorsByTheirShortNames(text: String, isOne: Bool) {
        #expect((SetupAnswers.sensorPatch(text) != nil) == isOne)
    }

    @Test(arguments: [(0.0001, "quiet-vault"), (0.003, "seismology"), (0.1, "classroom")])
    func thePresetFollowsTheNoise(noise: Double, preset: String) throws {
        var recording = RestRecording(rate: 100)
        var configuration = SensorConfiguration()
        configuration.simulate.noise = noise
        var sensor = SimulateSensor(configuration, speed: 0)
        _ = try sensor.open()
        var block = SampleBlock(capacity: 100)
        while recording.seconds < 5, try sensor.read(into: &block) == .samples { recording.append(block) }
        let report = try #require(NoiseReport(recording, chip: "adxl345"))
        #expect(report.preset == preset, "\(report)")
        #expect(report.lines.contains { $0.contains("data sheet of the adxl345") })
    }
}
