import Association
import Messages
import Settings
import Values

/// A quorum queue on a cluster of RabbitMQ, which gives its messages to one reader at a time.
///
/// What may still be needed is not acknowledged, so that the broker gives it to the next reader when this one is gone: first all
/// that it had, then the rest. The next one learns by a marker of its own where that ends. A version of a network event is
/// written into the queue before it is published, and comes back when it has been published: whoever finds it written and not
/// published publishes just that. Nothing is retained on such a cluster.
struct QueueJournal: NetworkJournal {
    enum Operation: Sendable, Equatable {
        /// Into its own queue; the machine is told by the number, where there is one, when the cluster has it.
        case keep(number: Int?, kind: NetworkMessage.Kind, name: String, payload: [UInt8])
        /// Acknowledges a message that is not needed any more.
        case acknowledge(UInt64)
    }

    struct Limits: Sendable {
        /// Seconds that a message is kept after it could be needed: clocks differ, and late ones come.
        var margin = 300.0
        /// Seconds after which what is known of a station is written down again. Older messages in a quorum queue hold up
        /// all that is behind them on the disk.
        var refreshSeconds = 1200.0
        /// Seconds after which a station that says nothing is forgotten.
        var forgetSeconds = 30 * 86_400.0
        /// Messages that may be held; the broker gives no more than 65535.
        var most = 60_000
    }

    static let brokerRetains = false
    static let keepsMarks = false
    /// Endless: a standby waits as long as another detector is at work.
    static let learningSeconds = Double.infinity
    /// Messages that are written down again in one second.
    private static let part = 100

    private let root: String
    private let limits: Limits
    private(set) var held = HeldMessages()
    /// Messages that have come while learning.
    private var history: [NetworkMessage] = []

    init(root: String, _ limits: Limits) { (self.root, self.limits) = (root, limits) }

    /// Messages that are not acknowledged.
    var count: Int { held.count + history.count }

    private func free(_ tags: [UInt64], _ effects: inout Effects) {
        for tag in tags { effects.operations.append(.acknowledge(tag)) }
    }

    private func keep(_ kind: NetworkMessage.Kind, _ name: String, _ payload: [UInt8], _ effects: inout Effects) {
        effects.operations.append(.keep(number: nil, kind: kind, name: name, payload: payload))
    }

    // MARK: Learning

    /// Where nobody else reads the queue, this comes back at once.
    func mark(_ boot: String, _ effects: inout Effects) { keep(.marker, boot, [], &effects) }

    mutating func learn(_ message: NetworkMessage, _ boot: String, _ effects: inout Effects) -> LearningStep {
        if message.kind == .marker {
            free([message.token], &effects)
            return message.name == boot ? .end : .wait
        }
        // It is this one's turn: what the one before had comes first, then what was in the queue, then this marker.
        if history.isEmpty { mark(boot, &effects) }
        history.append(message)
        return .wait
    }

    mutating func takePast() -> [NetworkMessage] {
        defer { history = [] }
        return history.sorted { ($0.arrival ?? 0, $0.token) < ($1.arrival ?? 0, $1.token) }
    }

    func unsent(_ past: [NetworkMessage]) -> [NetworkVersion] {
        past.filter { $0.kind == .version }.compactMap { message in
            guard let tree = try? JSONReader.read(message.payload),
                let version = NetworkVersion(tree, message.payload), held.isUnsent(version, message.token)
            else { return nil }
            return version
        }
    }

    // MARK: Versions of network events

    func keep(_ version: NetworkVersion, number: Int, _ effects: inout Effects) {
        effects.operations.append(
            .keep(
                number: number, kind: .version, name: "\(version.eventID)/\(version.version)", payload: version.payload)
        )
    }

    /// It comes back, which says more.
    func setSent(_ version: NetworkVersion, _ effects: inout Effects) {}

    mutating func note(
        _ version: NetworkVersion, _ message: NetworkMessage, isEnd: Bool, isNewest: Bool, _ effects: inout Effects
    ) {
        free(
            held.note(
                version, message.token, arrival: message.arrival ?? 0, isKept: message.kind == .version, isEnd: isEnd),
            &effects)
    }

    // MARK: Messages of stations

    mutating func hold(_ message: NetworkMessage, of station: String, _ effects: inout Effects) {
        held.hold(message.token, arrival: message.arrival ?? 0)
    }

    func release(_ message: NetworkMessage, _ effects: inout Effects) { free([message.token], &effects) }

    mutating func setHeard(_ station: String, _ arrival: Int64?) {
        guard let arrival, let heard = held.stations[station]?.record.heard, heard < arrival else { return }
        held.stations[station]?.record.heard = arrival
    }

    /// The messages themselves are held.
    func setMark(_ mark: SequenceWatch.Mark, of station: String, _ effects: inout Effects) {}

    mutating func setOnline(
        _ isOnline: Bool, _ station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {
        if let old = held.setOffline(station, isOnline ? nil : message.token) { free([old], &effects) }
        if isOnline { free([message.token], &effects) }
    }

    mutating func setInfo(
        _ record: StationRecord, of station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {
        let new = HeldMessages.Station(tag: message.token, arrival: message.arrival ?? 0, record: record)
        if let old = held.setStation(station, new) { free([old], &effects) }
    }

    /// It is held, for the next detector.
    mutating func setEntered(_ station: String, _ message: NetworkMessage, _ effects: inout Effects) {
        let new = HeldMessages.Entered(tag: message.token, arrival: message.arrival ?? 0, payload: message.payload)
        let isForgotten = message.payload.isEmpty
        if let old = held.setEntered(station, isForgotten ? nil : new) { free([old], &effects) }
        if isForgotten { free([message.token], &effects) }
    }

    mutating func read(_ message: NetworkMessage, _ effects: inout Effects) -> (StationRecord, isNews: Bool)? {
        guard let record = StationRecord(message.payload) else {
            release(message, &effects)
            return nil
        }
        guard let known = held.stations[message.name] else { return (record, true) }
        if known.isRefreshing {
            // Its own writing comes back.
            setInfo(known.record, of: message.name, message, &effects)
            return (record, false)
        }
        // The station may have said something newer itself.
        let isNews = known.record.heard <= record.heard
        if !isNews { release(message, &effects) }
        return (record, isNews)
    }

    // MARK: By the clock

    mutating func beat(
        now: Int64, clock: Double, oldestNeeded: Int64?, _ watch: SequenceWatch, _ effects: inout Effects
    ) {
        let margin = Int64(limits.margin * 1e9)
        let needed = min(oldestNeeded ?? .max, now) - margin
        free(
            held.release(onsetsBefore: needed, eventsBefore: now - 3 * margin, most: limits.most), &effects)
        refresh(now, watch, &effects)
    }

    /// Writes down again what is old, a part of it at a time.
    private mutating func refresh(_ now: Int64, _ watch: SequenceWatch, _ effects: inout Effects) {
        let old = now - Int64(limits.refreshSeconds * 1e9)
        let gone = now - Int64(limits.forgetSeconds * 1e9)
        var left = Self.part
        for (id, entered) in held.entered where entered.arrival < old && !entered.isRefreshing {
            held.entered[id]?.isRefreshing = true
            effects.publish(Topics.place(of: id, root: root), entered.payload)
            left -= 1
            if left == 0 { return }
        }
        for (id, station) in held.stations where station.arrival < old && !station.isRefreshing {
            if station.record.heard < gone {
                held.stations[id] = nil
                free([station.tag], &effects)
                continue
            }
            held.stations[id]?.isRefreshing = true
            var record = station.record
            record.marks = watch.marks(of: id)
            keep(.station, id, record.json(), &effects)
            left -= 1
            if left == 0 { return }
        }
    }
}

extension StationRecord {
    /// As it stands in the queue; nil: it is none.
    init?(_ payload: [UInt8]) {
        guard let tree = try? JSONReader.read(payload), let info = tree["info"], let heard = tree["heard"]?.whole
        else { return nil }
        (self.info, self.heard) = (info.json(), Int64(heard))
        // (A detector of an earlier version has written one run alone.)
        var list = [tree["mark"]].compactMap { $0 }
        if case .array(let all)? = tree["marks"] { list = all }
        marks = list.compactMap { mark in
            let stamp = MessageStamp(mark)
            guard let boot = stamp.boot, let number = stamp.number else { return nil }
            return .init(boot: boot, number: number, made: mark["made"]?.anyTime)
        }
    }

    func json() -> [UInt8] {
        var bytes = Array(#"{"heard":\#(heard),"#.utf8)
        let marks = marks.map { mark -> Value in
            let made = mark.made.map { Value.string(Timestamp(nanoseconds: $0).description) } ?? .null
            return ["boot": .string(mark.boot), "seq": .int(Int64(mark.number)), "made": made]
        }
        if !marks.isEmpty { bytes += Array(#""marks":"#.utf8) + Value.array(marks).json() + [UInt8(ascii: ",")] }
        return bytes + Array(#""info":"#.utf8) + info + [UInt8(ascii: "}")]
    }
}

extension NetworkMachine where Journal == QueueJournal {
    /// Knows nothing until it has read its queue.
    init(
        _ options: NetworkOptions, _ association: AssociationOptions, boot: String,
        _ limits: QueueJournal.Limits = .init()
    ) {
        self.init(options, association, boot: boot, journal: QueueJournal(root: options.root, limits))
    }
}

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
