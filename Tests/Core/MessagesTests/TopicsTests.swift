import Testing

@testable import Messages

@Suite struct TopicsTests {
    @Test func everyTopicOfTheInterface() throws {
        let topics = try Topics(id: "basement-north")
        let base = "seismote/basement-north"
        #expect(topics.online == "\(base)/state/online")
        #expect(topics.info == "\(base)/state/info")
        #expect(topics.config == "\(base)/state/config")
        #expect(topics.configSchema == "\(base)/state/config/schema")
        #expect(topics.summary == "\(base)/state/summary")
        #expect(topics.health == "\(base)/state/health")
        #expect(topics.alert("sensor_missing") == "\(base)/state/alert/sensor_missing")
        #expect(topics.trigger == "\(base)/event/trigger")
        #expect(topics.last == "\(base)/event/last")
        #expect(topics.log(level: "info") == "\(base)/event/log/info")
        #expect(topics.trace == "\(base)/data/trace")
        #expect(topics.waveform(eventID: "e") == "\(base)/data/waveform/e")
        #expect(topics.historyPrefix == "\(base)/data/history")
        #expect(topics.reply(requestID: "r") == "\(base)/res/r")
        #expect(topics.command("config") == "\(base)/cmd/config")
        #expect(topics.eventID(onset: 1_767_608_430_120_000_000) == "basement-north-20260105T102030120Z")
    }

    @Test func rootsMayHaveLevels() throws {
        #expect(try Topics(root: "school/quakes", id: "a").summary == "school/quakes/a/state/summary")
    }

    @Test(arguments: ["a", "A-z_09", String(repeating: "x", count: 64)])
    func goodIDs(_ id: String) {
        #expect(Topics.problem(inID: id) == nil)
    }

    @Test(arguments: [
        "", "a b", "a/b", "a+", "#", "ä", "a.b", "group", "network", String(repeating: "x", count: 65), "a\u{0}",
    ])
    func badIDs(_ id: String) {
        #expect(throws: TopicError.self) { try Topics(id: id) }
    }

    @Test(arguments: ["", "/", "a/", "/a", "a//b", "a+", "a/#", "$SYS", "a\n", String(repeating: "x", count: 129)])
    func badRoots(_ root: String) {
        #expect(throws: TopicError.self) { try Topics(root: root, id: "a") }
    }

    @Test func theErrorNamesTheObjectAndWhatIsAllowed() {
        do {
            _ = try Topics(id: "group")
            Issue.record("'group' was taken")
        } catch {
            #expect(error.description == "station id 'group' is not allowed: any id but 'group', which is reserved")
        }
    }

    @Test(arguments: ["seismote", "school/seismote"])
    func aTopicIsTakenApart(_ root: String) throws {
        let long = String(repeating: "x", count: 64)
        for id in ["a", "basement-north", long] {
            for rest in ["state/info", "data/history/event/trigger", "x", "", "/", "a//b", "ä\u{301}/é"] {
                let (station, found) = try #require(Topics.split("\(root)/\(id)/\(rest)", root: root))
                #expect(station == id && Array(found.utf8) == Array(rest.utf8))
            }
        }
        let topics = try Topics(root: root, id: "a")
        let (station, rest) = try #require(Topics.split(topics.waveform(eventID: "e"), root: root))
        #expect(station == "a" && rest == "data/waveform/e")
        #expect(Topics.rest(of: "\(root)/network/event/last", below: "\(root)/network") == "event/last")
    }

    @Test(arguments: [
        "", "/", "seismote", "seismote/", "seismote/a", "seismote//", "seismote//a/state/info",
        "/seismote/a/state/info", "seismotes/a/state/info", "Seismote/a/state/info", "other/seismote/a/state/info",
        "seismote/group/cmd/ping",
        "seismote/network/event", "seismote/+/state/info", "seismote/#", "seismote/a+/state/info", "+/a/state/info",
        "seismote/a b/state/info", "seismote/\u{0}/state/info", "seismote/ä/state/info", "$SYS/a/state/info",
        // A slash with an accent is one letter of Swift, but two of the topic.
        "seismote/\u{301}a/state/info", "seismote\u{301}/a/state/info",
        "seismote/\(String(repeating: "x", count: 65))/state/info",
    ])
    func topicsOfNoStation(_ topic: String) {
        #expect(Topics.split(topic, root: "seismote") == nil)
        #expect(Topics.split(topic, root: "school/seismote") == nil)
    }

    @Test func whatIsSentLateGoesBelowHistory() throws {
        let topics = try Topics(root: "school/seismote", id: "north")
        let base = "school/seismote/north"
        #expect(topics.history(of: topics.trace) == "\(base)/data/history/trace")
        #expect(topics.history(of: topics.waveform(eventID: "e-1")) == "\(base)/data/history/waveform/e-1")
        #expect(topics.history(of: topics.trigger) == "\(base)/data/history/event/trigger")
        #expect(topics.history(of: topics.summary) == "\(base)/data/history/summary")
        #expect(topics.history(of: "other/thing") == "other/thing")
    }

    @Test func whatWasMadeBelowAFormerRootStaysThere() throws {
        let topics = try Topics(root: "school/seismote", id: "north")
        #expect(topics.history(of: "seismote/north/data/trace") == "seismote/north/data/history/trace")
        #expect(topics.history(of: "a/north/north/state/summary") == "a/north/north/data/history/summary")
        #expect(topics.history(of: "a/b/c/north/event/trigger") == "a/b/c/north/data/history/event/trigger")
        for other in ["seismote/south/data/trace", "north/data/trace", "seismote/north", "seismote/north/cmd/ping", ""]
        {
            #expect(topics.history(of: other) == other)
        }
    }
}
