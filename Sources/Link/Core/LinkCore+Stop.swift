import Messages

/// The orderly stop.
extension LinkCore {
    var isDraining: Bool { if case .draining = stopping { true } else { false } }

    /// Nothing waits that may leave now, and nothing is on its way.
    var isIdle: Bool { inFlight.isEmpty && unwritten == 0 && store.withLock { $0.isEmpty } }

    func feedStop() {
        _ = machine.handle(.stop, now: 0, using: &random)
        transport.disconnect(keepsWill: false)
    }

    func proceedStop(_ now: UInt64) {
        switch stopping {
        case .no, .done: return
        case .draining(let until, let end):
            guard machine.isUp else {
                // Nobody listens; the last will speaks for us.
                if machine.handle(.stop, now: now, using: &random) == .abandon { transport.abandon() }
                return finish()
            }
            guard isIdle || now >= until else { return }
            var text = options.presence.offline
            let outcome = text.withUTF8 { transport.publish(presenceHeader, UnsafeRawBufferPointer($0)) }
            if case .taken(let id) = outcome {
                stopping = .farewell(id: id, end: end)
                handleEvents(now)
            } else {
                stopping = .leaving(end: end)
                feedStop()
            }
        case .farewell(_, let end):
            guard now >= end || !machine.isUp else { return }
            if machine.isUp { feedStop() }
            stopping = .leaving(end: end)
            proceedStop(now)
        case .leaving(let end):
            if now >= end || !transport.wantsWrite { finish() }
        }
    }

    /// What was not acknowledged goes back, so that whoever keeps messages finds it.
    func finish() {
        stopping = .done
        recallInFlight()
        store.withLock { $0.queue.hasNews = true }
    }
}
