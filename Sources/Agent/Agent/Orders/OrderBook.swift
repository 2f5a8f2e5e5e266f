import Messages
import Platform
import Values

/// Orders on their way to the thread that carries them out, and outcomes on their way back. One thread asks whether there
/// is anything without a lock, so that sampling pays one atomic load for each block.
final class OrderBook<Order: Sendable>: Sendable {
    /// Orders that wait at most; no command waits behind that many.
    static var capacity: Int { 16 }

    private struct State {
        var orders: [(number: Int, order: Order)] = []
        var outcomes: [(number: Int, outcome: OrderOutcome)] = []
    }
    private let state = Mutex(State())
    private let waiting = Atomic<Bool>(false)
    /// Signalled when an outcome has come; nil: nobody waits for it.
    private let answered: Wake?
    /// Signalled when an order has come; nil: nobody waits for it.
    private let wake: Wake?

    /// - Parameters:
    ///   - answered: of the main thread.
    ///   - wake: of the thread that takes the orders; nil when it looks often enough by itself.
    init(answered: Wake?, wake: Wake? = nil) {
        self.answered = answered
        self.wake = wake
    }

    /// - Parameter always: it is taken however many wait.
    /// - Returns: false when too many wait.
    @discardableResult
    func put(_ order: Order, number: Int, always: Bool = false) -> Bool {
        let taken = state.withLock { state in
            guard state.orders.count < Self.capacity || always else { return false }
            state.orders.append((number, order))
            return true
        }
        if taken {
            waiting.store(true, ordering: .releasing)
            wake?.signal()
        }
        return taken
    }

    /// Whether one more would be taken: it will be, when nobody else gives orders.
    var hasRoom: Bool { state.withLock { $0.orders.count < Self.capacity } }

    /// Whether there are orders; without a lock.
    var hasOrders: Bool { waiting.load(ordering: .acquiring) }

    func takeOrders() -> [(number: Int, order: Order)] {
        waiting.store(false, ordering: .releasing)
        return state.withLock { state in
            defer { state.orders.removeAll() }
            return state.orders
        }
    }

    func answer(_ number: Int, _ outcome: OrderOutcome) {
        state.withLock { $0.outcomes.append((number, outcome)) }
        answered?.signal()
    }

    func takeOutcomes() -> [(number: Int, outcome: OrderOutcome)] {
        state.withLock { state in
            defer { state.outcomes.removeAll() }
            return state.outcomes
        }
    }
}

/// Outcome of an order.
enum OrderOutcome: Sendable {
    /// It goes on; more will come.
    case began(Value)
    case done(Value)
    /// The same, but part of what is stored could not be read.
    case partly(Value)
    /// Done, and written already.
    case made(ReplyResult)
    case failed(CodedError)

    /// The same, of which part could not be read.
    var incomplete: OrderOutcome {
        switch self {
        case .began, .partly: return self
        case .done(let result): return .partly(result)
        case .made(var result):
            result.isIncomplete = true
            return .made(result)
        case .failed(var error):
            error.message += " (Part of what is stored could not be read.)"
            return .failed(error)
        }
    }
}

extension CodedError {
    static let noRing = CodedError(
        "", .unavailable, "there is no waveform ring: storage.ring_minutes is 0, or the storage is unavailable")
    static let noStorage = CodedError("", .unavailable, "the storage is unavailable")
    static let fullStorage = CodedError(
        "", .unavailable, "the storage cannot be written to: nothing can be sent from it now")
    static let eventIsOpen = CodedError("", .busy, "an event is open")
    static let noSensor = CodedError("", .unavailable, "no sensor is open")
}
