import Propagation

/// Finds the onsets of many stations that one earthquake has made. A pure state machine in event time: it is given
/// onsets in their order, and knows no clock. What it holds are values, so that a copy can be asked what would follow.
struct Associator: Sendable {
    /// A station, as far as it is known.
    struct Station: Sendable {
        var place: Place?
        var isOnline = true
        /// Since when, seconds of UTC.
        var since = -Double.infinity
        /// Name of who runs it, as it was entered; nil: nobody has entered it.
        var operatorName: String?
        /// Times of its onsets of the last minutes, seconds of UTC.
        var recent: [Double] = []
        /// Seconds by which its onsets were off the P waves of the last earthquakes that are forgotten.
        var offsets: [Double] = []

        /// Whether it would have told of an onset at a time (seconds of UTC), so that its silence means something.
        func watches(at time: Double) -> Bool { isOnline && since <= time }
    }

    /// An onset that is kept.
    struct Kept: Sendable {
        var onset: StationOnset
        var place: Place
        /// The event that it belongs to.
        var event: Int?
        /// It came while the waves of an event passed, without fitting it: on its own it makes no other.
        var isShadowed = false
        /// By what the last earthquakes say of its station.
        var hasWrongClock = false

        /// Whether it may be one of those that an event is made of.
        var isSeed: Bool { !onset.isDismissed && !hasWrongClock }
    }

    let options: AssociationOptions
    /// Stations of the whole broker that take part, also those that are too far away to be known here.
    var allStations = 0
    var stations: [String: Station] = [:]
    /// In their order.
    var pool: [Kept] = []
    /// Ids of what is in the pool.
    private var names: Set<String> = []
    /// In the order of their making.
    var events: [AssociatedEvent] = []
    /// Onsets that are looked at again, and when (nanoseconds of UTC).
    private var rechecks: [(time: Int64, eventID: String)] = []
    private var serial = 0
    /// Event time, nanoseconds of UTC.
    private(set) var now = Int64.min
    /// Seconds that unassociated onsets are kept.
    static let poolSeconds = 180.0
    private static let busyOnsets = 10

    init(_ options: AssociationOptions = AssociationOptions()) { self.options = options }

    // MARK: Stations

    /// - Parameter place: nil where it is not known (any more).
    mutating func setPlace(_ place: Place?, of station: String) {
        stations[station, default: Station()].place = place
        for i in events.indices { events[i].reckoned.distances = nil }
    }

    /// - Parameter name: of who runs it; nil: nobody has entered it.
    mutating func setOperator(_ name: String?, of station: String) {
        stations[station, default: Station()].operatorName = name
    }

    /// Whether silence of a station means anything.
    /// - Parameter since: seconds of UTC; of what was before, it could say nothing.
    mutating func setOnline(_ isOnline: Bool, _ station: String, since: Double = -.infinity) {
        stations[station, default: Station()].isOnline = isOnline
        stations[station]?.since = since
    }

    func place(of station: String) -> Place? { stations[station]?.place }

    // MARK: Time

    /// By so much a station has to take an event rather for an earthquake than before for it to be looked at anew.
    private static let rise = 0.1
    /// A first judgement of so much as well.
    private static let likely = 0.5

    /// When something happens by itself next.
    var deadline: Int64? {
        (events.map { $0.deadline(options) } + rechecks.map(\.time)).min()
    }

    /// Whether anything is to be looked at again.
    var isWaiting: Bool { !rechecks.isEmpty }

    /// Does what is due by then. Time never goes back.
    mutating func advance(to time: Int64) {
        while let due = deadline, due <= time {
            now = max(now, due)
            let again = rechecks.filter { $0.time <= now }.map(\.eventID).sorted()
            rechecks.removeAll { $0.time <= now }
            for id in again {
                if let kept = pool.first(where: { $0.onset.eventID == id }), kept.event == nil { nucleate(kept) }
            }
            for i in events.indices where events[i].deadline(options) <= now {
                if events[i].closed != nil {
                    events[i].isForgotten = true
                } else {
                    events[i].closed = now
                    events[i].offsets = offsets(beside: events[i])
                }
            }
            for event in events where event.isForgotten {
                rememberOffsets(event)
                release(event.serial, andForget: true)
            }
            events.removeAll(where: \.isForgotten)
        }
        now = max(now, time)
    }

    /// Looks at an onset again at a time (seconds of UTC), unless another one of the same source is looked at by then. Of a
    /// few onsets each is looked at: the best source may then be one that leaves any of them out.
    mutating func recheck(_ kept: Kept, of chosen: [Kept], at seconds: Double) {
        // (A little later: seconds of UTC are known to 0.2 µs, and what is due at a time has to be over then.)
        let time = Int64(seconds * 1e9) + 1_000_000
        let one = kept.onset.eventID
        let names = chosen.count < Self.manyAtOnce ? [one] : Set(chosen.map(\.onset.eventID))
        if time > now, !rechecks.contains(where: { $0.time <= time && names.contains($0.eventID) }) {
            rechecks.append((time, one))
        }
    }

    // MARK: Onsets

    /// Takes what a station says of an event; what is older than what has been taken already is taken all the same.
    /// - Parameters:
    ///   - isFirst: false for what follows the onset: where the onset was lost, it takes its place.
    ///   - time: event time, nanoseconds of UTC.
    mutating func process(_ onset: StationOnset, isFirst: Bool, at time: Int64) {
        advance(to: time)
        if let known = position(of: onset) { return update(known, onset) }
        // Another onset under the name of a known one is no other onset.
        guard !names.contains(onset.eventID) else { return }
        guard let place = stations[onset.station]?.place, isFirst || onset.seconds > Double(now) / 1e9 - 60 else {
            return
        }
        prune()
        stations[onset.station]?.recent.append(onset.seconds)
        var kept = Kept(onset: onset, place: place, hasWrongClock: stations[onset.station]?.hasWrongClock ?? false)
        insert(kept)
        if let event = join(kept) {
            guard isSharp(events[event]) else { return withdraw(event) }
            if events[event].isMature(options) || events[event].closed != nil {
                if events[event].members.count * 10 >= events[event].fittedWith * 11 || events[event].members.count < 40
                {
                    refit(event)
                }
                let isWeak = events[event].members.contains { $0.eventID == onset.eventID && $0.phase == .s }
                mergeInto(events[event].serial)
                // What fits the S wave of one earthquake may be the P wave of another.
                guard isWeak, let index = position(of: onset) else { return }
                pool[index].isShadowed = true
                return nucleate(pool[index])
            }
            refit(event)
        } else {
            lookAgain(with: kept)
            if let index = position(of: onset) {
                // An event has moved, and has it now.
                guard pool[index].event == nil else { return }
                kept.isShadowed = isShadowed(kept)
                pool[index].isShadowed = kept.isShadowed
            }
        }
        nucleate(kept)
    }

    private mutating func update(_ index: Int, _ later: StationOnset) {
        let before = pool[index].onset.weight
        let isFirst = pool[index].onset.judgement == nil && later.judgement != nil
        guard pool[index].onset.update(later) else { return }
        guard let serial = pool[index].event else {
            // Onsets that spoke too little for an earthquake, or had to be waited with, may be one now.
            let weight = pool[index].onset.weight
            if weight > before + Self.rise || isFirst && weight > Self.likely { nucleate(pool[index]) }
            return
        }
        guard let event = events.firstIndex(where: { $0.serial == serial }), events[event].closed == nil else { return }
        events[event].changed = max(events[event].changed, now)
        guard pool[index].onset.weight < before else { return }
        // What the stations have judged to be no earthquake is none.
        if !isLikely(members(of: events[event]).map(\.kept)) { withdraw(event) }
    }

    /// There was no such event.
    private mutating func withdraw(_ event: Int) {
        release(events[event].serial)
        events.remove(at: event)
    }

    private mutating func insert(_ kept: Kept) {
        var at = pool.count
        while at > 0, StationOnset.precedes(kept.onset, pool[at - 1].onset) { at -= 1 }
        pool.insert(kept, at: at)
        names.insert(kept.onset.eventID)
    }

    func position(of onset: StationOnset) -> Int? {
        // In their order, by time.
        var (low, high) = (0, pool.count)
        while low < high {
            let middle = (low + high) / 2
            if StationOnset.precedes(pool[middle].onset, onset) { low = middle + 1 } else { high = middle }
        }
        return low < pool.count && pool[low].onset.eventID == onset.eventID ? low : nil
    }

    private mutating func prune() {
        let oldest = Double(now) / 1e9 - Self.poolSeconds
        guard let first = pool.first, first.onset.seconds < oldest else { return }
        for kept in pool where kept.event == nil && kept.onset.seconds < oldest { forget(kept) }
        pool.removeAll { $0.event == nil && $0.onset.seconds < oldest }
    }

    private mutating func forget(_ kept: Kept) {
        stations[kept.onset.station]?.recent.removeAll { $0 == kept.onset.seconds }
        names.remove(kept.onset.eventID)
    }

    /// Whether a station has had so many onsets within three minutes that the next one says nothing.
    func isBusy(_ onset: StationOnset) -> Bool {
        (stations[onset.station]?.recent.count ?? 0) >= Self.busyOnsets && position(of: onset) == nil
    }

    /// Takes in all that another one has.
    mutating func merge(_ other: Associator) {
        stations.merge(other.stations) { $1.place == nil ? $0 : $1 }
        var serials: [Int: Int] = [:]
        for event in other.events {
            serials[event.serial] = newSerial()
            events.append(event.renumbered(serial))
        }
        for kept in other.pool {
            var kept = kept
            kept.event = kept.event.flatMap { serials[$0] }
            insert(kept)
        }
        rechecks += other.rechecks
        now = max(now, other.now)
    }

    /// The oldest onset that may still matter; what is older need not be kept by anybody.
    var oldestNeeded: Int64? {
        // What the next onset will drop, whenever that comes, is needed by nobody.
        let oldest = Double(now) / 1e9 - Self.poolSeconds
        return pool.first { $0.event != nil || $0.onset.seconds >= oldest }?.onset.time
    }

    // MARK: Events

    mutating func newSerial() -> Int {
        serial += 1
        return serial
    }

    /// Its onsets belong to nothing any more.
    mutating func release(_ serial: Int, andForget: Bool = false) {
        for i in pool.indices where pool[i].event == serial {
            if andForget { forget(pool[i]) }
            if !andForget { (pool[i].event, pool[i].isShadowed) = (nil, false) }
        }
        if andForget { pool.removeAll { $0.event == serial } }
    }
}

/// Stations around a supposed source: those that have an onset of it, and those that should have one.
struct Support: Equatable {
    /// Stations with an onset, of the nearest ones.
    var used = 0
    /// Names of the stations that are nearer than the last of them, where the wave has been and nothing was felt.
    var silent: [String] = []
    /// Stations without an onset in the whole circle that was asked.
    var allSilent = 0
    /// The last wave at a station of that circle is over then; seconds of UTC.
    var settled = 0.0

    /// A source that few have felt needs nearly all stations around it; one that many have felt may have a third of them
    /// silent, for want of sensitivity, power or network.
    var isEnough: Bool { silent.count <= (used - 2) / 2 }
}

extension Associator {
    /// - Parameters:
    ///   - source: supposed place and time.
    ///   - members: stations with an onset of it.
    ///   - now: seconds of UTC.
    ///   - margin: stations up to so much farther than the farthest member are asked, too: a factor, and km.
    func support(
        of source: Hypocentre, members: Set<String>, now: Double, margin: (factor: Double, more: Double) = (1, 0)
    ) -> Support {
        var farthest = 0.0
        for name in members {
            if let place = stations[name]?.place { farthest = max(farthest, place.distance(to: source.place)) }
        }
        let reach = farthest * margin.factor + margin.more
        var near: [(distance: Double, name: String, isMember: Bool)] = []
        var settled = 0.0
        for (name, station) in stations {
            guard let place = station.place else { continue }
            let distance = place.distance(to: source.place)
            guard distance <= reach else { continue }
            if members.contains(name) {
                near.append((distance, name, true))
                continue
            }
            let travel = source.travel(.p, to: place)
            guard station.watches(at: source.origin + travel) else { continue }
            let due = source.origin + travel + options.gate(travel, .p)
            settled = max(settled, due)
            if due < now, !hasOnset(name, around: source, place) { near.append((distance, name, false)) }
        }
        near.sort { $0.distance != $1.distance ? $0.distance < $1.distance : $0.name < $1.name }
        // The circle that speaks most for it: one stray onset far away does not make all between silent.
        var best = Support(settled: settled)
        var (used, score, bestScore) = (0, 0, 0)
        var silent: [String] = []
        for one in near {
            if one.isMember {
                used += 1
                score += 1
            } else {
                silent.append(one.name)
                score -= 1
            }
            if one.isMember, score >= bestScore {
                bestScore = score
                (best.used, best.silent) = (used, silent)
            }
        }
        best.allSilent = silent.count
        best.silent.sort()
        return best
    }

    /// Whether a station has triggered while the waves of a source passed, on whatever.
    private func hasOnset(_ name: String, around source: Hypocentre, _ place: Place) -> Bool {
        guard let times = stations[name]?.recent, !times.isEmpty else { return false }
        let travel = source.travel(.p, to: place)
        let from = source.origin + travel - options.gate(travel, .p)
        let until = source.arrival(.s, at: place) + 10
        return times.contains { from <= $0 && $0 <= until }
    }

    /// Kilometres from the outermost of an event's stations up to which another one could confirm the event.
    private static var confirmKilometres: Double { 150 }

    /// Whether only stations of one operator report an event, a few, and there is no other station near that could confirm it,
    /// though the broker has others: whoever has the accounts of a few stations can invent an earthquake there. Stations of
    /// which nobody has entered who runs them count as those of one.
    func isOfLoneOperator(_ event: AssociatedEvent) -> Bool {
        guard !options.believesLoneOperator, event.members.count < options.matureOnsets else { return false }
        let names = Set(event.members.map(\.station))
        guard Set(names.map { stations[$0]?.operatorName ?? "" }).count < 2 else { return false }
        let places = names.compactMap { stations[$0]?.place }
        let centre = Place.middle(of: places)
        let radius = places.reduce(0) { max($0, $1.distance(to: centre)) }
        var around = 0
        for (name, station) in stations {
            guard let place = station.place, place.distance(to: centre) <= radius + Self.confirmKilometres else {
                continue
            }
            if station.isOnline, !names.contains(name) { return false }
            around += 1
        }
        return allStations > around
    }
}
