/// What becomes of the messages that were on their way when a connection broke.
extension LinkCore {
    func noteBreak(byPeer: Bool, _ now: UInt64) {
        statistics.lostInFlight += UInt64(unwritten)
        unwritten = 0
        store.withLock { $0.queue.hasNews = true }
        let first = inFlight.first
        let verdict = suspicion.broke(byPeer: byPeer, waiting: inFlight.count, oldest: first?.culprit)
        if verdict == .leave { return }
        if verdict == .giveUp, let first {
            remove(inFlightAt: 0)
            statistics.abandoned += 1
            store.withLock { $0.drop(first.ticket) }
            report(.abandoned(topic: first.topic))
            if case .retained = first.ticket { pardon.gaveUp(now: now) }
        }
        // The library would send them all at once after the next connect.
        recallInFlight()
        openBroker = nil
    }

    /// All has been acknowledged: messages need not go one at a time any more, and a state that was given up may be
    /// tried once more. Looked at in every step, of which there is one a second at least.
    func reconsider(_ now: UInt64) {
        guard machine.isUp, stopping == .no, inFlight.isEmpty, unwritten == 0, store.withLock({ $0.isEmpty })
        else { return }
        suspicion.rested()
        if pardon.take(now: now), store.withLock({ $0.retained.pardon() }) {
            suspicion.pardon()
            pump(now)
        } else if store.withLock({ !$0.retained.hasAbandoned }) {
            pardon.reset()
        }
    }
}

extension [UInt8] {
    /// FNV-1a, 64 bits (Fowler, Noll, Vo): tells one message from another.
    var fingerprint: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in self { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return hash
    }
}
