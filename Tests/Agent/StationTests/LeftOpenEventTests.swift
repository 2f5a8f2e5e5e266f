import Messages
import Station
import Testing
import Values

/// Whoever may write on the topic may have written anything: only an open event of a former run of this station counts.
@Suite struct LeftOpenEventTests {
    private static let boot = "11111111-2222-4333-8444-555555555555"
    private static let former = "aaaaaaaa-2222-4333-8444-555555555555"
    private static let onset: Int64 = 1_770_000_000_123_456_789

    private static func members(_ topics: Topics) -> [(key: String, value: Value)] {
        [
            ("v", 1), ("station", .string(topics.id)), ("boot", .string(former)), ("seq", 7),
            ("t", .string(Timestamp(nanoseconds: onset).description)), ("event_type", "update"),
            ("event_id", .string(topics.eventID(onset: onset))),
            ("onset", .string(Timestamp(nanoseconds: onset).description)), ("pga", 0.5),
        ]
    }

    private static func decode(_ topics: Topics, _ change: (key: String, value: Value?)? = nil) -> LeftOpenEvent? {
        let all = members(topics).compactMap { member -> Value.Member? in
            guard member.key == change?.key else { return .init(member.key, member.value) }
            return change?.value.map { .init(member.key, $0) }
        }
        return decode(topics, bytes: Value.object(all).json())
    }

    private static func decode(_ topics: Topics, bytes: [UInt8]) -> LeftOpenEvent? {
        LeftOpenEvent(
            InboundMessage(topic: topics.current, payload: bytes, isRetained: true), topics: topics, boot: boot)
    }

    @Test func anOpenEventOfAFormerRunIsRead() throws {
        let topics = try Topics(id: "board")
        for kind in ["onset", "update"] as [Value] {
            let left = try #require(Self.decode(topics, ("event_type", kind)))
            #expect(left.id == topics.eventID(onset: Self.onset) && left.boot == Self.former)
            #expect(left.number == 7 && left.onset == Self.onset)
        }
    }

    @Test func anythingElseIsNot() throws {
        let topics = try Topics(id: "board")
        let wrong: [(String, [Value?])] = [
            ("station", [nil, "other", 3]),
            (
                "boot",
                [nil, .string(Self.boot), "", "x", .string(Self.former.uppercased()), .string(Self.former + "0"), 3]
            ),
            ("seq", [nil, -1, "7", .double(7.5), .int(1 << 53)]),
            ("event_type", [nil, "end", "", .null]),
            ("event_id", [nil, "board-20260101T000000000Z", "other-20260202T024000123Z", .object([])]),
            ("onset", [nil, "yesterday", "9999999-01-01T00:00:00Z", 12]),
        ]
        for (key, values) in wrong {
            for value in values {
                #expect(Self.decode(topics, (key, value)) == nil, "\(key) \(value.map { "\($0)" } ?? "-")")
            }
        }
        let good = Value.object(Self.members(topics).map { .init($0.key, $0.value) }).json()
        #expect(Self.decode(topics, bytes: good) != nil)
        for count in 0..<good.count { #expect(Self.decode(topics, bytes: Array(good[..<count])) == nil) }
        let long = good.dropLast() + Array(",\"x\":\"".utf8) + [UInt8](repeating: 120, count: LeftOpenEvent.limit)
        #expect(Self.decode(topics, bytes: long + Array("\"}".utf8)) == nil)
        #expect(Self.decode(topics, bytes: [UInt8](repeating: UInt8(ascii: "["), count: 10_000)) == nil)
        let elsewhere = InboundMessage(topic: topics.last, payload: good, isRetained: true)
        #expect(LeftOpenEvent(elsewhere, topics: topics, boot: Self.boot) == nil)
        var cut = InboundMessage(topic: topics.current, payload: good, isRetained: true)
        cut.size = good.count + 1
        #expect(LeftOpenEvent(cut, topics: topics, boot: Self.boot) == nil)
    }

    /// Bytes drawn at random in the place of some of them: nothing falls over, and what is read is of this station.
    @Test func damagedBytesAreReadOrNot() throws {
        let topics = try Topics(id: "board")
        let good = Value.object(Self.members(topics).map { .init($0.key, $0.value) }).json()
        for index in good.indices {
            for bit in 0..<8 {
                var bytes = good
                bytes[index] ^= 1 << UInt8(bit)
                guard let left = Self.decode(topics, bytes: bytes) else { continue }
                #expect(left.id == topics.eventID(onset: left.onset) && left.boot != Self.boot)
            }
        }
    }

    @Test func onlyALaterEndOfTheSameRunEndsIt() throws {
        let topics = try Topics(id: "board")
        let left = try #require(Self.decode(topics))
        func end(_ number: Int64, _ boot: String, _ kind: Value = "end") -> [UInt8] {
            Value.object([
                .init("boot", .string(boot)), .init("seq", .int(number)), .init("event_type", kind),
            ]).json()
        }
        #expect(left.isEnded(by: end(8, Self.former)) && left.isEnded(by: end(90, Self.former)))
        #expect(!left.isEnded(by: end(7, Self.former)), "the number was taken by what the broker has")
        #expect(!left.isEnded(by: end(8, Self.boot)) && !left.isEnded(by: end(8, Self.former, "update")))
        #expect(!left.isEnded(by: []))
    }
}
