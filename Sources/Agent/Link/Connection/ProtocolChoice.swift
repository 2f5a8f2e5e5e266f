/// Which MQTT version to speak with each broker: 5, and 3.1.1 for a while with one that has no 5. Pure.
///
/// A broker without 5 says so with CONNACK 1 (as 3.1.1 has it) or 0x84 (as 5 has it), or hangs up on the CONNECT without a
/// word; since a broker in trouble does that as well, it takes two such ends in a row, and 3.1.1 must then work.
///
/// A broker whose packets of 5 have ended the process before is deadly: 3.1.1, whatever it says, for an hour.
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
        /// 3.1.1 until then (ns), whatever it says; `.max` before the first attempt.
        var deadlyUntil: UInt64 = 0
    }

    private let preferred: LinkOptions.ProtocolVersion
    private var brokers: [Broker]

    /// - Parameter deadly: which of the brokers.
    init(preferred: LinkOptions.ProtocolVersion, brokers: Int, deadly: [Int] = []) {
        self.preferred = preferred
        self.brokers = [Broker](repeating: Broker(), count: max(1, brokers))
        for broker in deadly { self.brokers[broker].deadlyUntil = .max }
    }

    /// What to speak in an attempt that begins now.
    mutating func version(for broker: Int, now: UInt64) -> LinkOptions.ProtocolVersion {
        guard preferred == .v5 else { return .v311 }
        if brokers[broker].deadlyUntil == .max { brokers[broker].deadlyUntil = now + Self.memory }
        if now < brokers[broker].deadlyUntil { return .v311 }
        if let until = brokers[broker].fallenBackUntil, now >= until {
            brokers[broker].fallenBackUntil = nil
            brokers[broker].hangUps = 0
        }
        return brokers[broker].fallenBackUntil == nil ? .v5 : .v311
    }

    /// The broker refused an attempt. True when the next one is with 3.1.1 because of it.
    mutating func refused(_ broker: Int, _ version: LinkOptions.ProtocolVersion, code: Int) -> Bool {
        guard preferred == .v5 else { return false }
        if version == .v311 {
            // It does speak 3.1.1 when it refuses for another reason.
            if code == 1 { reset(broker) }
            return false
        }
        brokers[broker].hangUps = 0
        guard code == 1 || code == 132 else { return false }
        brokers[broker].fallenBackUntil = .max
        return true
    }

    /// The broker hung up on an attempt without a word. True when the next one is with 3.1.1 because of it.
    mutating func hungUp(_ broker: Int, _ version: LinkOptions.ProtocolVersion) -> Bool {
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

    mutating func accepted(_ broker: Int, _ version: LinkOptions.ProtocolVersion, now: UInt64) {
        brokers[broker].hangUps = 0
        if version == .v5 {
            brokers[broker].isKnown = false
        } else if brokers[broker].fallenBackUntil == .max {
            brokers[broker].isKnown = true
            brokers[broker].fallenBackUntil = now + Self.memory
        }
    }

    private mutating func reset(_ broker: Int) { brokers[broker] = Broker(deadlyUntil: brokers[broker].deadlyUntil) }
}

extension ProtocolChoice {
    init(_ options: LinkOptions) {
        let note = DeathNote(options.deathNote)
        // Who could not leave a note would die at each start, and nothing would ever be measured.
        let deadly = options.brokers.indices.filter {
            !note.canBeWritten || note.brokers.contains(options.brokers[$0].description)
        }
        self.init(
            preferred: options.version, brokers: options.brokers.count,
            deadly: ClientLibrary.diesOfProperties ? deadly : [])
    }
}
