import Foundation
import TestSupport
import Testing

/// The real agent with a real mosquitto: what the first issue promises. One at a time, since times are measured.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AgentProcessTests {
    static let state = "seismote/board/state"

    /// Speaks MQTT 5, which not every library is asked to do by itself, when `mqtt` does not say otherwise.
    static func settings(_ port: Int, _ more: String = "", mqtt: String = "") -> String {
        """
        station: {id: board}
        sensor: {driver: simulate, simulate: {scenario: table-knock}}
        mqtt: {uri: "mqtt://127.0.0.1:\(port)"\(mqtt)\(mqtt.contains("protocol") ? "" : ", protocol: 5")}
        \(more)
        """
    }

    @Test(arguments: ["5", "\"3.1.1\""]) func aLateSubscriberLearnsAllState(version: String) throws {
        let broker = try Broker()
        let agent = try AgentProcess(settings: Self.settings(broker.port, mqtt: ", protocol: \(version)"))
        let early = try Subscriber(port: broker.port)
        #expect(early.first(within: 20) { $0.topic == "\(Self.state)/summary" } != nil, "\(agent.child.errors)")
        let late = try Subscriber(port: broker.port, ["seismote/#"])
        for name in ["online", "info", "config", "config/schema", "summary", "health"] {
            let message = late.first { $0.topic == "\(Self.state)/\(name)" && $0.retained }
            #expect(message != nil, "\(name)")
        }
        #expect(late.messages(on: "\(Self.state)/online").first?.text == "online")
        let info = try #require(late.messages(on: "\(Self.state)/info").first).json
        #expect((info["station"] as? [String: Any])?["id"] as? String == "board")
        #expect((info["sensor"] as? [String: Any])?["driver"] as? String == "simulate")
        let boots = Set(late.messages.compactMap { $0.json["boot"] as? String })
        #expect(boots.count == 1)
    }

    @Test(arguments: [0, 1]) func offlineIsSeenAfterKill9(willDelay: Int) throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port, ["\(Self.state)/online"])
        let agent = try AgentProcess(settings: Self.settings(broker.port, mqtt: ", will_delay_s: \(willDelay)"))
        #expect(listener.first(within: 20) { $0.text == "online" } != nil, "\(agent.child.errors)")
        let began = ProcessInfo.processInfo.systemUptime
        agent.child.signal(SIGKILL)
        let offline = try #require(listener.first { $0.text == "offline" })
        let delay = offline.arrived - began
        print("offline \(delay) s after kill -9 with a will delay of \(willDelay) s")
        // The broker sees it by the end of the connection: by the keepalive it would be 90 s.
        #expect(delay < Double(willDelay) + 25)
        if willDelay > 0 { #expect(delay > 0.5) }
    }

    /// `systemctl reload`: the same process, orderly, with the settings file as it is now.
    @Test func aHangUpBeginsAnewWithTheSettingsFile() throws {
        let broker = try Broker()
        let agent = try AgentProcess(settings: Self.settings(broker.port))
        let listener = try Subscriber(port: broker.port)
        let first = listener.first(within: 20) { $0.topic == "\(Self.state)/info" }
        let before = try #require(first, "\(agent.child.errors)").json["boot"] as? String
        let file = agent.folder.path("seismote.yaml")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try text.replacing("id: board", with: "id: board, description: Cellar").write(
            toFile: file, atomically: true, encoding: .utf8)
        agent.child.signal(SIGHUP)
        let next = listener.first(within: 20) {
            $0.topic == "\(Self.state)/info" && $0.json["boot"] as? String != before
        }
        let info = try #require(next, "\(agent.child.errors)")
        #expect((info.json["station"] as? [String: Any])?["description"] as? String == "Cellar")
        #expect(listener.first { $0.text == "offline" } != nil)
        // A child that had ended and been replaced would not answer.
        #expect(agent.child.isRunning)
    }

    @Test func aKilledBrokerIsFoundAgainAndTheSamplingHasNoGap() throws {
        let broker = try Broker()
        var first: Subscriber? = try Subscriber(port: broker.port)
        let agent = try AgentProcess(
            settings: Self.settings(broker.port, "health: {interval_s: 1}", mqtt: ", will_delay_s: 1"))
        #expect(first?.first(within: 20) { $0.json["seq"] as? Int == 3 && $0.topic.hasSuffix("/trace") } != nil)
        // The connection has to hold for a moment to count as a good one.
        #expect(first?.first(within: 20) { $0.json["seq"] as? Int == 5 && $0.topic.hasSuffix("/trace") } != nil)
        broker.kill()
        let before = try #require(first).messages
        first = nil
        try broker.start()
        let restarted = ProcessInfo.processInfo.systemUptime
        let second = try Subscriber(port: broker.port)
        let back = try #require(second.first { $0.text == "online" }, "\(agent.child.errors)")
        print("found again \(back.arrived - restarted) s after the restart")
        #expect(back.arrived - restarted < 5)
        let reached = second.first(within: 20) { ($0.json["seq"] as? Int ?? 0) >= 12 && $0.topic.hasSuffix("/trace") }
        #expect(reached != nil)
        // Every block of traces, each starting where the one before ended.
        var times: [Int: String] = [:]
        for message in before + second.messages where message.topic.hasSuffix("/trace") {
            guard let number = message.json["seq"] as? Int else { continue }
            times[number] = message.json["t"] as? String
            #expect(message.json["gap"] as? Bool == (number == 0) || message.json["gap"] as? Bool == false)
        }
        let last = try #require(times.keys.max())
        #expect(times.keys.sorted() == Array(0...last))
        let seconds = try (0...last).map { try #require(Self.seconds(times[$0] ?? "")) }
        for (one, next) in zip(seconds, seconds.dropFirst()) { #expect(abs(next - one - 1) < 0.002) }
        let health = try #require(second.messages.last { $0.topic == "\(Self.state)/health" }).json
        #expect(health["gaps"] as? Int == 0)
        #expect(health["lost_samples"] as? Int == 0)
        let traffic = try #require(health["mqtt"] as? [String: Any])
        #expect(traffic["connects"] as? Int == 2)
        // Of the reports themselves a newer one may have replaced some; as many are told.
        let healths = (before + second.messages).filter { $0.topic == "\(Self.state)/health" }
        let reports = Set(healths.compactMap { $0.json["seq"] as? Int })
        let missing = try #require(reports.max()) + 1 - reports.count
        #expect(missing <= traffic["replaced"] as? Int ?? -1, "\(reports.sorted())")
        // The last will and its delay hold for the second connection as for the first.
        let killed = ProcessInfo.processInfo.systemUptime
        agent.child.signal(SIGKILL)
        let offline = try #require(second.first { $0.text == "offline" })
        #expect(offline.arrived - killed > 0.5 && offline.arrived - killed < 3)
    }

    /// Seconds of a day.
    static func seconds(_ time: String) -> Double? {
        let parts = time.dropFirst(11).dropLast().split(separator: ":")
        guard parts.count == 3, let h = Double(parts[0]), let m = Double(parts[1]), let s = Double(parts[2]) else {
            return nil
        }
        return h * 3600 + m * 60 + s
    }

    @Test func sigtermClosesTheEventEmptiesTheQueueAndSaysOffline() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        // A test signal that is always above the threshold: an event that never ends by itself.
        let agent = try AgentProcess(
            settings: Self.settings(
                broker.port,
                """
                conditioning: {offset: {mode: none}, settle_s: 0}
                axes: {all: {signal: {sine: {amplitude: 1 g, frequency_hz: 2}}}}
                """))
        #expect(
            listener.first(within: 20) { $0.json["event_type"] as? String == "onset" } != nil, "\(agent.child.errors)")
        #expect(listener.first { $0.json["event_type"] as? String == "update" } != nil)
        let watch = Stopwatch()
        agent.child.signal(SIGTERM)
        #expect(agent.child.wait(within: 10) == 0)
        #expect(watch.seconds < 5)
        #expect(listener.first { $0.text == "offline" } != nil)
        let topics = listener.messages.map(\.topic)
        let end = try #require(listener.messages.firstIndex { $0.json["event_type"] as? String == "end" })
        #expect(listener.messages.last?.text == "offline")
        #expect(end < topics.count - 1)
        #expect(topics.contains("seismote/board/event/last"))
    }

    @Test func withoutABrokerItStillSamplesAndStillEndsInTime() throws {
        let agent = try AgentProcess(settings: Self.settings(try FreePort.find()))
        #expect(eventually { agent.child.errors.contains("not connected") })
        let watch = Stopwatch()
        agent.child.signal(SIGINT)
        #expect(agent.child.wait(within: 10) == 0)
        #expect(watch.seconds < 5)
        #expect(agent.child.errors.contains("ended samples="))
    }

    @Test func aMissingRecordingIsAnAlertUntilItIsThere() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder()
        let listener = try Subscriber(port: broker.port)
        let settings = """
            station: {id: board}
            sensor: {driver: replay, replay: {file: "\(folder.path("record.csv"))", speed: 0}}
            mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)"}
            """
        let agent = try AgentProcess(settings: settings)
        let topic = "\(Self.state)/alert/sensor_missing"
        let alert = try #require(listener.first { $0.topic == topic }, "\(agent.child.errors)").json
        #expect(alert["code"] as? String == "sensor_missing")
        #expect((alert["message"] as? String)?.contains("record.csv") == true)
        #expect(
            listener.first {
                $0.topic == "\(Self.state)/health" && $0.json["sensor"] as? String == "missing"
                    && $0.json["alerts"] as? [String] == ["sensor_missing"]
            } != nil)
        let rows = (0..<1000).map { "\(Double($0) / 100),0.001,0.002,9.81" }.joined(separator: "\n")
        try folder.write("record.tmp", "t,x,y,z\n" + rows + "\n")
        try FileManager.default.moveItem(atPath: folder.path("record.tmp"), toPath: folder.path("record.csv"))
        #expect(listener.first(within: 40) { $0.topic == topic && $0.payload.isEmpty } != nil)
        // The recording is over, the agent lives on.
        let ended = listener.first {
            $0.topic == "\(Self.state)/health" && $0.json["sensor"] as? String == "stalled"
                && $0.json["samples"] as? Int == 1000
        }
        #expect(ended != nil, "\(agent.child.errors)")
        #expect(agent.child.isRunning)
        let late = try Subscriber(port: broker.port)
        #expect(late.first { $0.text == "online" } != nil)
        #expect(late.messages(on: topic).isEmpty)
    }

    @Test func atTheEndOfARecordingItEndsWhenAskedTo() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let folder = try TemporaryFolder()
        let rows = (0..<3000).map { "\(Double($0) / 100),0.001,0.002,9.81" }.joined(separator: "\n")
        let file = try folder.write("record.csv", "t,x,y,z\n" + rows + "\n")
        let arguments = [
            "--exit-at-end", "--set", "sensor.driver=replay", "--set", "sensor.replay.file=\(file)", "--set",
            "sensor.replay.speed=30",
        ]
        let agent = try AgentProcess(settings: Self.settings(broker.port), arguments: arguments)
        #expect(agent.child.wait(within: 20) == 0, "\(agent.child.errors)")
        #expect(listener.first { $0.text == "offline" } != nil)
        let traces = listener.messages(on: "seismote/board/data/trace").compactMap { $0.json["seq"] as? Int }
        #expect(traces == Array(0..<traces.count))
        #expect(traces.count >= 30)
        let missing = try AgentProcess(
            settings: Self.settings(broker.port), arguments: arguments + ["--set", "sensor.replay.file=/nowhere"])
        #expect(missing.child.wait(within: 20) == 1)
        #expect(missing.child.errors.contains("/nowhere"))
    }

    @Test func badSettingsAreAllNamedAndNothingElseHappens() throws {
        let broker = try Broker()
        let listener = try Subscriber(port: broker.port)
        let agent = try AgentProcess(
            settings: Self.settings(broker.port, "trace: {rate_hz: -1, colour: red}\nhealth: {interval_s: never}"))
        #expect(agent.child.wait(within: 10) == 78)
        for path in ["/trace/rate_hz", "/trace/colour", "/health/interval_s"] {
            #expect(agent.child.errors.contains(path))
        }
        #expect(listener.messages.isEmpty)
        let usage = try ChildProcess(AgentProcess.program, ["--nonsense"])
        #expect(usage.wait(within: 10) == 64)
        let version = try ChildProcess(AgentProcess.program, ["--version"])
        #expect(version.wait(within: 10) == 0)
        #expect(version.output.hasPrefix("seismoted "))
        let check = try ChildProcess(AgentProcess.program, ["--check", "--preset", "shake"])
        #expect(check.wait(within: 10) == 0)
        let noFile = try ChildProcess(AgentProcess.program, ["--config", "/nowhere.yaml"])
        #expect(noFile.wait(within: 10) == 78)
    }

    @Test func thePasswordIsNeverInTheLogNorOnTheWire() throws {
        let folder = try TemporaryFolder()
        let secret = "verySecret-\(UUID().uuidString)"
        let passwords = folder.path("passwords")
        #expect(
            try ChildProcess("/usr/bin/mosquitto_passwd", ["-c", "-b", passwords, "board", secret]).wait(within: 9) == 0
        )
        let broker = try Broker("allow_anonymous false\npassword_file \(passwords)")
        let file = try folder.write("password", secret + "\n")
        let agent = try AgentProcess(
            settings: Self.settings(
                broker.port, "log: {level: debug}", mqtt: ", username: board, password_file: \"\(file)\""))
        let listener = try Subscriber(port: broker.port, username: "board", password: secret)
        #expect(listener.first(within: 20) { $0.topic == "\(Self.state)/summary" } != nil, "\(agent.child.errors)")
        #expect(listener.messages.allSatisfy { !$0.text.contains(secret) })
        #expect(!agent.child.errors.contains(secret))
        #expect(!agent.child.errors.isEmpty)
    }

    @Test func systemdIsToldAndTheWatchdogIsFed() throws {
        let broker = try Broker()
        let folder = try TemporaryFolder()
        let socket = try HostTests.NotifySocket(folder.path("notify"))
        let agent = try AgentProcess(
            settings: Self.settings(broker.port),
            environment: ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "1000000"])
        var heard: [String] = []
        _ = eventually(within: 20) {
            while let next = socket.next() { heard.append(next) }
            return heard.filter { $0 == "WATCHDOG=1" }.count >= 3
        }
        #expect(heard.first?.hasPrefix("READY=1") == true)
        #expect(heard.filter { $0 == "WATCHDOG=1" }.count >= 3)
        agent.child.signal(SIGTERM)
        #expect(agent.child.wait(within: 10) == 0)
        while let next = socket.next() { heard.append(next) }
        #expect(heard.last?.hasPrefix("STOPPING=1") == true)
    }
}
