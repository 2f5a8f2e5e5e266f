import Messages
import Testing

@testable import Commands

/// The rules that hold for every command.
@Suite struct CommandGateTests {
    static let second: Int64 = 1_000_000_000
    /// 2026-01-05T10:20:30.12Z
    static let wall: Int64 = 1_767_608_430_120_000_000

    struct Always: RandomNumberGenerator {
        var value: UInt64
        mutating func next() -> UInt64 { value }
    }

    static func gate(_ groups: [String] = ["north"], memory: CommandMemory = CommandMemory()) throws -> CommandGate {
        CommandGate(topics: try Topics(id: "board"), groups: groups, memory: memory)
    }

    static func message(_ verb: String, _ payload: String = "", group: String? = nil) -> InboundMessage {
        let base = group.map { "seismote/group/\($0)" } ?? "seismote/board"
        return InboundMessage(topic: "\(base)/cmd/\(verb)", payload: Array(payload.utf8))
    }

    static func take(
        _ gate: inout CommandGate, _ message: InboundMessage, now: Int64 = 0, wall: Int64 = wall, random: UInt64 = 0
    ) -> CommandGate.Verdict {
        var generator = Always(value: random)
        return gate.take(message, connection: 1, now: now, wall: wall, random: &generator)
    }

    static func codes(_ verdict: CommandGate.Verdict) -> [CodedError.Code] {
        if case .refuse(let refusal) = verdict { refusal.errors.map(\.code) } else { [] }
    }

    static func request(_ verdict: CommandGate.Verdict?) -> CommandRequest? {
        if case .carryOut(let request) = verdict { request } else { nil }
    }

    @Test func theReplyGoesWhereItWasAskedFor() throws {
        var gate = try Self.gate()
        let plain = Self.request(Self.take(&gate, Self.message("ping")))
        #expect(plain?.command == .ping)
        #expect(plain?.destination == nil)
        let named = Self.request(Self.take(&gate, Self.message("ping", "{\"id\":\"a\"}")))
        #expect(named?.destination == ReplyDestination(topic: "seismote/board/res/a"))
        var message = Self.message("ping", "{\"id\":\"b\"}")
        (message.responseTopic, message.correlation) = ("replies/me", [1, 0, 255])
        let asked = Self.request(Self.take(&gate, message))
        #expect(asked?.destination == ReplyDestination(topic: "replies/me", correlation: [1, 0, 255]))
        #expect(gate.rejected == 0)
    }

    /// A defect: a bridge of MQTT 5 with a prefix maps the topic of a command and not the response topic in it, so that the
    /// reply went where nobody listened.
    @Test(arguments: [
        ("site1/seismote/board/res/b", true), ("board/res/b", true), ("/board/res/b", true),
        ("other/board/res/b", true),
        ("site1/seismote/board/res/c", false), ("site1/seismote/aboard/res/b", false), ("site1/board/res/b/x", false),
    ]) func aResponseTopicThatABridgeHasNotMappedIsOurOwn(topic: String, isOurs: Bool) throws {
        var gate = try Self.gate()
        var message = Self.message("ping", "{\"id\":\"b\"}")
        (message.responseTopic, message.correlation) = (topic, [1])
        let wanted = isOurs ? "seismote/board/res/b" : topic
        #expect(
            Self.request(Self.take(&gate, message))?.destination == ReplyDestination(topic: wanted, correlation: [1]))
    }

    /// A defect: a response topic is lost on its way over MQTT 3.1.1, and the command went unanswered without a word.
    @Test func aCommandWithoutIDOver311IsAnsweredOnATopicOfItsOwn() throws {
        var gate = try Self.gate()
        var message = Self.message("ping")
        message.hasProperties = false
        #expect(Self.request(Self.take(&gate, message))?.destination == .init(topic: "seismote/board/res/no-id"))
        message.payload = Array("{\"what\":1}".utf8)
        message.size = message.payload.count
        guard case .refuse(let refusal) = Self.take(&gate, message) else { return #expect(Bool(false)) }
        #expect(refusal.destination == .init(topic: "seismote/board/res/no-id"))
        var named = Self.message("ping", "{\"id\":\"a\"}")
        named.hasProperties = false
        #expect(Self.request(Self.take(&gate, named))?.destination == .init(topic: "seismote/board/res/a"))
    }

    @Test func aBadResponseTopicIsToldWhereTheIDPoints() throws {
        var gate = try Self.gate()
        var message = Self.message("restart", "{\"id\":\"a\"}")
        message.responseTopic = "seismote/other/cmd/restart"
        guard case .refuse(let refusal) = Self.take(&gate, message) else { return #expect(Bool(false)) }
        #expect(refusal.errors.map(\.code) == [.range])
        #expect(refusal.destination?.topic == "seismote/board/res/a")
        message.responseTopic = "replies/me"
        message.correlation = [UInt8](repeating: 1, count: CommandGate.correlationBytes + 1)
        #expect(Self.codes(Self.take(&gate, message)) == [.tooLarge])
        #expect(gate.rejected == 2)
    }

    @Test func othersTopicsAndTheSelfCheckAreNotForUs() throws {
        var gate = try Self.gate()
        var message = Self.message("ping")
        for topic in ["seismote/other/cmd/ping", "seismote/group/south/cmd/ping", "seismote/board/cmd", "x"] {
            message.topic = topic
            #expect(Self.take(&gate, message) == .nothing, "\(topic)")
        }
        #expect(Self.take(&gate, Self.message("selfcheck", "123")) == .nothing)
        #expect(gate.rejected == 0)
    }

    @Test func aRetainedCommandIsRefused() throws {
        var gate = try Self.gate()
        var message = Self.message("restart", "{\"id\":\"a\"}")
        message.isRetained = true
        #expect(Self.codes(Self.take(&gate, message)) == [.retainedCommand])
        #expect(gate.memory.entries == [])
        // Taken away again.
        message.payload = []
        message.size = 0
        #expect(Self.take(&gate, message) == .nothing)
        #expect(gate.rejected == 1)
    }

    @Test func whatIsTooLargeOrTooLateIsRefused() throws {
        var gate = try Self.gate()
        var large = Self.message("config")
        large.size = 1 << 20
        #expect(Self.codes(Self.take(&gate, large)) == [.tooLarge])
        let late = Self.message("restart", "{\"id\":\"a\",\"expires\":\"2026-01-05T10:20:30Z\"}")
        #expect(Self.codes(Self.take(&gate, late)) == [.expired])
        #expect(Self.request(Self.take(&gate, late, wall: Self.wall - Self.second)) != nil)
        #expect(gate.rejected == 2)
    }

    @Test func anIDIsCarriedOutOnce() throws {
        var gate = try Self.gate()
        let message = Self.message("test-event", "{\"id\":\"a\"}")
        let request = try #require(Self.request(Self.take(&gate, message)))
        // It is not answered yet: nothing more is said, and nothing done.
        #expect(Self.take(&gate, message) == .nothing)
        _ = gate.said(request, [1], isFinal: false)
        let destination = ReplyDestination(topic: "seismote/board/res/a")
        #expect(Self.take(&gate, message) == .again([1], destination))
        _ = gate.said(request, [2], isFinal: true)
        #expect(Self.take(&gate, message) == .again([2], destination))
        // Also after its time, and to whoever asks now.
        var again = Self.message("test-event", "{\"id\":\"a\",\"expires\":\"2020-01-05T10:20:30Z\"}")
        again.responseTopic = "replies/me"
        #expect(Self.take(&gate, again) == .again([2], ReplyDestination(topic: "replies/me")))
        // The same id for something else is an accident.
        #expect(Self.codes(Self.take(&gate, Self.message("restart", "{\"id\":\"a\"}"))) == [.duplicate])
        #expect(gate.memory.entries.count == 1)
    }

    @Test func theLast64AreRememberedOverARestart() throws {
        var gate = try Self.gate()
        var lines: [[UInt8]] = []
        for number in 0..<70 {
            let message = Self.message("reset-extremes", "{\"id\":\"n\(number)\"}")
            let request = try #require(Self.request(Self.take(&gate, message, now: Int64(number) * Self.second)))
            if let entry = gate.memory.entry("n\(number)") { lines.append(CommandMemory.line(entry)) }
            if number < 69, let entry = gate.said(request, Array("{\"\(number)\"}".utf8), isFinal: true) {
                lines.append(CommandMemory.line(entry))
            }
        }
        #expect(gate.memory.entries.count == CommandMemory.limit)
        // The last line is torn, one is foreign.
        var torn = lines.map { Array($0.dropLast()) }
        torn.insert(Array("{}".utf8), at: 3)
        torn.append(Array("{\"id\":\"n1\",\"dige".utf8))
        let memory = CommandMemory(lines: torn)
        #expect(memory.entries.map(\.id) == gate.memory.entries.map(\.id))
        #expect(memory.entry("n68")?.reply == Array("{\"68\"}".utf8))
        var second = try Self.gate(memory: memory)
        let destination = ReplyDestination(topic: "seismote/board/res/n68")
        let seen = Self.take(&second, Self.message("reset-extremes", "{\"id\":\"n68\"}"))
        #expect(seen == .again(Array("{\"68\"}".utf8), destination))
        // What was begun and never finished is not begun anew.
        #expect(Self.codes(Self.take(&second, Self.message("reset-extremes", "{\"id\":\"n69\"}"))) == [.internal])
        #expect(Self.request(Self.take(&second, Self.message("reset-extremes", "{\"id\":\"n5\"}"))) != nil)
    }

    @Test func aFloodIsToldSoNowAndThen() throws {
        var gate = try Self.gate()
        var counts: [String: Int] = [:]
        for number in 0..<1000 {
            let verdict = Self.take(&gate, Self.message("ping", "{\"id\":\"n\(number)\"}"), now: Self.second)
            switch verdict {
            case .carryOut: counts["done", default: 0] += 1
            case .refuse(let refusal): counts[refusal.errors[0].code.rawValue, default: 0] += 1
            default: counts["nothing", default: 0] += 1
            }
        }
        #expect(counts == ["done": 40, "rate_limited": 10, "nothing": 950])
        #expect(gate.rejected == 960)
        #expect(Self.request(Self.take(&gate, Self.message("ping"), now: 2 * Self.second)) != nil)
    }

    @Test func aGroupAnswersLaterInItsOrder() throws {
        var gate = try Self.gate()
        let latest = UInt64.max
        #expect(Self.take(&gate, Self.message("ping", "{\"id\":\"a\"}", group: "all"), random: latest) == .nothing)
        #expect(Self.take(&gate, Self.message("ping", "{\"id\":\"b\"}", group: "north"), random: 0) == .nothing)
        let due = try #require(gate.nextDue)
        #expect(abs(due - 5 * Self.second) < 1000)
        // Asked again meanwhile, it is still carried out once.
        #expect(Self.take(&gate, Self.message("ping", "{\"id\":\"a\"}", group: "all"), random: 0) == .nothing)
        #expect(gate.next(now: due - 1, wall: Self.wall) == nil)
        let first = Self.request(gate.next(now: due, wall: Self.wall))
        #expect(first?.id == "a")
        #expect(first?.group == "all")
        #expect(Self.request(gate.next(now: due, wall: Self.wall))?.id == "b")
        #expect(gate.next(now: due, wall: Self.wall) == nil)
        // One to this station alone does not wait.
        #expect(Self.request(Self.take(&gate, Self.message("restart", "{}"))) != nil)
        #expect(Self.take(&gate, Self.message("restart", "{}", group: "all"), random: latest) == .nothing)
        #expect(abs((gate.nextDue ?? 0) - 30 * Self.second) < 1000)
    }

    @Test func aGroupCommandMayExpireWhileItWaits() throws {
        var gate = try Self.gate()
        let message = Self.message("restart", "{\"id\":\"a\",\"expires\":\"2026-01-05T10:20:31Z\"}", group: "all")
        #expect(Self.take(&gate, message, random: .max) == .nothing)
        let verdict = gate.next(now: 31 * Self.second, wall: Self.wall + 30 * Self.second)
        #expect(Self.codes(verdict ?? .nothing) == [.expired])
        #expect(gate.memory.entries == [])
    }

    @Test func noMoreGroupCommandsWaitThanThereIsRoomFor() throws {
        var gate = try Self.gate()
        for number in 0..<CommandGate.waitingLimit {
            #expect(Self.take(&gate, Self.message("ping", "{\"id\":\"\(number)\"}", group: "all")) == .nothing)
        }
        #expect(Self.codes(Self.take(&gate, Self.message("ping", group: "all"))) == [.rateLimited])
    }

    /// One of any size waits; beside others only as many bytes as there is room for.
    @Test func noMoreBytesOfGroupCommandsWaitThanThereIsRoomFor() throws {
        var gate = try Self.gate()
        func padded(_ id: String, _ size: Int) -> InboundMessage {
            let text = "{\"id\":\"\(id)\"}"
            return Self.message("ping", text + String(repeating: " ", count: size - text.utf8.count), group: "all")
        }
        let half = CommandGate.waitingBytes / 2
        #expect(Self.take(&gate, padded("a", half)) == .nothing)
        #expect(Self.codes(Self.take(&gate, padded("b", half + 1))) == [.rateLimited])
        #expect(Self.take(&gate, padded("c", half)) == .nothing)
        #expect(Self.codes(Self.take(&gate, padded("d", 20))) == [.rateLimited])
        #expect(Self.request(gate.next(now: 6 * Self.second, wall: Self.wall))?.id == "a")
        #expect(Self.take(&gate, padded("d", 20)) == .nothing)
    }
}
