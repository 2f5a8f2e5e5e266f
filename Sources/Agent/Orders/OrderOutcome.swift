import Messages

/// What became of a ``StationOrder``.
enum OrderOutcome: Sendable {
    /// It goes on; more will come.
    case began(Value)
    case done(Value)
    case failed(OrderError)
}

/// Why an order could not be carried out.
struct OrderError: Error, Sendable, Equatable {
    enum Code: Sendable {
        /// Something of its kind goes on already.
        case busy
        /// There is nothing to do it with: no sensor, no ring, no self-test in this chip.
        case unavailable
        /// The settings cannot work at the sensor's rate.
        case crossField
        case `internal`
    }
    var code: Code
    /// A sentence for people.
    var message: String
}

extension OrderError {
    static let noRing = OrderError(code: .unavailable, message: "there is no waveform ring: nothing can be kept")
    static let eventIsOpen = OrderError(code: .busy, message: "an event is open")
    static let noSensor = OrderError(code: .unavailable, message: "no sensor is open")
}
