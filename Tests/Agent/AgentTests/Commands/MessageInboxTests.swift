import Messages
import Platform
import Testing

@testable import Agent

@Suite struct MessageInboxTests {
    private static func message(_ number: Int, _ bytes: Int = 1) -> InboundMessage {
        InboundMessage(topic: "t", payload: [UInt8](repeating: UInt8(number), count: bytes))
    }

    /// The newest events stay; how many were pushed out is said once.
    @Test func whatIsPushedOutIsCounted() throws {
        let inbox = MessageInbox.events(wake: try .make())
        for i in 0..<11 { inbox.put(Self.message(i, 1 << 20)) }
        let (messages, lost) = inbox.take()
        #expect(messages.map { Int($0.payload[0]) } == Array(3..<11))
        #expect(lost == 3 && inbox.wake.take())
        #expect(inbox.take().messages.isEmpty && inbox.take().lost == 0)
    }

    /// The oldest commands stay, and those that find no room wake nobody.
    @Test func commandsThatFindNoRoomAreCounted() throws {
        let inbox = try MessageInbox.commands()
        for i in 0..<64 { inbox.put(Self.message(i)) }
        #expect(inbox.wake.take())
        for i in 64..<67 { inbox.put(Self.message(i)) }
        #expect(!inbox.wake.take())
        let (messages, lost) = inbox.take()
        #expect(messages.map { Int($0.payload[0]) } == Array(0..<64) && lost == 3)
        inbox.put(Self.message(1))
        #expect(inbox.take().messages.count == 1 && inbox.take().lost == 0)
    }

    /// A large command takes the room, of which a smaller one may still have the rest.
    @Test func bytesOfCommandsAreBounded() throws {
        let inbox = try MessageInbox.commands()
        for (i, bytes) in [(1 << 20) - 10, 11, 10, 1].enumerated() { inbox.put(Self.message(i, bytes)) }
        let (messages, lost) = inbox.take()
        #expect(messages.map { Int($0.payload[0]) } == [0, 2] && lost == 2)
        inbox.put(Self.message(7, (1 << 20) + 1))
        #expect(inbox.take().lost == 1)
    }
}
