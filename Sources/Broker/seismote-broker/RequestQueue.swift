/// Requests that wait for the service of the certificates. Of one sender the last request alone is kept; senders have their
/// turn one after the other; and each has a budget, so that nobody keeps the service from the others.
package struct RequestQueue {
    package enum Kind: String, Sendable { case enrol, renew, joined }

    package struct Request: Equatable, Sendable {
        package var kind: Kind
        /// The number of an invitation, or the name of a station.
        package var sender: String
        /// Nil: it was larger than ``limit``.
        package var payload: [UInt8]?
    }

    /// Bytes of a request. (One of P-256 has less than 600.)
    package static let limit = 4096
    /// Requests of one sender that are answered at once, and how many in a second after that.
    package static let burst = 5.0
    package static let rate = 2.0
    /// Senders that are remembered.
    private static let sendersLimit = 20_000

    private struct Budget {
        var left: Double
        var at: Double
    }

    private var waiting: [String: Request] = [:]
    private var order: [String] = []
    private var budgets: [String: Budget] = [:]

    package init() {}

    package var isEmpty: Bool { order.isEmpty }

    /// Takes a message.
    package mutating func put(topic: String, payload: [UInt8], size: Int) {
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard levels.count == 3 else { return }
        let (sender, isWhole) = (levels[1], size <= Self.limit && payload.count == size)
        let request: Request
        switch (levels[0], levels[2]) {
        case ("enrol", "csr") where AccountName.isInvitation(sender):
            request = Request(kind: .enrol, sender: sender, payload: isWhole ? payload : nil)
        case ("renew", "csr") where AccountName.isPlain(sender):
            request = Request(kind: .renew, sender: sender, payload: isWhole ? payload : nil)
        case ("renew", "joined") where AccountName.isPlain(sender) && isWhole:
            request = Request(kind: .joined, sender: sender, payload: payload)
        default: return
        }
        if waiting.updateValue(request, forKey: topic) == nil { order.append(topic) }
    }

    /// The next request whose sender has a budget left.
    /// - Parameter now: monotonic seconds.
    package mutating func take(now: Double) -> Request? {
        for place in order.indices {
            let topic = order[place]
            guard let request = waiting[topic] else { continue }
            var budget = budgets[topic] ?? Budget(left: Self.burst, at: now)
            budget.left = min(Self.burst, budget.left + max(0, now - budget.at) * Self.rate)
            budget.at = now
            if budget.left < 1 {
                budgets[topic] = budget
                continue
            }
            budget.left -= 1
            if budgets.count >= Self.sendersLimit {
                budgets = budgets.filter { now - $0.value.at < Self.burst / Self.rate }
            }
            budgets[topic] = budget
            order.remove(at: place)
            waiting[topic] = nil
            return request
        }
        return nil
    }
}
