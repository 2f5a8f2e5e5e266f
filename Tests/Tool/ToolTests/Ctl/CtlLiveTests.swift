import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CtlLiveTests {
    /// The real agent with its simulated ground.
    private static func agent(_ broker: Broker) throws -> AgentProcess {
        try AgentProcess(
            settings: """
                station: {id: basement}
                sensor: {driver: simulate, simulate: {scenario: sine}}
                conditioning: {settle_s: 0.1}
                mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)", protocol: 5}
                """)
    }

    @Test func watchListAndPingSeeTheRealAgent() throws {
        let broker = try Broker()
        let agent = try Self.agent(broker)
        let url = "127.0.0.1:\(broker.port)"
        let watch = try Tool("ctl", "watch", "--broker", url, "--count", "3", "--seconds", "50")
        #expect(watch.status == 0, "\(watch.errors) \(agent.child.errors)")
        #expect(watch.output.split(separator: "\n").filter { $0.contains("  basement  ") }.count >= 3)
        #expect(watch.output.contains("m/s²"))
        let list = try Tool("ctl", "list", "basement", "--broker", url)
        #expect(list.status == 0 && list.output.contains("basement  online"), "\(list.output)")
        #expect(list.output.contains("sine 100 Hz"))
        #expect(agent.child.isRunning)
    }

    /// libmosquitto before 2.0.16 ended the tool at the first packet.
    @Test func aBrokerCannotEndTheTool() throws {
        let broker = try DeadlyBroker()
        let list = try Tool("ctl", "list", "--broker", "127.0.0.1:\(broker.port)")
        #expect((0...3).contains(list.status ?? 255), "\(list.status) \(list.errors)")
        #expect(!broker.versions.isEmpty)
    }

    @Test(arguments: ["5", "3.1.1"]) func theRealAgentObeys(version: String) throws {
        let broker = try Broker()
        let agent = try Self.agent(broker)
        let folder = try TemporaryFolder()
        func ctl(_ arguments: String...) throws -> Tool {
            try Tool(["ctl"] + arguments + ["--broker", "127.0.0.1:\(broker.port)", "--mqtt", version])
        }
        #expect(eventually(within: 20) { (try? ctl("ping", "basement", "--timeout", "1").status) == 0 })
        let set = try ctl("set", "basement", "trace.rate_hz=10")
        #expect(set.status == 0 && set.output == "basement: rev 1, changed\n  trace.rate_hz\n", "\(set.errors)")
        #expect(try ctl("get", "basement", "--key", "trace.rate_hz").output == "basement: rev 1\n  trace.rate_hz: 10\n")
        let wrong = try ctl("set", "basement", "trace.rate_hz=-1", "trace.rat=1")
        #expect(wrong.status == 1 && wrong.errors.contains("/trace/rate_hz: ") && wrong.errors.contains("did you mean"))
        let dry = try ctl("reset", "basement", "--dry-run")
        #expect(dry.output.hasPrefix("basement: rev 1 now; this would change 1\n  trace.rate_hz: 20"), "\(dry.output)")
        // The agent connects anew with it, and has to be found again.
        let user = try ctl("set", "basement", "mqtt.username=me", "mqtt.root=other", "--confirm", "30")
        #expect(
            user.status == 0 && user.output.hasSuffix("basement: rev 2 confirmed\n"), "\(user.output) \(user.errors)")
        let back = try ctl("reset", "basement", "--confirm", "30", "--root", "other")
        #expect(
            back.status == 0 && back.output.hasSuffix("basement: rev 3 confirmed\n"), "\(back.output) \(back.errors)")
        let blocks = try ctl("stream", "basement", "--duration", "1")
        #expect(blocks.status == 0 && blocks.output.contains("\"rate_hz\":100"), "\(blocks.errors)")
        let shot = try ctl("snapshot", "basement", "--last", "1", "-o", folder.path("shot.mseed"))
        #expect(shot.status == 0 && shot.output.contains("samples"), "\(shot.output) \(shot.errors)")
        #expect(agent.child.isRunning)
    }

    @Test func watchGoesOnWhenTheBrokerComesBack() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement")
        let watch = try ChildProcess(
            AgentProcess.builtProgram("seismote"),
            ["ctl", "watch", "basement", "--broker", "127.0.0.1:\(broker.port)", "--count", "1", "--seconds", "60"])
        #expect(eventually(within: 20) { watch.output.contains("basement  online") }, "\(watch.errors)")
        broker.kill()
        #expect(eventually(within: 20) { watch.errors.contains("connection lost") })
        try broker.start()
        #expect(eventually(within: 20) { watch.errors.contains("connected again") })
        let again = try FakeStation(broker, "basement")
        again.publish("state/summary", #"{"t":"2026-01-05T10:20:30Z","valid":false,"reason":"settling"}"#)
        #expect(watch.wait(within: 20) == 0, "\(watch.output) \(watch.errors)")
        #expect(watch.output.contains("10:20:30  basement  not valid: settling"))
        _ = station
    }

    @Test func whatIsNoMessageDoesNotDisturb() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement")
        let watch = try ChildProcess(
            AgentProcess.builtProgram("seismote"),
            ["ctl", "watch", "--broker", "127.0.0.1:\(broker.port)", "--count", "3", "--seconds", "60"])
        #expect(eventually(within: 20) { watch.output.contains("basement  online") }, "\(watch.errors)")
        let deep = String(repeating: "[", count: 5000)
        for text in ["", "{", deep, #"{"a":1,"a":2}"#, "\u{0}\u{1}", #"{"t":1e999}"#] {
            station.publish("state/summary", text)
        }
        station.publish("state/summary", #"{"t":"x\u001b[2J","x":[],"intensity":{"value":1},"triggered":"yes"}"#)
        station.publish("state/summary", #"{"x":{"rms":1e308},"intensity":[1,null,{"value":1,"roman":"\u009b31mI"}]}"#)
        station.publish("state/summary", "[1]")
        #expect(watch.wait(within: 30) == 0, "\(watch.output) \(watch.errors)")
        let controls = watch.output.unicodeScalars.filter { $0.value < 0x20 && $0 != "\n" || $0.value == 0x9b }
        #expect(controls.isEmpty)
    }

    @Test func eventsOnOneLineEach() throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement")
        let events = try ChildProcess(
            AgentProcess.builtProgram("seismote"),
            ["ctl", "events", "--broker", "127.0.0.1:\(broker.port)", "--count", "2", "--seconds", "60"])
        let vector = try #require(String(data: try Vectors.data("messages/event-end.json"), encoding: .utf8))
        // It may not be subscribed yet: another message of the station each time, until it has seen enough. One that
        // comes twice is shown once.
        var number = 0
        _ = eventually(within: 40) {
            for text in [vector, vector] {
                station.publish(
                    "event/trigger", text.replacingOccurrences(of: "\"seq\":0", with: "\"seq\":\(number)"))
            }
            number += 1
            usleep(50_000)
            return !events.isRunning
        }
        #expect(events.status == 0, "\(events.errors)")
        let line =
            "2026-01-05 10:21:02  basement  end  0.41 m/s² (not certain) III (not certain)  32.5 s  earthquake 94 %  ALARM  CLIPPED  waveform of 9 records  test"
        #expect(events.output.split(separator: "\n").map(String.init) == [line, line], "\(events.output)")
    }

    @Test(arguments: [true, false]) func aSnapshotIsWholeOrNotThere(isWhole: Bool) throws {
        let broker = try Broker()
        let station = try FakeStation(broker, "basement") { station, request in
            let topic = "seismote/basement/data/history/waveform/\(request.id)"
            let pieces = ["first piece", "second piece", "third"].map { Data($0.utf8) }
            let done = station.reply(
                request,
                #""phase":"done","result":{"topic":"\#(topic)","from":"2026-01-05T10:20:30Z","to":"2026-01-05T10:21:30Z","bytes":28,"sha256":"075a221125ce8683eefb3e80a1149a6e1a4d57da328ca921cb2f7bb27891419a","messages":3,"records":3,"samples":6000,"gaps":0}"#
            )
            var all = [station.reply(request, #""phase":"accepted""#)]
            all.append(.init(topic: topic, payload: pieces[0]))
            // Comes twice, as QoS 1 may have it, and the reply comes before the last piece.
            all.append(.init(topic: topic, payload: pieces[1]))
            all.append(.init(topic: topic, payload: pieces[1]))
            all.append(done)
            if isWhole { all.append(.init(topic: topic, payload: pieces[2])) }
            return all
        }
        let folder = try TemporaryFolder()
        let tool = try Tool(
            "ctl", "snapshot", "basement", "--last", "60", "-o", folder.path("shake.mseed"), "--timeout",
            isWhole ? "20" : "1", "--broker", "127.0.0.1:\(broker.port)")
        #expect(station.requests.first?.object["last_s"] as? Double == 60)
        if isWhole {
            #expect(tool.status == 0, "\(tool.output) \(tool.errors)")
            #expect(
                try String(contentsOfFile: folder.path("shake.mseed"), encoding: .utf8)
                    == "first piecesecond piecethird")
            #expect(tool.output.contains("6000 samples, 3 records, 0 gaps\n  28 bytes in"), "\(tool.output)")
        } else {
            #expect(tool.status == 2 && tool.errors.contains("incomplete: 23 of 28 bytes"), "\(tool.errors)")
            #expect(!FileManager.default.fileExists(atPath: folder.path("shake.mseed")))
        }
    }
}
