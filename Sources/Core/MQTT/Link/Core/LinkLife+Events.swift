import Messages

/// States, events and actions of the link's life.
extension LinkLife {
    /// An attempt that is to be answered by its deadline (ns).
    struct Attempt: Equatable {
        var broker: Int
        var address: BrokerAddress
        var form: ConnectForm
        var deadline: UInt64
    }

    /// An orderly good-bye.
    struct Departure {
        enum Phase: Equatable {
            /// Sends waiting messages until then (ns).
            case draining(until: UInt64)
            /// `offline` was handed over with this number.
            case farewell(id: Int32)
            /// DISCONNECT is on its way.
            case disconnecting
        }
        let session: Session
        var phase: Phase
        /// The whole must be over then (ns).
        var end: UInt64
        /// `offline` was handed over, and taken by the broker.
        var saysOffline = false
        var isHeard = false

        enum Step { case stay, sayOffline, disconnect, end }

        var deadline: UInt64? {
            if case .draining(let until) = phase { earliest(until, session.messageDeadline) } else { end }
        }

        func settled(isIdle: Bool, isWriting: Bool, now: UInt64) -> Step {
            switch phase {
            case .draining(let until): isIdle || now >= until ? .sayOffline : .stay
            case .farewell: now >= end ? .disconnect : .stay
            case .disconnecting: now >= end || !isWriting ? .end : .stay
            }
        }

        /// - Parameter id: nil: `offline` cannot be handed over.
        mutating func offline(_ id: Int32?) -> Step {
            guard case .draining = phase else { return .stay }
            guard let id else { return .disconnect }
            (phase, saysOffline) = (.farewell(id: id), true)
            return .stay
        }

        /// The broker has `offline`.
        mutating func heard() -> Step {
            isHeard = true
            return .disconnect
        }
    }

    /// Other options. They never change, and are shared: copies of so many texts would cost tens of kilobytes of program.
    final class Change: Sendable {
        let options: LinkOptions
        /// Rises when another connection is needed.
        let number: UInt64
        /// Versions that these brokers are known to speak.
        let protocols: ProtocolChoice

        init(_ options: LinkOptions, number: UInt64) {
            self.options = options
            self.number = number
            protocols = ProtocolChoice(options)
        }
    }

    enum Event {
        /// The time may have come; harmless when it has not.
        case timer
        case transport(MQTTEvent)
        /// All that can be done now is done: nothing waits and nothing is on its way (asked for while draining), bytes
        /// wait for the line, and what the kernel knows of them.
        case settled(isIdle: Bool, isWriting: Bool, line: LineState?)
        /// `offline` was handed over under this number; nil: it could not be.
        case offline(id: Int32?)
        /// No bytes wait for the line.
        case written
        /// Verdict on the end of the last connection: it was expected, so that the next pause is a first one, or
        /// another station has our client id, so that the pause is this long at least (ns).
        case judged(isExpected: Bool, pause: UInt64?)
        case change(Change)
        /// An orderly stop that takes no longer than this (ns).
        case stop(within: UInt64)
    }

    enum Action {
        /// Begin an attempt.
        case connect(Attempt)
        /// Drop the attempt or connection without ceremony.
        case abandon
        /// The broker has accepted an attempt, but a better one is to be made first: say good-bye, and nothing else.
        case decline
        /// A connection came up: publish the birth and everything that waits.
        case announce
        /// A connection is over: what was on its way waits again.
        indirect case ended(Session, Loss)
        /// An attempt failed, or the broker refused it with this CONNACK code.
        case failed(BrokerAddress, reason: String, code: Int)
        /// The next attempt is with MQTT 3.1.1, because the broker refused 5, hung up on it or sent a malformed packet of 5.
        case fallBack(BrokerAddress, isRefused: Bool)
        case sayOffline
        /// - keepsWill: the broker publishes the last will when we do not come back (MQTT 5).
        case disconnect(keepsWill: Bool)
        /// Other options are in use that need no other connection.
        case takeUp(from: Change)
        /// Other options are in use, and all that was known of the brokers before is void.
        /// - wasSaid: the broker has heard `offline`.
        case move(from: Change, wasSaid: Bool)
        /// For the messages and subscriptions of the session.
        case finished(id: Int32, reason: Int)
        case subscribed(id: Int32, code: Int)
        case received(InboundMessage)
    }
}
