/// Messages that are not acknowledged, because a successor needs them. They are all the state that there is.
struct HeldMessages: Sendable {
    /// A station's record, with the message that has it.
    struct Station: Sendable {
        var tag: UInt64
        var arrival: Int64
        var record: StationRecord
        /// It has been written down again, and that has not come.
        var isRefreshing = false
    }

    /// A place that the operator has entered.
    struct Entered: Sendable {
        var tag: UInt64
        var arrival: Int64
        var payload: [UInt8]
        /// It has been published again, and that has not come.
        var isRefreshing = false
    }

    /// A network event.
    struct Event: Sendable {
        /// By version: written down, and seen published.
        var kept: [Int: UInt64] = [:]
        var seen: [Int: UInt64] = [:]
        /// Arrival of the newest message, nanoseconds of UTC.
        var arrival: Int64 = 0
        var isEnded = false
    }

    var stations: [String: Station] = [:]
    /// Stations that are away.
    var offline: [String: UInt64] = [:]
    var entered: [String: Entered] = [:]
    var events: [String: Event] = [:]
    /// Messages of stations on their events, in the order in which they came.
    private(set) var onsets: [(tag: UInt64, arrival: Int64)] = []

    var count: Int {
        stations.count + offline.count + entered.count + onsets.count + events.reduce(0) { $0 + $1.value.count }
    }

    mutating func hold(_ tag: UInt64, arrival: Int64) { onsets.append((tag, arrival)) }

    /// - Returns: the message that is not needed any more.
    mutating func setStation(_ id: String, _ new: Station) -> UInt64? {
        let old = stations.updateValue(new, forKey: id)
        return old?.tag
    }

    /// - Parameter tag: nil when it is back.
    mutating func setOffline(_ id: String, _ tag: UInt64?) -> UInt64? {
        let old = offline[id]
        offline[id] = tag
        return old
    }

    /// - Parameter new: nil where it was forgotten.
    mutating func setEntered(_ id: String, _ new: Entered?) -> UInt64? {
        let old = entered[id]
        entered[id] = new
        return old?.tag
    }

    /// Notes a version.
    /// - Parameter isKept: it was written down; else it was seen published.
    /// - Returns: messages that are not needed any more: those of versions before the newest that all have seen.
    mutating func note(
        _ version: NetworkVersion, _ tag: UInt64, arrival: Int64, isKept: Bool, isEnd: Bool
    ) -> [UInt64] {
        var event = events[version.eventID] ?? Event()
        var free: [UInt64] = []
        if isKept {
            if let old = event.kept.updateValue(tag, forKey: version.version) { free.append(old) }
        } else if let old = event.seen.updateValue(tag, forKey: version.version) {
            free.append(old)
        }
        event.arrival = max(event.arrival, arrival)
        event.isEnded = event.isEnded || isEnd
        if let newest = event.seen.keys.max() {
            for old in event.kept.keys where old < newest {
                free += [event.kept.removeValue(forKey: old)].compactMap(\.self)
            }
            for old in event.seen.keys where old < newest {
                free += [event.seen.removeValue(forKey: old)].compactMap(\.self)
            }
        }
        events[version.eventID] = event
        return free
    }

    /// Whether a version was written down by this message, and nobody has seen it published.
    func isUnsent(_ version: NetworkVersion, _ tag: UInt64) -> Bool {
        guard let event = events[version.eventID] else { return false }
        return event.kept[version.version] == tag && event.seen[version.version] == nil
    }

    /// - Returns: what is older than that, of onsets, and of events that have ended.
    mutating func release(onsetsBefore time: Int64, eventsBefore end: Int64, most: Int) -> [UInt64] {
        let others = count - onsets.count
        let old = max(onsets.prefix { $0.arrival < time }.count, min(onsets.count, others + onsets.count - most))
        var free = onsets.prefix(max(0, old)).map(\.tag)
        onsets.removeFirst(free.count)
        for (id, event) in events where event.isEnded && event.arrival < end {
            free += Array(event.kept.values) + Array(event.seen.values)
            events[id] = nil
        }
        return free
    }
}

extension HeldMessages.Event {
    var count: Int { kept.count + seen.count }
}
