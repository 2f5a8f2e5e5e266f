import Messages
import Testing

@testable import MQTT

extension Bench {
    /// A bench with a keeper.
    static func kept(_ change: @escaping (inout LinkOptions) -> Void = { _ in }) -> Bench {
        Bench {
            $0.keepsEssential = true
            change(&$0)
        }
    }

    /// What the keeper would take next, and its text.
    func ask() -> (text: String, ticket: KeepTicket)? {
        var bytes: [UInt8] = []
        return store.withLock { $0.queue.takeUnkept(into: &bytes) }.map {
            (String(decoding: bytes, as: UTF8.self), $0.ticket)
        }
    }

    /// Keeps all that wants to be kept, under numbers from this one on; hands the texts back.
    @discardableResult
    func keepAll(from first: Int64) -> [String] {
        var texts: [String] = []
        while let (text, ticket) = ask() {
            let key = first + Int64(texts.count)
            let outcome = store.withLock { $0.queue.markKept(ticket, key: key) }
            #expect(outcome == .waiting)
            texts.append(text)
        }
        return texts
    }

    func mark(_ ticket: KeepTicket, _ key: Int64) -> KeepOutcome {
        store.withLock { $0.queue.markKept(ticket, key: key) }
    }

    func settled() -> [Settlement] {
        var all: [Settlement] = []
        store.withLock { $0.queue.takeSettled(into: &all) }
        return all
    }

    func withdraw(waited: UInt64) -> String? {
        var bytes: [UInt8] = []
        let limit = now - min(now, waited)
        guard store.withLock({ $0.queue.withdraw(arrivedBefore: limit, into: &bytes) }) != nil else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    var texts: [String] { transport.sent.map(\.text) }

    /// Acknowledges what was sent so far and forgets it.
    func acknowledge(reason: Int = 0) {
        transport.acknowledgeAll(reason: reason)
        transport.sent.removeAll()
        step()
    }

    /// A bench that is connected, with `online` acknowledged and forgotten.
    func up(_ limits: BrokerLimits = BrokerLimits()) -> Bench {
        comeUp(limits)
        acknowledge()
        return self
    }
}
