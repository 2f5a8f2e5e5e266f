import Glibc
import Messages
import Propagation
import Values

/// Decides which versions of network events are published. It knows an event by its onsets alone, so that whatever the
/// associator makes of later onsets, or a successor of earlier ones, is the same event for those who read of it.
struct Announcer: Sendable {
    /// The published state of one event.
    struct Announced: Sendable {
        var id: String
        var version: Int
        var onsets: Set<String>
        /// One of the stations that saw it.
        var station = ""
        /// Event time of the last version.
        var time: Int64
        /// Bytes of the last content.
        var content: [UInt8]
        var last: NetworkEventMessage?
        var isEnded = false
        /// Event time at which an event of many onsets had nothing new.
        var looked = Int64.min / 2
    }

    /// To say what is known of so many onsets takes so long that it is not done for each message that changes nothing.
    private static let manyOnsets = 200

    /// Versions go out early, because they may be of use within seconds: as long as an earthquake's waves are on their
    /// way, a version with another onset may follow faster, by this factor, for so many seconds from its origin.
    var isEarly = false
    private static let hurry = 5.0
    private static let hurrySeconds = 30.0

    private(set) var announced: [Announced] = []
    /// Changes that wait until the last version is old enough.
    private(set) var deadline: Int64?

    /// Goes on with what has been said before.
    mutating func restore(_ one: Announced) {
        announced.removeAll { $0.id == one.id && $0.version <= one.version }
        if !announced.contains(where: { $0.id == one.id }) { announced.append(one) }
    }

    /// A successor looks whether there is anything that its predecessor had not said yet.
    mutating func look(from now: Int64, _ options: AssociationOptions) {
        let open = announced.filter { !$0.isEnded }
        // Nothing has happened here yet, so that there is nothing to say.
        if open.isEmpty, now == .min { return }
        deadline = open.map { max(now, $0.time + pause(isFresh: isEarly, options)) }.min() ?? now
    }

    /// Nanoseconds between two versions of an event at least.
    private func pause(isFresh: Bool, _ options: AssociationOptions) -> Int64 {
        Int64(options.versionSeconds * 1e9 / (isFresh ? Self.hurry : 1))
    }

    /// Whether somebody may be waiting for what is new of an event, and there is more than better amplitudes.
    private func isFresh(_ event: AssociatedEvent, _ one: Announced, _ now: Int64) -> Bool {
        isEarly && event.members.count < Self.manyOnsets && event.members.count > one.onsets.count
            && Double(now) / 1e9 - event.hypocentre.origin < Self.hurrySeconds
    }

    /// Leaves out what belongs to another region: it would be taken for an event that has gone.
    mutating func keep(_ isOwn: (String) -> Bool) { announced.removeAll { !isOwn($0.station) } }

    mutating func merge(_ other: Announcer) {
        // What was restored is known to both.
        for one in other.announced { restore(one) }
        announced.sort { $0.id < $1.id }
    }

    /// Compares what the associator has with what has been said.
    /// - Returns: what is to be said.
    mutating func observe(_ core: Associator, now: Int64) -> [NetworkEventMessage] {
        deadline = nil
        let options = core.options
        let (oldest, isBefore) = now.subtractingReportingOverflow(Int64((options.memorySeconds + 300) * 1e9))
        if !isBefore { announced.removeAll { $0.isEnded && $0.time < oldest } }
        located = located.filter { serial, _ in core.events.contains { $0.serial == serial } }
        guard !core.events.isEmpty || announced.contains(where: { !$0.isEnded }) else { return [] }
        var messages: [NetworkEventMessage] = []
        let known = match(core.events)
        for (index, event) in core.events.enumerated() {
            guard let at = known[index] else {
                // What has ended before it was said once is said no more.
                if event.closed == nil { messages.append(first(event, core, now)) }
                continue
            }
            guard !announced[at].isEnded else { continue }
            let isFresh = isFresh(event, announced[at], now)
            let next = max(announced[at].time, announced[at].looked) + pause(isFresh: isFresh, options)
            let isDue = event.closed != nil || now >= next
            // Sirens may wait for the first magnitude.
            let isAwaited = isFresh && announced[at].last.map { $0.magnitude == nil } ?? false
            var message = isDue || isAwaited ? message(event, core) : NetworkEventMessage()
            guard isDue || message.magnitude != nil else {
                deadline = min(deadline ?? next, next)
                continue
            }
            message.kind = event.closed == nil ? .update : .end
            if let said = say(message, at, now) {
                messages.append(said)
            } else if event.members.count >= Self.manyOnsets {
                announced[at].looked = now
            }
        }
        let matched = Set(known.compactMap(\.self))
        for at in announced.indices where !announced[at].isEnded && !matched.contains(at) {
            guard messages.allSatisfy({ $0.eventID != announced[at].id }) else { continue }
            if let said = gone(at, core.events, known, now) { messages.append(said) }
        }
        return messages
    }

    /// Onsets that an event shares with one that was announced, as they were counted last.
    private struct Count: Sendable {
        var edition: Int
        var version: Int
        var members: Int
        var shared = 0
    }

    private struct Pair: Hashable, Sendable {
        var serial: Int
        var id: String
    }

    private var counts: [Pair: Count] = [:]

    /// The places that were found last, by the serial numbers of events, and what they follow from.
    private var located: [Int: (evidence: Associator.Evidence, location: Location)] = [:]

    /// Where an event was. It is located anew where an onset, a peak or a silent station has changed, and only there.
    private mutating func location(of event: AssociatedEvent, _ core: Associator) -> Location {
        let evidence = core.evidence(of: event)
        if let known = located[event.serial], known.evidence == evidence { return known.location }
        let location = core.location(by: evidence)
        located[event.serial] = (evidence, location)
        return location
    }

    /// How many onsets both have. What was counted before is not counted again, as long as there were only more of them.
    private func count(_ event: AssociatedEvent, _ one: Announced, _ before: Count?) -> Count {
        let edition = event.reckoned.edition
        var count = Count(edition: edition, version: one.version, members: 0)
        if let before, before.edition == edition, before.version == one.version, before.members <= event.members.count {
            count = before
        }
        for member in event.members[count.members...] where one.onsets.contains(member.eventID) { count.shared += 1 }
        count.members = event.members.count
        return count
    }

    /// For each event, the one that was announced and shares most onsets with it.
    private mutating func match(_ events: [AssociatedEvent]) -> [Int?] {
        var pairs: [(shared: Int, event: Int, at: Int)] = []
        let before = counts
        counts = [:]
        for (i, event) in events.enumerated() {
            // One that has been withdrawn does not come back; what its onsets are after all is another.
            for (at, one) in announced.enumerated() where one.last?.isWithdrawn != true {
                let pair = Pair(serial: event.serial, id: one.id)
                let count = count(event, one, before[pair])
                counts[pair] = count
                let shared = count.shared
                if shared > 0, AssociatedEvent.isSame(shared: shared, event.members.count, one.onsets.count) {
                    pairs.append((shared, i, at))
                }
            }
        }
        pairs.sort { ($1.shared, $0.at, $0.event) < ($0.shared, $1.at, $1.event) }
        var result = [Int?](repeating: nil, count: events.count)
        var taken: Set<Int> = []
        for pair in pairs where result[pair.event] == nil && !taken.contains(pair.at) {
            result[pair.event] = pair.at
            taken.insert(pair.at)
        }
        return result
    }

    private mutating func first(_ event: AssociatedEvent, _ core: Associator, _ now: Int64) -> NetworkEventMessage {
        var message = message(event, core)
        message.kind = .onset
        // Two at the same millisecond have two names.
        var stamp = message.origin
        while announced.contains(where: { $0.id == Self.name(stamp) }) { stamp += 1_000_000 }
        message.eventID = Self.name(stamp)
        announced.append(
            Announced(
                id: message.eventID, version: 1, onsets: Set(message.stations.map(\.eventID)),
                station: message.stations.first?.id ?? "", time: now,
                content: message.contentJSON, last: message))
        return message
    }

    private static func name(_ origin: Int64) -> String { "net-\(Timestamp(nanoseconds: origin).stamp)" }

    /// The next version, where it says anything new.
    private mutating func say(_ content: NetworkEventMessage, _ at: Int, _ now: Int64) -> NetworkEventMessage? {
        var message = content
        let bytes = message.contentJSON
        guard message.kind == .end || bytes != announced[at].content else { return nil }
        message.eventID = announced[at].id
        message.version = announced[at].version + 1
        announced[at].version += 1
        announced[at].time = now
        announced[at].content = bytes
        announced[at].last = message
        announced[at].isEnded = message.kind == .end
        if !message.stations.isEmpty { announced[at].onsets = Set(message.stations.map(\.eventID)) }
        return message
    }

    /// Its onsets belong to another event, or to none.
    private mutating func gone(
        _ at: Int, _ events: [AssociatedEvent], _ known: [Int?], _ now: Int64
    ) -> NetworkEventMessage? {
        var message = announced[at].last ?? NetworkEventMessage()
        message.kind = .end
        let into = events.indices.filter { known[$0] != nil }.max { a, b in
            shared(events[a], announced[at]) < shared(events[b], announced[at])
        }
        if let into, shared(events[into], announced[at]) > 0, let other = known[into] {
            message.mergedInto = announced[other].id
        } else {
            message.isWithdrawn = true
        }
        return say(message, at, now)
    }

    private func shared(_ event: AssociatedEvent, _ one: Announced) -> Int {
        event.members.reduce(0) { $0 + (one.onsets.contains($1.eventID) ? 1 : 0) }
    }
}

extension Announcer {
    /// A message with all that is known of an event, without its name.
    private mutating func message(_ event: AssociatedEvent, _ core: Associator) -> NetworkEventMessage {
        var message = NetworkEventMessage()
        let location = location(of: event, core)
        let source = location.source
        message.origin = Int64((source.origin * 1e3).rounded()) * 1_000_000
        message.latitude = Self.rounded(source.place.latitude, 1e4)
        message.longitude = Self.rounded(source.place.longitude, 1e4)
        message.depth = Self.rounded(source.depth, 10)
        message.depthSigma = Self.rounded(source.depthSigma, 10)
        message.depthClass = source.depth < 70 ? .shallow : source.depth < 300 ? .intermediate : .deep
        message.ellipse = .init(
            semiMajor: Self.rounded(source.semiMajor, 100), semiMinor: Self.rounded(source.semiMinor, 100),
            azimuth: Self.rounded(source.azimuth, 1))
        message.rms = Self.rounded(source.rms, 1000)
        message.silent = event.silent
        var peaks: [(peak: Double, distance: Double, phase: Phase)] = []
        var observations: [MagnitudeRelation.Observation] = []
        for (kept, phase) in core.members(of: event) {
            let onset = kept.onset
            let distance = kept.place.distance(to: source.place)
            message.stations.append(
                .init(
                    id: onset.station, eventID: onset.eventID, onset: onset.time, phase: phase.rawValue,
                    residual: Self.rounded(onset.seconds - source.arrival(phase, at: kept.place), 1000),
                    distance: Self.rounded(distance, 10)))
            let slant = (distance * distance + source.depth * source.depth).squareRoot()
            // Before the S wave has come, the peak is that of the P wave.
            let isBeforeS = Double(onset.asOf) / 1e9 < source.arrival(.s, at: kept.place)
            peaks.append((onset.pga, slant, isBeforeS ? .p : .s))
            observations.append(.init(place: kept.place, peak: onset.pga, phase: isBeforeS ? .p : .s))
            if onset.pga > message.pga.value || message.pga.station.isEmpty {
                message.pga = .init(value: onset.pga, station: onset.station)
            }
            if let mmi = onset.mmi, mmi > message.mmi?.value ?? -1 {
                message.mmi = .init(value: mmi, station: onset.station)
            }
            switch onset.likely {
            case .earthquake: message.classes.earthquake += 1
            case .disturbance: message.classes.disturbance += 1
            case .unclassified: message.classes.unclassified += 1
            }
        }
        let classes = message.classes
        if classes.earthquake + classes.disturbance > 0 {
            message.classes.likely = classes.earthquake >= classes.disturbance ? .earthquake : .disturbance
        }
        message.location = .init(
            quality: location.quality, azimuth: Self.rounded(location.azimuth, 1),
            distance: Self.rounded(location.distance, 10),
            extent: Self.rounded(location.extent, 10),
            region: location.region.map { ring in
                .init(latitude: ring.map { Self.rounded($0.x, 1e4) }, longitude: ring.map { Self.rounded($0.y, 1e4) })
            },
            others: location.others.map {
                .init(
                    latitude: Self.rounded($0.place.latitude, 1e4), longitude: Self.rounded($0.place.longitude, 1e4),
                    depth: Self.rounded($0.depth, 10))
            })
        let magnitude = MagnitudeRelation.estimate(peaks)
        var isOpen = false
        if let magnitude {
            let opposition = core.opposition(to: event, at: source, magnitude: magnitude.value)
            isOpen = opposition.leavesOpen(event.members.count)
            if opposition.isMajority(over: event.members.count) {
                message.dispute = .silence
                message.silent = Set(message.silent + opposition.unmoved).sorted()
            }
        }
        if message.dispute == nil, core.isOfLoneOperator(event) { message.dispute = .loneOperator }
        message.clocks = core.wrongClocks(event, source, magnitude: magnitude?.value).map {
            .init(id: $0.station, offset: Self.rounded($0.seconds, 10))
        }
        // Where the place is not known, nor is the distance that a magnitude is computed with. Without a magnitude nobody is
        // alarmed, so that it waits for those that may contradict.
        if location.quality == .good, !message.isDisputed, !isOpen, let magnitude {
            let open = MagnitudeRelation.sigma(of: observations, at: location.candidates)
            let sigma = (magnitude.sigma * magnitude.sigma + open * open).squareRoot()
            message.magnitude = .init(
                value: Self.rounded(magnitude.value, 10), sigma: Self.rounded(sigma, 100),
                relation: MagnitudeRelation.name)
        }
        return message
    }

    private static func rounded(_ value: Double, _ parts: Double) -> Double { (value * parts).rounded() / parts }
}
