import Messages
import Testing
import Values

@testable import Agent

@Suite struct StoredConfirmationTests {
    private let event: Value = ["event_id": "a-1", "pga": .double(0.1), "confirmed": true, "network_event": "net-1"]

    @Test func whatWasSaidLastHolds() {
        let back = EventConfirmation(eventID: "a-1", networkEvent: "net-2", isConfirmed: false)
        let noted = EventConfirmation.note(back.note, in: event)
        #expect(noted["confirmed"] == false && noted["network_event"] == "net-2" && noted["pga"] == .double(0.1))
        guard case .object(let members) = noted else { return #expect(Bool(false)) }
        #expect(members.count == 4)
    }

    @Test func withoutANoteItIsAsItWas() {
        #expect(EventConfirmation.note(nil, in: event) == event)
        #expect(EventConfirmation.note("nonsense", in: event) == event)
    }
}
