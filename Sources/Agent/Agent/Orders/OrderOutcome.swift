import Messages
import Values

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
