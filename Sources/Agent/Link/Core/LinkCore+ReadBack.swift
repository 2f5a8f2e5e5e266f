import Messages

/// What a broker retains of a run before this one (`ReadBack`).
extension LinkCore {
    /// To be called when a connection has come up, before anything is sent.
    func beginReadBack(_ now: UInt64) {
        guard !options.readBack.isEmpty, !known.readBack.contains(session.broker) else { return }
        session.readBack = ReadBack(options.readBack, now: now)
        hold(options.readBack)
        for topic in options.readBack { subscribe(topic, for: .readBack, now) }
    }

    func lookAtReadBack(_ now: UInt64) {
        guard let readBack = session.readBack, !readBack.isHolding else { return }
        known.readBack.insert(session.broker)
        hold([])
        for value in session.readBack?.takeValues() ?? [] where value.size > 0 { report(.readBack(value)) }
        guard case .over(let isReadable) = readBack.state else { return }
        session.readBack = nil
        statistics.canReadBack = isReadable
        if !isReadable { report(.cannotReadBack(readBack.topics)) }
        for topic in readBack.topics where !options.filters.contains(topic) { transport.unsubscribe(topic) }
    }

    /// The connection ends while values are read back.
    func stopReadBack() {
        guard let readBack = session.readBack else { return }
        hold([])
        staleFilters += readBack.topics
    }

    private func hold(_ topics: [String]) { store.withLock { $0.retained.held = topics } }
}
