import Propagation

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
