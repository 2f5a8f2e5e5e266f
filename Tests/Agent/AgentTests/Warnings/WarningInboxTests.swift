import Messages
import Testing
import Threads

@testable import Agent

@Suite struct WarningInboxTests {
    /// The newest ones stay; how many were pushed out is said once.
    @Test func whatIsPushedOutIsCounted() throws {
        let inbox = WarningInbox(wake: try .make())
        for i in 0..<11 { inbox.put(InboundMessage(topic: "t", payload: [UInt8(i)])) }
        let (messages, lost) = inbox.take()
        #expect(messages.map { Int($0.payload[0]) } == Array(3..<11))
        #expect(lost == 3)
        #expect(inbox.take().messages.isEmpty && inbox.take().lost == 0)
    }
}
