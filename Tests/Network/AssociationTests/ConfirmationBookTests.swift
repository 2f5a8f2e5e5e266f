import Messages
import Testing

@testable import Association

@Suite struct ConfirmationBookTests {
    private final class Book {
        private var book = ConfirmationBook()
        func take(
            _ id: String, _ stations: [String], kind: EventMessage.Kind = .update, into other: String? = nil,
            isWithdrawn: Bool = false
        ) -> [String] {
            var event = NetworkEventMessage()
            (event.eventID, event.kind, event.mergedInto, event.isWithdrawn) = (id, kind, other, isWithdrawn)
            event.stations = stations.map {
                .init(id: $0, eventID: "\($0)-1", onset: 0, phase: "P", residual: 0, distance: 0)
            }
            return book.take(event).map {
                "\($0.station) \($0.confirmation.eventID) \($0.confirmation.networkEvent) \($0.confirmation.isConfirmed)"
            }
        }
    }

    @Test func eachStationIsToldOnce() {
        let book = Book()
        #expect(book.take("net-a", ["s", "t"], kind: .onset) == ["s s-1 net-a true", "t t-1 net-a true"])
        #expect(book.take("net-a", ["s", "t", "u"]) == ["u u-1 net-a true"])
        #expect(book.take("net-a", ["s", "t", "u"], kind: .end) == [])
    }

    @Test func whatIsTakenBackIsSaid() {
        let book = Book()
        _ = book.take("net-a", ["s", "t"])
        #expect(book.take("net-a", ["t"]) == ["s s-1 net-a false"])
        #expect(book.take("net-a", ["t"], kind: .end, isWithdrawn: true) == ["t t-1 net-a false"])
        #expect(book.take("net-b", ["t"]) == ["t t-1 net-b true"])
    }

    /// An event that becomes another: that one tells, whichever of the two messages comes first.
    @Test func aMergeTakesNothingBack() {
        let book = Book()
        _ = book.take("net-a", ["s"])
        _ = book.take("net-b", ["t"])
        #expect(book.take("net-a", ["s"], kind: .end, into: "net-b") == [])
        #expect(book.take("net-b", ["s", "t"]) == ["s s-1 net-b true"])
        let other = Book()
        _ = other.take("net-a", ["s"])
        #expect(other.take("net-b", ["s"]) == ["s s-1 net-b true"])
        #expect(other.take("net-a", ["s"], kind: .end, into: "net-b") == [])
    }
}
