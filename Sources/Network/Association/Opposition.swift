import Glibc
import Propagation

/// Stations without an onset of an event where, by the peaks of the others, the ground moves so that no station sleeps
/// through it.
struct Opposition: Equatable {
    /// Names of those that the waves have passed.
    var unmoved: [String] = []
    /// Those that the strong waves have not passed yet: they may confirm the event, or speak against it.
    var pending = 0
    /// Those of both where an onset of the P wave should have come by now.
    var overdue = 0

    /// Seconds from the P wave to the onset of a station that it moves.
    static let usualDelay = 0.3
    /// Stations with an onset from which on an event is no longer held to be one that a few accounts have invented, where no
    /// other station is overdue.
    private static let leastConfirmed = 7

    /// Whether at least as many stations were not moved as have an onset.
    func isMajority(over members: Int) -> Bool { unmoved.count >= members }

    /// Whether other stations may still contradict, or already do so, where the event has too few stations to be sure
    /// without them.
    func leavesOpen(_ members: Int) -> Bool {
        guard members - 2 * overdue < Self.leastConfirmed else { return false }
        return unmoved.count + pending >= members || 2 * overdue > members
    }
}

extension Associator {
    /// - Parameters:
    ///   - source: where the event was.
    ///   - magnitude: of the event.
    func opposition(to event: AssociatedEvent, at source: Hypocentre, magnitude: Double) -> Opposition {
        let names = Set(event.members.map(\.station))
        let now = Double(now) / 1e9
        var found = Opposition()
        for (name, station) in stations {
            let arrival = station.place.map { source.arrival(.p, at: $0) }
            guard let place = station.place, let arrival, !names.contains(name), station.watches(at: arrival) else {
                continue
            }
            let distance = place.distance(to: source.place)
            let slant = (distance * distance + source.depth * source.depth).squareRoot()
            let strong = Phase.allCases.filter { phase in
                MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: phase)
                    >= log10(Peers.strongPeak * 100)
            }
            guard !strong.isEmpty, !station.recent.contains(where: { $0 > arrival - 60 }) else { continue }
            if strong.contains(where: { source.arrival($0, at: place) + 3 < now }) {
                found.unmoved.append(name)
            } else {
                found.pending += 1
            }
            if arrival + Opposition.usualDelay < now { found.overdue += 1 }
        }
        found.unmoved.sort()
        return found
    }
}
