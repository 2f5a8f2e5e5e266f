import Propagation

extension Associator {
    /// How an onset fits an event.
    private func fit(_ kept: Kept, _ event: AssociatedEvent) -> (phase: Phase, misfit: Double)? {
        let (place, time) = (kept.place, kept.onset.seconds)
        let distance = place.distance(to: event.hypocentre.place)
        let extent = extent(event)
        guard distance <= Self.reach(extent, .p) else { return nil }
        // One onset a station; a second one is of the same shaking.
        guard !event.members.contains(where: { $0.station == kept.onset.station }) else { return nil }
        for phase in Phase.allCases {
            let travel = event.hypocentre.travel(phase, to: place)
            let misfit = abs(time - event.hypocentre.origin - travel) / options.gate(travel, phase)
            // Near the source both waves are one.
            if misfit <= 1, phase == .p || distance > 20 && distance <= Self.reach(extent, .s) {
                return (phase, misfit)
            }
        }
        return nil
    }

    /// Kilometres from the epicentre within which nine in ten of its P waves were: what lies far beyond is chance.
    func extent(_ event: AssociatedEvent) -> Double {
        let distances = event.reckoned.distances ?? distances(event)
        return distances.isEmpty ? 0 : distances[(distances.count - 1) * 9 / 10]
    }

    private func distances(_ event: AssociatedEvent) -> [Double] {
        event.members.compactMap { member -> Double? in
            guard member.phase == .p, let place = stations[member.station]?.place else { return nil }
            return place.distance(to: event.hypocentre.place)
        }.sorted()
    }

    /// Kilometres from the epicentre within which onsets may be of an event.
    func reach(of event: AssociatedEvent) -> Double { Self.reach(extent(event), .p) }

    /// How far away an onset may be of an event.
    private static func reach(_ extent: Double, _ phase: Phase) -> Double {
        min(TravelTimes.reach, phase == .p ? extent * 1.5 + 50 : extent * 1.2)
    }

    /// Gives an onset to the event that it fits best.
    /// - Returns: its index.
    mutating func join(_ kept: Kept) -> Int? {
        var best: (index: Int, phase: Phase, misfit: Double)?
        for (i, event) in events.enumerated() {
            guard abs(kept.onset.seconds - event.hypocentre.origin) < 400, let fit = fit(kept, event) else { continue }
            if fit.misfit < best?.misfit ?? .infinity { best = (i, fit.phase, fit.misfit) }
        }
        guard let best else { return nil }
        add(kept.onset, best.phase, to: best.index)
        return best.index
    }

    private mutating func add(_ onset: StationOnset, _ phase: Phase, to index: Int) {
        guard let at = position(of: onset) else { return }
        pool[at].event = events[index].serial
        if events[index].reckoned.distances == nil { events[index].reckoned.distances = distances(events[index]) }
        let member = AssociatedEvent.Member(eventID: onset.eventID, station: onset.station, phase: phase)
        events[index].append(member, at: stations[onset.station]?.place)
        events[index].changed = max(events[index].changed, now)
    }

    /// All onsets that belong to nothing and fit an event join it.
    mutating func sweep(_ index: Int) {
        for kept in pool where kept.event == nil && abs(kept.onset.seconds - events[index].hypocentre.origin) < 400 {
            if let fit = fit(kept, events[index]) { add(kept.onset, fit.phase, to: index) }
        }
    }

    /// Improves place and time with all onsets; those that no longer fit leave.
    mutating func refit(_ index: Int) {
        for _ in 0..<2 {
            let kept = members(of: index)
            let arrivals = Self.arrivals(kept)
            var fitted = events[index].hypocentre.fitted(to: arrivals)
            let isAnother = fitted.leaveFalseMinimum(arrivals, tolerance: options.gate)
            // What has left the stations behind explains anything.
            guard arrivals.contains(where: { $0.station.distance(to: fitted.place) < options.searchRadius }) else {
                break
            }
            events[index].hypocentre = fitted
            events[index].fittedWith = kept.count
            let gone = Set(
                zip(kept, arrivals).filter { _, arrival in
                    let travel = fitted.travel(arrival.phase, to: arrival.station)
                    return abs(arrival.time - fitted.origin - travel) > 1.5 * options.gate(travel, arrival.phase)
                }.map(\.0.kept.onset.eventID))
            defer { if isAnother { sweep(index) } }
            guard !gone.isEmpty, kept.count - gone.count >= options.nearStations else { break }
            letGo(gone, of: index)
        }
        chooseAnew(index)
        // The pool has them in their order.
        var order: [String: Int] = [:]
        for (i, kept) in pool.enumerated() where kept.event == events[index].serial { order[kept.onset.eventID] = i }
        events[index].members.sort { a, b in
            guard let x = order[a.eventID], let y = order[b.eventID] else { return a.eventID < b.eventID }
            return x < y
        }
        listSilent(index)
    }

    /// Onsets (their ids) leave an event, and belong to none.
    private mutating func letGo(_ gone: Set<String>, of index: Int) {
        events[index].members.removeAll { gone.contains($0.eventID) }
        for i in pool.indices where gone.contains(pool[i].onset.eventID) { pool[i].event = nil }
    }

    /// An onset that joins no event, because it is seconds off its wave, may be right and the place of the event wrong: another
    /// place is looked for with it as well. (A wrong place keeps right onsets away, and those that join it do not contradict it.)
    mutating func lookAgain(with kept: Kept) {
        let near = events.filter { event in
            event.closed == nil && event.isMature(options)
                && abs(kept.onset.seconds - event.hypocentre.arrival(.p, at: kept.place)) <= Self.clockSeconds
                && kept.place.distance(to: event.hypocentre.place) <= reach(of: event)
        }.map(\.serial)
        for serial in near {
            guard let index = events.firstIndex(where: { $0.serial == serial }), chooseAnew(index, whereGrown: true)
            else { continue }
            refit(index)
            mergeInto(serial)
        }
    }

    /// Onsets whose clocks are some seconds wrong may have come together with some that are right, and the place that they made
    /// keeps the others away. Where the onsets of an event fit badly, and another place has clearly more of those of its time,
    /// it is there.
    /// - Parameter whereGrown: of many onsets, only where there are clearly more than at the last look.
    /// - Returns: whether it has moved.
    @discardableResult
    private mutating func chooseAnew(_ index: Int, whereGrown: Bool = false) -> Bool {
        let event = events[index]
        guard event.isMature(options), event.hypocentre.rms > options.gate / 4 else { return false }
        let reach = reach(of: event)
        let phases = Dictionary(event.members.map { ($0.eventID, $0.phase) }, uniquingKeysWith: { first, _ in first })
        // One of each station: of those that may be of its P wave, the one that is nearest to it.
        var nearest: [String: (kept: Kept, misfit: Double)] = [:]
        for kept in pool where kept.event == event.serial || kept.event == nil {
            guard phases[kept.onset.eventID] != .s, kept.place.distance(to: event.hypocentre.place) <= reach else {
                continue
            }
            let misfit = abs(kept.onset.seconds - event.hypocentre.arrival(.p, at: kept.place))
            guard misfit <= Self.clockSeconds, misfit < nearest[kept.onset.station]?.misfit ?? .infinity else {
                continue
            }
            nearest[kept.onset.station] = (kept, misfit)
        }
        guard !whereGrown || nearest.count < 40 || nearest.count * 10 >= event.lookedWith * 11 else { return false }
        events[index].lookedWith = nearest.count
        let around = nearest.values.map(\.kept).sorted { StationOnset.precedes($0.onset, $1.onset) }
        let arrivals = Self.arrivals(around.map { ($0, .p) })
        let agreement = Agreement(arrivals, options)
        let before = agreement.worth(event.hypocentre)
        guard let best = agreement.best(around: event.hypocentre), best.worth >= max(before + 3, before * 1.1)
        else { return false }
        events[index].hypocentre = best.source
        let leaving = Set(
            around.filter { kept in
                let travel = best.source.travel(.p, to: kept.place)
                return kept.event != nil
                    && abs(kept.onset.seconds - best.source.origin - travel) > options.gate(travel, .p)
            }.map(\.onset.eventID))
        letGo(leaving, of: index)
        sweep(index)
        events[index].hypocentre = best.source.fitted(to: Self.arrivals(members(of: index)))
        events[index].fittedWith = events[index].members.count
        return true
    }

    private static func arrivals(_ onsets: [(kept: Kept, phase: Phase)]) -> [Arrival] {
        onsets.map { Arrival(station: $0.kept.place, phase: $0.phase, time: $0.kept.onset.seconds) }
    }

    mutating func listSilent(_ index: Int) {
        let event = events[index]
        events[index].silent =
            support(
                of: event.hypocentre, members: Set(event.members.map(\.station)), now: Double(now) / 1e9
            ).silent
    }

    /// The onsets of an event, in their order.
    func members(of index: Int) -> [(kept: Kept, phase: Phase)] { members(of: events[index]) }

    func members(of event: AssociatedEvent) -> [(kept: Kept, phase: Phase)] {
        var phases: [String: Phase] = [:]
        for member in event.members { phases[member.eventID] = member.phase }
        return pool.compactMap { kept in
            guard kept.event == event.serial, let phase = phases[kept.onset.eventID] else { return nil }
            return (kept, phase)
        }
    }

    /// Whether an onset came while the waves of an event were passing its station.
    func isShadowed(_ kept: Kept) -> Bool {
        events.contains { event in
            guard event.isMature(options),
                kept.place.distance(to: event.hypocentre.place) <= Self.reach(extent(event), .p)
            else {
                return false
            }
            let travel = event.hypocentre.travel(.p, to: kept.place)
            let from = event.hypocentre.origin + travel - 2 * options.gate(travel, .p)
            return kept.onset.seconds >= from
                && kept.onset.seconds <= event.hypocentre.arrival(.s, at: kept.place) + 10
        }
    }

    /// Two events whose onsets have one source become one.
    mutating func mergeInto(_ serial: Int) {
        guard let index = events.firstIndex(where: { $0.serial == serial }) else { return }
        let event = events[index]
        var merged = false
        for other in events where other.serial != serial {
            guard abs(other.hypocentre.origin - event.hypocentre.origin) < 120 else { continue }
            let theirs = pool.filter { $0.event == other.serial }
            // What came first may be of clocks that are ahead. (Those that are known to be wrong do not speak for it.)
            let speaking = theirs.count { !$0.hasWrongClock }
            if event.isMature(options), event.members.count >= 2 * speaking,
                event.members.count >= theirs.count || speaking < options.nearStations,
                isOfWrongClocks(other.hypocentre, theirs, beside: event)
            {
                release(other.serial)
                events.removeAll { $0.serial == other.serial }
                continue
            }
            let fitting = theirs.compactMap { kept in fit(kept, event).map { (kept: kept, phase: $0.phase) } }
            if other.members.count > event.members.count {
                // A wrong place, far away, was found first and has most of the onsets. The right one has them all, and closer.
                guard fitting.count * 10 >= theirs.count * 9 else { continue }
                let shared = Self.arrivals(fitting)
                let source = event.hypocentre.fitted(to: Self.arrivals(members(of: event)) + shared)
                guard source.middleResidual(shared) < other.hypocentre.middleResidual(shared) else { continue }
            } else {
                let needed =
                    other.isMature(options) ? max(3, (theirs.count + 1) / 2) : min(3, (theirs.count * 3 + 9) / 10)
                guard fitting.count >= needed else { continue }
            }
            release(other.serial)
            events.removeAll { $0.serial == other.serial }
            merged = true
        }
        guard merged, let index = events.firstIndex(where: { $0.serial == serial }) else { return }
        sweep(index)
        refit(index)
    }
}
