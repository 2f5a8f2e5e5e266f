/// Which MQTT version to speak with each broker, and what to ask of it for the last will: MQTT 5 and everything, and less
/// with a broker that has less. Pure.
///
/// A broker without 5 says so with CONNACK 1 (as 3.1.1 has it) or 0x84 (as 5 has it), and one with 5 says with 0x9A or
/// 0x9B that it takes no retained will or no QoS 1. All others can only hang up on the CONNECT, or stay silent because they
/// wait for the rest of what they take for a longer packet (amqtt); so does a broker that starts, one that is full, one that
/// hangs, and a forwarder with nobody behind it. Closed connections and silence therefore lead to a lesser form
/// after two of them, but prove nothing: when a lesser form is accepted, the better ones are tried once more, at once,
/// while the broker is known to be there. The first that it accepts is the one that is used.
///
/// With a broker that has spoken 5, closed connections count only after they have lasted an hour.
struct ProtocolChoice: Sendable, Equatable {
    /// How long a lesser form is kept with a broker once it has worked (ns): after that the next attempt is with the best
    /// one again.
    static let memory: UInt64 = 3_600_000_000_000

    /// Consequence of the end of an attempt.
    enum Step: Equatable {
        /// The same form, after the usual pause.
        case wait
        /// A lesser form, after the usual pause.
        case lesser
        /// The next form of a proof, at once.
        case onward
    }

    /// From the best to the least; `lesser` are those of 3.1.1.
    private static let lesser = [
        ConnectForm(version: .v311), ConnectForm(version: .v311, willIsRetained: false),
        ConnectForm(version: .v311, willQoS: 0), ConnectForm(version: .v311, willQoS: 0, willIsRetained: false),
    ]

    private struct Broker: Sendable, Equatable {
        /// Index of the form of the next attempt.
        var rung = 0
        /// Attempts with it in a row that the broker hung up on.
        var hangUps = 0
        /// The better forms are tried once more, at once.
        var isProving = false
        /// The best form that the broker is known to take, and until when that counts (ns).
        var floor = 0
        var floorUntil: UInt64?
        /// The same of before: one closed connection leads there.
        var formerFloor: Int?
        /// Closed connections say nothing against 5 until then (ns): it was spoken.
        var trustedUntil: UInt64?
        /// Limits of a will that the broker has named with MQTT 5.
        var willQoS = 1
        var willIsRetained = true

        mutating func settle(on rung: Int, until: UInt64) {
            (self.rung, floor, floorUntil) = (rung, rung, until)
            (isProving, hangUps) = (false, 0)
        }

        mutating func giveUpProof() { (rung, hangUps, isProving) = (floor, 0, false) }
    }

    private let preferred: MQTTVersion
    private var brokers: [Broker]

    init(preferred: MQTTVersion, brokers: Int) {
        self.preferred = preferred
        self.brokers = [Broker](repeating: Broker(), count: max(1, brokers))
    }

    private var forms: [ConnectForm] { preferred == .v5 ? [ConnectForm(version: .v5)] + Self.lesser : Self.lesser }

    /// The first form of 3.1.1.
    private var old: Int { preferred == .v5 ? 1 : 0 }

    /// Form of an attempt that begins now.
    mutating func form(for broker: Int, now: UInt64) -> ConnectForm {
        if let until = brokers[broker].floorUntil, now >= until {
            brokers[broker].formerFloor = brokers[broker].floor
            (brokers[broker].floor, brokers[broker].floorUntil) = (0, nil)
            brokers[broker].giveUpProof()
        }
        var form = forms[brokers[broker].rung]
        if form.version == .v5 {
            (form.willQoS, form.willIsRetained) = (brokers[broker].willQoS, brokers[broker].willIsRetained)
        }
        return form
    }

    /// The broker refused an attempt. True when the next one is at once, with 3.1.1.
    mutating func refused(_ broker: Int, _ form: ConnectForm, code: Int, now: UInt64) -> Bool {
        guard form.version == .v5 else {
            if code == 1 {
                // It has no 3.1.1.
                brokers[broker] = Broker()
            } else {
                // It does speak 3.1.1 when it refuses for another reason.
                _ = spoke(broker, now: now)
            }
            return false
        }
        guard code != 1, code != 132 else {
            brokers[broker].settle(on: old, until: .max)
            return true
        }
        if code >= 128 { brokers[broker].trustedUntil = now + Self.memory }
        if code == BrokerLimits.qosNotSupported { brokers[broker].willQoS = 0 }
        if code == BrokerLimits.retainNotSupported { brokers[broker].willIsRetained = false }
        brokers[broker].giveUpProof()
        return false
    }

    /// The broker hung up on an attempt without a word.
    mutating func hungUp(_ broker: Int, _ form: ConnectForm, now: UInt64) -> Step {
        let rung = brokers[broker].rung
        if brokers[broker].isProving {
            guard rung + 1 < forms.count else {
                brokers[broker].giveUpProof()
                return .wait
            }
            brokers[broker].rung += 1
            return .onward
        }
        if form.version == .v5, let until = brokers[broker].trustedUntil, now < until { return .wait }
        brokers[broker].hangUps += 1
        let former = rung == 0 ? brokers[broker].formerFloor : nil
        guard former != nil || rung > old || brokers[broker].hangUps >= 2 else { return .wait }
        guard rung + 1 < forms.count else {
            // It hangs up on everybody.
            brokers[broker].giveUpProof()
            return .wait
        }
        (brokers[broker].rung, brokers[broker].hangUps) = (former ?? rung + 1, 0)
        return .lesser
    }

    /// The broker said nothing until the deadline. Of 3.1.1 no form is known that a broker would be silent about.
    mutating func silent(_ broker: Int, _ form: ConnectForm, now: UInt64) -> Step {
        if form.version == .v5 { return hungUp(broker, form, now: now) }
        brokers[broker].giveUpProof()
        return .wait
    }

    /// An attempt failed in another way: nothing follows from it, and a proof has to wait.
    mutating func failed(_ broker: Int) { if brokers[broker].isProving { brokers[broker].giveUpProof() } }

    /// The broker has sent a malformed packet that would have ended the process, and whose memory is lost. True when the
    /// next attempt is with 3.1.1 because of it.
    mutating func malformed(_ broker: Int, _ version: MQTTVersion, now: UInt64) -> Bool {
        guard preferred == .v5, version == .v5 else { return false }
        brokers[broker].settle(on: old, until: now + Self.memory)
        return true
    }

    /// The broker accepted an attempt.
    /// - Returns: true when the connection stays; false when the better forms are to be tried once more, at once.
    mutating func accepted(_ broker: Int, _ form: ConnectForm, _ limits: BrokerLimits, now: UInt64) -> Bool {
        guard form.version == .v5 else { return spoke(broker, now: now) }
        brokers[broker] = Broker(
            trustedUntil: now + Self.memory, willQoS: min(1, limits.maximumQoS), willIsRetained: limits.retainAvailable)
        return true
    }

    /// The broker has answered 3.1.1.
    private mutating func spoke(_ broker: Int, now: UInt64) -> Bool {
        let state = brokers[broker]
        let isKnown = state.isProving || state.rung == state.floor || state.rung == state.formerFloor
        guard isKnown else {
            (brokers[broker].rung, brokers[broker].hangUps, brokers[broker].isProving) = (state.floor, 0, true)
            return false
        }
        guard state.rung > 0 else {
            brokers[broker] = Broker()
            return true
        }
        // What has spoken 5 may do so again in the next connection.
        let isPassing = state.rung == old && state.trustedUntil.map { now < $0 } == true
        let end = isPassing ? now : now + Self.memory
        let until = state.floorUntil.map { $0 == .max || state.rung != state.floor ? end : $0 } ?? end
        brokers[broker].settle(on: state.rung, until: until)
        return true
    }

    /// A connection is over.
    mutating func ended(_ broker: Int, _ version: MQTTVersion, now: UInt64) {
        if version == .v5 { brokers[broker].trustedUntil = now + Self.memory }
    }
}

extension ProtocolChoice {
    init(_ options: LinkOptions) {
        self.init(preferred: options.connection.version, brokers: options.connection.brokers.count)
    }
}
