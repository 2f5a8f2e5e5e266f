import Messages

/// What became of a ``StationOrder``.
enum OrderOutcome: Sendable {
    /// It goes on; more will come.
    case began(Value)
    case done(Value)
    /// The same, written already.
    case made(ReplyResult)
    case failed(CodedError)
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
