import Propagation

extension Associator {
    /// Looks whether an onset and those around it have a source that no event has yet, or a better one than a young event
    /// has.
    mutating func nucleate(_ first: Kept) {
        guard first.isSeed else { return }
        let around = neighbours(of: first)
        guard around.count + 1 >= options.nearStations else { return }
        let onsets = [first] + around
        let quiet = quiet(around: first)
        let search = OctreeSearch(
            onsets.map { ($0.place, $0.onset.seconds) }, silent: quiet, tolerance: options.gate)
        var best: (worth: Double, source: Hypocentre, chosen: [Kept])?
        for place in search.places(radius: options.searchRadius, atLeast: options.nearStations) {
            guard let (source, chosen) = improve(place, onsets) else { continue }
            let worth = worth(source, chosen, quiet)
            if worth > best?.worth ?? -.infinity { best = (worth, source, chosen) }
        }
        // In a small network a few onsets fit many places far away as well, and the search may see no others.
        if onsets.count >= options.minimumStations,
            best.map({ !isClose($0.source, $0.chosen, first) }) ?? true, isSmall(around: first.place, onsets.count)
        {
            for start in startsBetween(onsets) {
                guard let (source, chosen) = improve(start, onsets),
                    chosen.contains(where: { $0.onset.eventID == first.onset.eventID })
                else { continue }
                let worth = worth(source, chosen, quiet)
                if worth > best?.worth ?? -.infinity { best = (worth, source, chosen) }
            }
        }
        guard let (worth, source, chosen) = best, isCredible(source, chosen, first) else { return }
        accept(source, chosen, worth, quiet)
    }

    /// Whether a network is so small, and so many of its stations have an onset, that hardly more onsets will come than there
    /// are. (Elsewhere the wait for more of them tells an earthquake from gusts.)
    private func isSmall(around place: Place, _ onsets: Int) -> Bool {
        let near = stations.values.count { $0.place.map { $0.distance(to: place) < Self.smallKilometres } ?? false }
        return near <= Simultaneity.few && 2 * onsets >= near
    }

    /// Kilometres around a station within which the stations of a small network are.
    private static let smallKilometres = 100.0

    /// Whether a source that was found for an onset has so many others, and they agree so closely, that it is no other place's.
    private func isClose(_ source: Hypocentre, _ chosen: [Kept], _ first: Kept) -> Bool {
        chosen.count >= options.minimumStations && source.rms < options.gate / 5
            && chosen.contains { $0.onset.eventID == first.onset.eventID }
    }

    /// Places between the stations of some onsets, and a little around them, that most of these agree on.
    private func startsBetween(_ onsets: [Kept]) -> [Hypocentre] {
        let centre = Place.middle(of: onsets.map(\.place))
        let reach = onsets.reduce(Self.leastReach) { max($0, 1.25 * $1.place.distance(to: centre)) }
        let step = reach / Double(Agreement.stepsEachWay)
        let arrivals = onsets.map { Arrival(station: $0.place, phase: .p, time: $0.onset.seconds) }
        return Agreement(arrivals, options).starts(
            around: centre, step: step, width: options.gate + step * TravelTimes.slowest)
    }

    /// Kilometres around the middle of some stations within which a source is looked for at least.
    private static let leastReach = 10.0

    /// Onsets that may be of the same source as one: unassociated, or of an event that is young; at most 40, the
    /// nearest ones.
    private func neighbours(of first: Kept) -> [Kept] {
        let settled = events.filter { $0.isMature(options) || $0.closed != nil }
        let mature = Set(settled.map(\.serial))
        let weak = Set(settled.flatMap { $0.members.filter { $0.phase == .s }.map(\.eventID) })
        let near = pool.compactMap { kept -> (Double, Kept)? in
            guard kept.onset.eventID != first.onset.eventID, kept.onset.station != first.onset.station, kept.isSeed,
                kept.event.map({ !mature.contains($0) }) ?? true || weak.contains(kept.onset.eventID)
            else { return nil }
            let distance = kept.place.distance(to: first.place)
            let apart = abs(kept.onset.seconds - first.onset.seconds)
            // No wave takes longer from one station to another than this.
            guard distance <= options.searchRadius, apart <= distance * TravelTimes.slowest + 2 * options.gate else {
                return nil
            }
            return (distance, kept)
        }
        return near.sorted { $0.0 != $1.0 ? $0.0 < $1.0 : StationOnset.precedes($0.1.onset, $1.1.onset) }
            .prefix(40).map(\.1)
    }

    /// Places of the stations that work and have had no onset for some minutes.
    private func quiet(around first: Kept) -> [Place] {
        stations.values.compactMap { station in
            guard let place = station.place, station.watches(at: first.onset.seconds), station.recent.isEmpty,
                place.distance(to: first.place) < 2 * options.searchRadius
            else { return nil }
            return place
        }
    }

    /// How much speaks for a source, in onsets: one that fits well counts more than one that just fits, and stations that
    /// should have been the first and are silent speak against it.
    private func worth(_ source: Hypocentre, _ chosen: [Kept], _ quiet: [Place]) -> Double {
        var sum = -(OctreeSearch.layers.last { source.depth >= $0.0 }?.2 ?? 0)
        var nearest = Double.infinity
        for kept in chosen {
            let travel = source.travel(.p, to: kept.place)
            let misfit = (kept.onset.seconds - source.origin - travel) / options.gate(travel, .p)
            sum += max(0, 1 - 2 * misfit * misfit)
            nearest = min(nearest, kept.place.distance(to: source.place))
        }
        // A source that is far from all of them explains anything.
        guard nearest < options.searchRadius else { return -.infinity }
        for place in quiet where place.distance(to: source.place) < nearest { sum -= OctreeSearch.silence }
        return sum
    }

    /// Fits the source to the onsets that agree with it, chooses them anew, and so on.
    private func improve(_ start: Hypocentre, _ onsets: [Kept]) -> (Hypocentre, [Kept])? {
        var source = start
        var chosen: [Kept] = []
        for round in 0..<4 {
            // One onset a station, the one that fits best.
            var best: [String: (misfit: Double, index: Int)] = [:]
            for (i, kept) in onsets.enumerated() {
                let travel = source.travel(.p, to: kept.place)
                let allowed = options.gate(travel, .p) * (round == 0 ? 1.5 : 1)
                let misfit = abs(kept.onset.seconds - source.origin - travel) / allowed
                guard misfit <= 1 else { continue }
                if let known = best[kept.onset.station], known.misfit <= misfit { continue }
                best[kept.onset.station] = (misfit, i)
            }
            let now = best.values.map(\.index).sorted().map { onsets[$0] }
            guard now.count >= options.nearStations else { return nil }
            if round > 1, now.map(\.onset.eventID) == chosen.map(\.onset.eventID) { break }
            chosen = now
            source = source.fitted(
                to: chosen.map { Arrival(station: $0.place, phase: .p, time: $0.onset.seconds) })
        }
        return (source, chosen)
    }

    /// Whether a source is more than a chance: enough onsets, and few stations near it that have none.
    private mutating func isCredible(_ source: Hypocentre, _ chosen: [Kept], _ first: Kept) -> Bool {
        guard chosen.contains(where: { $0.onset.eventID == first.onset.eventID }) else { return false }
        let names = Set(chosen.map(\.onset.station))
        let now = Double(now) / 1e9
        guard !isOfWrongClocks(source, chosen), isLikely(chosen), isSharp(source, chosen) else { return false }
        if let time = settled(source, chosen), waits(first, chosen, until: time) { return false }
        let peers = peers(of: source, chosen)
        if case .later(let time) = peers.verdict { recheck(first, of: chosen, at: time) }
        guard peers.verdict == .credible else { return false }
        switch moment(source, chosen) {
        case .wave: break
        case .moment: return false
        case .unknown:
            // The times say nothing here: what the stations take it for does, a second later.
            let time = chosen.reduce(0) { max($0, $1.onset.seconds) } + Simultaneity.judged
            if chosen.allSatisfy({ $0.event == nil }),
                Self.judged(chosen) < Double(min(chosen.count, options.minimumStations)),
                waits(first, chosen, until: time)
            {
                return false
            }
        case .open:
            let time = (chosen.first?.onset.seconds ?? now) + Simultaneity.seconds
            if waits(first, chosen, until: time) { return false }
        }
        if names.count >= options.minimumStations {
            let support = support(of: source, members: names.union(withKnownClocks(source, chosen)), now: now)
            let shadowed = chosen.filter(\.isShadowed).count
            let needed = shadowed * 2 > chosen.count ? options.minimumStations + 2 : options.minimumStations
            if support.used >= needed, support.isEnough { return true }
            if shadowed == 0, 2 * support.silent.count <= support.used, isBeyondChance(source, chosen) { return true }
            // Many that agree to tenths of a second are no chance, even where the weak shaking left others silent.
            return names.count >= options.minimumStations + 2 + shadowed / 2 && source.rms < options.gate / 4
                && support.allSilent < (names.count >= options.minimumStations * 2 ? 2 : 1) * names.count
        }
        // A few near each other: all stations around them must have had their time, and none be silent.
        guard names.count >= options.nearStations, chosen.allSatisfy({ !$0.isShadowed }) else { return false }
        for (i, one) in chosen.enumerated() {
            for other in chosen[(i + 1)...] where one.place.distance(to: other.place) > options.nearKilometres {
                return false
            }
        }
        let support = support(of: source, members: names, now: now, margin: (2, 10))
        guard support.allSilent == 0, support.used == names.count else { return false }
        if support.settled >= now {
            recheck(first, of: chosen, at: support.settled)
            return false
        }
        return true
    }

    /// Whether noise does not make so many onsets agree so closely, by how many stations there are around and how noisy they
    /// are.
    private func isBeyondChance(_ source: Hypocentre, _ chosen: [Kept]) -> Bool {
        guard source.rms < options.gate / 4 else { return false }
        let names = Set(chosen.map(\.onset.station))
        let reach = chosen.reduce(0) { max($0, $1.place.distance(to: source.place)) }
        var (count, others) = (0, 0)
        for (name, station) in stations {
            guard let place = station.place, place.distance(to: source.place) <= reach else { continue }
            if names.contains(name) || station.watches(at: source.origin) { count += 1 }
        }
        for kept in pool where kept.event == nil && kept.place.distance(to: source.place) <= reach {
            if !chosen.contains(where: { $0.onset.eventID == kept.onset.eventID }) { others += 1 }
        }
        let chance = Chance(
            stations: count, agreeing: names.count,
            rate: Chance.rate(others, seconds: Self.poolSeconds * Double(max(1, count))),
            window: Self.extent(chosen) * TravelTimes.slowest + options.gate, residual: source.rms)
        // A larger network has as many such neighbourhoods in which noise may do so.
        return chance.events * Double(stations.count) / Double(max(1, count)) < Chance.least
    }

    /// Kilometres between those two stations of some onsets that are farthest apart: no wave takes longer from the first one
    /// to the last than across these.
    private static func extent(_ onsets: [Kept]) -> Double {
        var farthest = 0.0
        for (i, one) in onsets.enumerated() {
            for other in onsets[(i + 1)...] { farthest = max(farthest, one.place.distance(to: other.place)) }
        }
        return farthest
    }

    /// Whether a time (seconds of UTC) is still to come; the onset is looked at again then.
    private mutating func waits(_ first: Kept, _ chosen: [Kept], until time: Double) -> Bool {
        guard time > Double(now) / 1e9 + 1e-6 else { return false }
        recheck(first, of: chosen, at: time)
        return true
    }

    /// How far onsets speak for an earthquake, by what their stations have judged.
    private static func judged(_ onsets: [Kept]) -> Double {
        onsets.reduce(0) { $0 + ($1.onset.judgement?.weight ?? 0) }
    }

    /// Mean weight that the onsets of an earthquake have at least, as far as their stations have judged them (0 to 1).
    private static let leastWeight = 0.35

    /// Whether the onsets speak for an earthquake, each as far as its station takes it for one: enough of them in all, or a
    /// good part of a few. Footsteps of ten houses do neither.
    func isLikely(_ onsets: [Kept]) -> Bool {
        let weight = onsets.reduce(0) { $0 + $1.onset.weight }
        return weight >= Double(options.minimumStations) || weight >= Double(onsets.count) * Self.leastWeight
    }

    /// From so many onsets on, an earthquake is told from gusts of wind, which bring many at any time, by how sharp it is.
    static let manyAtOnce = 8
    /// Part of what is allowed within which an onset is sharp. Of the onsets of an earthquake with errors of 0.5 s two thirds
    /// are, with errors of 0.3 s nine in ten; of onsets within 3 s at random a third, and 45 % for the source that suits
    /// them best.
    static let sharpPart = 0.4
    /// The share of so many stations with an onset then that has to be sharp; stations may have triggered on S or on
    /// something else.
    private static func sharpShare(_ count: Int) -> Double { count < 16 ? 0.5 : count < 24 ? 0.6 : 0.68 }
    /// Seconds around the waves within which an onset is of them, or of what else there was.
    private static let around = (before: 5.0, after: 3.0)

    /// When it can be told whether many onsets at once are those of an earthquake, seconds of UTC; nil: now, by what enough of
    /// their stations have judged. What gusts bring in the first second is as sharp as an earthquake.
    private func settled(_ source: Hypocentre, _ chosen: [Kept]) -> Double? {
        guard chosen.count >= Self.manyAtOnce, chosen.allSatisfy({ $0.event == nil }) else { return nil }
        guard Self.judged(chosen) < Double(options.minimumStations) else { return nil }
        // Where the wave takes seconds to cross the network, its time has come where it was first.
        return chosen.map { kept in
            let travel = source.travel(.p, to: kept.place)
            return source.origin + travel + 2 * options.gate(travel, .p)
        }.sorted()[Self.manyAtOnce / 2 - 1]
    }

    /// Whether of many onsets that the stations around a source have had as its waves passed, of it or not, enough are as near
    /// to the time of the P wave as those of an earthquake are.
    private func isSharp(_ source: Hypocentre, _ chosen: [Kept]) -> Bool {
        guard chosen.count >= Self.manyAtOnce else { return true }
        let serials = Set(chosen.compactMap(\.event))
        let reach = 5 + 1.25 * chosen.reduce(0) { max($0, $1.place.distance(to: source.place)) }
        // The nearest one of each station, as a part of what is allowed.
        var parts: [String: Double] = [:]
        for kept in pool where kept.event.map({ serials.contains($0) }) ?? true {
            let seconds = kept.onset.seconds - source.origin
            guard seconds > -Self.around.before, kept.place.distance(to: source.place) <= reach else { continue }
            let travel = source.travel(.p, to: kept.place)
            guard seconds > travel - Self.around.before,
                seconds < source.travel(.s, to: kept.place) + Self.around.after
            else { continue }
            let part = abs(seconds - travel) / options.gate(travel, .p)
            parts[kept.onset.station] = min(part, parts[kept.onset.station] ?? part)
        }
        let sharp = parts.values.count { $0 <= Self.sharpPart }
        if Double(sharp) >= Self.sharpShare(parts.count) * Double(parts.count) { return true }
        // Clocks that are wrong are off by more than gusts leave empty beside the wave.
        let near = parts.values.count { $0 <= Self.nearPart }
        return Double(sharp) >= Self.sharpShare(parts.count) * Double(near)
            && Double(sharp) >= Self.rightClocks * Double(parts.count)
    }

    /// Part of what is allowed up to which the onsets of gusts are about as dense as those that are sharp.
    private static let nearPart = 1.2
    /// The share of all onsets around that has to be sharp where the others may be of wrong clocks.
    private static let rightClocks = 0.45

    /// Whether many onsets of an event that grows are still nearer to the times of the wave than chance has them.
    func isSharp(_ event: AssociatedEvent) -> Bool {
        guard event.members.count >= Self.manyAtOnce else { return true }
        var (sharp, all) = (0, 0)
        for (kept, phase) in members(of: event) where phase == .p {
            let travel = event.hypocentre.travel(.p, to: kept.place)
            all += 1
            if abs(kept.onset.seconds - event.hypocentre.origin - travel) <= Self.sharpPart * options.gate(travel, .p) {
                sharp += 1
            }
        }
        return 2 * sharp >= all
    }

    /// Stations among some with an onset of a source that have one, too, by a clock that is known to be wrong.
    private func withKnownClocks(_ source: Hypocentre, _ chosen: [Kept]) -> [String] {
        let reach = chosen.reduce(0) { max($0, $1.place.distance(to: source.place)) }
        return stations.compactMap { name, station in
            guard let offset = station.clockOffset, let place = station.place, place.distance(to: source.place) <= reach
            else { return nil }
            let travel = source.travel(.p, to: place)
            let arrival = source.origin + travel + offset
            return station.recent.contains { abs($0 - arrival) <= options.gate(travel, .p) } ? name : nil
        }
    }

    private func peers(of source: Hypocentre, _ chosen: [Kept]) -> Peers {
        let names = Set(chosen.map(\.onset.station)).union(withKnownClocks(source, chosen))
        let ours = Set(chosen.map(\.onset.eventID))
        let now = Double(now) / 1e9
        var busy: Set<String> = []
        for kept in pool where kept.event != nil && !ours.contains(kept.onset.eventID) {
            if abs(kept.onset.seconds - source.origin) < 90 { busy.insert(kept.onset.station) }
        }
        let peaks = chosen.map { kept -> (peak: Double, distance: Double, phase: Phase) in
            let distance = kept.place.distance(to: source.place)
            let slant = (distance * distance + source.depth * source.depth).squareRoot()
            return (kept.onset.pga, slant, .p)
        }
        return Peers(
            of: source, members: names, busy: busy, stations: stations, now: now, options: options,
            magnitude: MagnitudeRelation.estimate(peaks)?.value)
    }

    /// Whether the onsets are those of one moment: of these, and of what else the stations around have had then.
    private func moment(_ source: Hypocentre, _ chosen: [Kept]) -> Simultaneity.Verdict {
        let centre = Place.middle(of: chosen.map(\.place))
        let reach = 50 + 1.5 * chosen.reduce(0) { max($0, $1.place.distance(to: centre)) }
        let middle = chosen[chosen.count / 2].onset.seconds
        var nearest: [String: (place: Place, time: Double)] = [:]
        for kept in pool where kept.event.map({ serial in chosen.contains { $0.event == serial } }) ?? true {
            guard abs(kept.onset.seconds - middle) < 15, kept.place.distance(to: centre) <= reach else { continue }
            let known = nearest[kept.onset.station]?.time
            if let known, abs(known - middle) <= abs(kept.onset.seconds - middle) { continue }
            nearest[kept.onset.station] = (kept.place, kept.onset.seconds)
        }
        for kept in chosen { nearest[kept.onset.station] = (kept.place, kept.onset.seconds) }
        let onsets = nearest.sorted { $0.key < $1.key }.map(\.value)
        let around = stations.values.compactMap { station in
            station.place.flatMap { station.watches(at: middle) && $0.distance(to: centre) <= reach ? $0 : nil }
        }
        return Simultaneity(onsets, around: around).verdict(beside: source)
    }

    /// Seconds that a clock may be off for its onsets to be known as those of an event.
    static let clockSeconds = 6.0

    /// Whether the onsets are those of an event that is there already, all of them by the same time too late or too early.
    private func isOfWrongClocks(_ source: Hypocentre, _ chosen: [Kept]) -> Bool {
        events.contains { event in
            event.members.count >= chosen.count && !chosen.contains { $0.event == event.serial }
                && isOfWrongClocks(source, chosen, beside: event)
        }
    }

    /// Whether onsets with a source of their own are those of another event, by the same time too late or too early. Some may be
    /// ahead and others behind where that has many more, or where nearly all are off by as much.
    func isOfWrongClocks(_ source: Hypocentre, _ chosen: [Kept], beside event: AssociatedEvent) -> Bool {
        guard abs(source.origin - event.hypocentre.origin) < 3 * Self.clockSeconds else { return false }
        let shifts = chosen.map { $0.onset.seconds - event.hypocentre.arrival(.p, at: $0.place) }
        if alike(shifts, chosen, event).explain(chosen.count, options) { return true }
        let either = alike(shifts.map(abs), chosen, event)
        return Alike.isMost(either.sharp, of: chosen.count)
            || event.members.count >= 2 * chosen.count && either.explain(chosen.count, options)
    }

    /// Numbers of onsets that are off the P wave of an event by about the same.
    private struct Alike {
        /// Within what an onset may miss the time of a wave.
        var count = 0
        /// As near as sharp onsets are to a wave.
        var sharp = 0

        /// Part of the onsets with a source of their own from which on all are taken for those of the event: among those of
        /// many clocks that are ahead there is one of something else, too.
        private static let most = 0.85

        static func isMost(_ count: Int, of all: Int) -> Bool { Double(count) >= most * Double(all) }

        /// Whether they leave nothing that could be an event: nearly all are alike, or those that are not are too few for one.
        func explain(_ all: Int, _ options: AssociationOptions) -> Bool {
            Self.isMost(count, of: all) || all - sharp < options.nearStations && 3 * sharp >= 2 * all
        }
    }

    private func alike(_ shifts: [Double], _ chosen: [Kept], _ event: AssociatedEvent) -> Alike {
        let middle = shifts.sorted()[shifts.count / 2]
        var found = Alike()
        guard abs(middle) <= Self.clockSeconds else { return found }
        let extent = reach(of: event)
        for (kept, shift) in zip(chosen, shifts) where kept.place.distance(to: event.hypocentre.place) <= extent {
            let part = abs(shift - middle) / options.gate(event.hypocentre.travel(.p, to: kept.place), .p)
            if part <= 1 { found.count += 1 }
            if part <= Self.sharpPart { found.sharp += 1 }
        }
        return found
    }

    /// Makes an event of a source, or gives it to the young event that it shares onsets with.
    /// - Parameters:
    ///   - worth: of the source with these onsets.
    ///   - quiet: stations that it was reckoned with.
    private mutating func accept(_ source: Hypocentre, _ chosen: [Kept], _ worth: Double, _ quiet: [Place]) {
        var shares: [Int: Int] = [:]
        for kept in chosen { if let serial = kept.event { shares[serial, default: 0] += 1 } }
        // What fits the S wave of an event that is certain does not make it the same.
        let same = events.filter { event in
            !event.isMature(options) && event.closed == nil
                && shares[event.serial].map { AssociatedEvent.isSame(shared: $0, chosen.count, event.members.count) }
                    ?? false
        }
        // Not worse than what there is: a false onset has a source in common with some of the others, too.
        for event in same where self.worth(event.hypocentre, members(of: event).map(\.kept), quiet) > worth { return }
        let old = same.max { (shares[$0.serial] ?? 0, -$0.serial) < (shares[$1.serial] ?? 0, -$1.serial) }
        for event in same { release(event.serial) }
        events.removeAll { event in same.contains { $0.serial == event.serial } && event.serial != old?.serial }
        let serial = old?.serial ?? newSerial()
        let names = Set(chosen.map(\.onset.eventID))
        for i in pool.indices where names.contains(pool[i].onset.eventID) {
            // What it takes from events that are something else is not missed there.
            if let other = pool[i].event, other != serial, let k = events.firstIndex(where: { $0.serial == other }) {
                events[k].members.removeAll { $0.eventID == pool[i].onset.eventID }
            }
            pool[i].event = serial
        }
        for event in events where event.serial != serial && event.members.count < options.nearStations {
            release(event.serial)
        }
        events.removeAll { $0.serial != serial && $0.members.count < options.nearStations }
        let members = chosen.map {
            AssociatedEvent.Member(eventID: $0.onset.eventID, station: $0.onset.station, phase: .p)
        }
        let index: Int
        if let known = events.firstIndex(where: { $0.serial == serial }) {
            events[known].members = members
            events[known].hypocentre = source
            events[known].changed = max(events[known].changed, now)
            index = known
        } else {
            events.append(
                AssociatedEvent(serial: serial, members: members, hypocentre: source, silent: [], changed: now))
            index = events.count - 1
        }
        sweep(index)
        refit(index)
        mergeInto(serial)
    }
}
