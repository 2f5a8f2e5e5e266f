import MQTT

/// Which MQTT version to speak with each broker: 5, and 3.1.1 for a while with one that has no 5. Pure.
///
/// A broker without 5 says so with CONNACK 1 (as 3.1.1 has it) or 0x84 (as 5 has it), or hangs up on the CONNECT without a
/// word; since a broker in trouble does that as well, it takes two such ends in a row, and 3.1.1 must then work.
///
/// With a broker whose malformed packet of 5 would have ended the process it is 3.1.1 for an hour, unless it refuses that.
struct ProtocolChoice: Sendable, Equatable {
    /// How long 3.1.1 is kept with a broker once it has worked (ns): after that the next attempt is with 5 again.
    static let memory: UInt64 = 3_600_000_000_000

    private struct Broker: Sendable, Equatable {
        /// 3.1.1 until then (ns); nil: 5. Never ends before it has worked.
        var fallenBackUntil: UInt64?
        /// Attempts with 5 in a row that the broker hung up on.
        var hangUps = 0
        /// 3.1.1 has worked before: one sign is enough.
        var isKnown = false
        /// 3.1.1 until then (ns), because of a malformed packet.
        var malformedUntil: UInt64 = 0
    }

    private let preferred: MQTTVersion
    private var brokers: [Broker]

    init(preferred: MQTTVersion, brokers: Int) {
        self.preferred = preferred
        self.brokers = [Broker](repeating: Broker(), count: max(1, brokers))
    }

    /// What to speak in an attempt that begins now.
    mutating func version(for broker: Int, now: UInt64) -> MQTTVersion {
        guard preferred == .v5 else { return .v311 }
        if now < brokers[broker].malformedUntil { return .v311 }
        if let until = brokers[broker].fallenBackUntil, now >= until {
            brokers[broker].fallenBackUntil = nil
            brokers[broker].hangUps = 0
        }
        return brokers[broker].fallenBackUntil == nil ? .v5 : .v311
    }

    /// The broker refused an attempt. True when the next one is with 3.1.1 because of it.
    mutating func refused(_ broker: Int, _ version: MQTTVersion, code: Int) -> Bool {
        guard preferred == .v5 else { return false }
        if version == .v311 {
            // It does speak 3.1.1 when it refuses for another reason.
            if code == 1 { brokers[broker] = Broker() }
            return false
        }
        brokers[broker].hangUps = 0
        guard code == 1 || code == 132 else { return false }
        brokers[broker].fallenBackUntil = .max
        return true
    }

    /// The broker hung up on an attempt without a word. True when the next one is with 3.1.1 because of it.
    mutating func hungUp(_ broker: Int, _ version: MQTTVersion) -> Bool {
        guard preferred == .v5 else { return false }
        if version == .v311 {
            // It hangs up on everybody.
            if brokers[broker].fallenBackUntil == .max { reset(broker) }
            return false
        }
        brokers[broker].hangUps += 1
        guard brokers[broker].hangUps >= (brokers[broker].isKnown ? 1 : 2) else { return false }
        brokers[broker].fallenBackUntil = .max
        return true
    }

    /// The broker has sent a malformed packet that would have ended the process, and whose memory is lost. True when the next one is with 3.1.1 because of it.
    mutating func malformed(_ broker: Int, _ version: MQTTVersion, now: UInt64) -> Bool {
        guard preferred == .v5, version == .v5 else { return false }
        brokers[broker].malformedUntil = now + Self.memory
        return true
    }

    mutating func accepted(_ broker: Int, _ version: MQTTVersion, now: UInt64) {
        brokers[broker].hangUps = 0
        if version == .v5 {
            brokers[broker].isKnown = false
        } else if brokers[broker].fallenBackUntil == .max {
            brokers[broker].isKnown = true
            brokers[broker].fallenBackUntil = now + Self.memory
        }
    }

    private mutating func reset(_ broker: Int) {
        brokers[broker] = Broker(malformedUntil: brokers[broker].malformedUntil)
    }
}

extension ProtocolChoice {
    init(_ options: LinkOptions) { self.init(preferred: options.version, brokers: options.brokers.count) }
}
