import Testing

@testable import Messages

@Suite struct ReplyDestinationTests {
    @Test(arguments: [
        "replies/me", "rr/1", "seismote/ctl/replies/7", "seismote/basement/res/abc", "other/basement/state/online",
        "seismotes/basement/cmd/ping", "x", "/", "cmd/ping",
    ])
    func isTaken(_ topic: String) throws {
        let topics = try Topics(id: "basement")
        #expect(ReplyDestination.problem(inResponseTopic: topic, of: topics) == nil)
    }

    /// Whoever asks must not have the agent speak with its own rights where commands are read, or in its own name.
    @Test(arguments: [
        "", "a/+", "a/#", "#", "$SYS/x", "a\u{0}b", "a\nb", "seismote/basement/cmd/ping", "seismote/other/cmd/restart",
        "seismote/group/all/cmd/config", "seismote/basement/state/online", "seismote/basement/event/trigger",
        "seismote/basement/data/trace", "seismote/basement", "seismote/basement/res",
    ])
    func isRefused(_ topic: String) throws {
        let topics = try Topics(id: "basement")
        #expect(ReplyDestination.problem(inResponseTopic: topic, of: topics) != nil)
    }

    @Test func isRefusedWhenTooLong() throws {
        let topics = try Topics(id: "basement")
        let longest = String(repeating: "a", count: ReplyDestination.topicBytes)
        #expect(ReplyDestination.problem(inResponseTopic: longest, of: topics) == nil)
        #expect(ReplyDestination.problem(inResponseTopic: longest + "a", of: topics) != nil)
    }

    @Test(arguments: ["1", "a-b_c.d:e~f@g=", "6a1f3c52-9d0e-4b7a-8f21-0c5d7e9b1a34"])
    func requestIDIsTaken(_ id: String) { #expect(Topics.problem(inRequestID: id) == nil) }

    @Test(arguments: ["", "a/b", "a b", "+", "#", "é", "a\u{0}", String(repeating: "a", count: 65)])
    func requestIDIsRefused(_ id: String) { #expect(Topics.problem(inRequestID: id) != nil) }

    @Test func commandFiltersAreThoseOfTheStationAndItsGroups() throws {
        let topics = try Topics(root: "school/seismote", id: "basement")
        let wanted = [
            "school/seismote/basement/cmd/#", "school/seismote/group/all/cmd/#", "school/seismote/group/north/cmd/#",
        ]
        #expect(topics.commandFilters(groups: ["north", "all"]) == wanted)
    }
}
