import Glibc
import Propagation

/// Stations about as near to a source as those with an onset of it, and their onsets: an earthquake that moves some of
/// them moves most.
struct Peers: Equatable {
    /// With an onset of it.
    var members = 0
    /// The wave has been there, and nothing was felt.
    var silent: [String] = []
    /// With an onset at another time while it passed.
    var others = 0
    /// The wave has not been there yet.
    var pending = 0
    /// When it has been at all of them, seconds of UTC.
    var settled = 0.0

    /// Sources are taken for at least so deep, km: the peaks of a shallower one fall off as fast.
    private static let leastDepth = 5.0
    /// Farther than the middle one of the members by this factor is about as near.
    private static let nearly = 1.25
    /// Seconds after an onset during which a station's event lasts.
    private static let eventSeconds = 20.0
    /// A peak that no station sleeps through, m/s².
    static let strongPeak = 0.15

    enum Verdict: Equatable {
        case credible
        case not
        /// When it can be told, seconds of UTC.
        case later(Double)
    }

    var verdict: Verdict {
        if members < silent.count + others { return .not }
        return members >= silent.count + others + pending ? .credible : .later(settled)
    }

    /// - Parameters:
    ///   - members: stations with an onset of the source.
    ///   - busy: stations whose onset belongs to another event; they are not asked.
    ///   - now: seconds of UTC.
    ///   - magnitude: by the peaks of the members so far; nil: not known.
    init(
        of source: Hypocentre, members names: Set<String>, busy: Set<String>, stations: [String: Associator.Station],
        now: Double, options: AssociationOptions, magnitude: Double?
    ) {
        let depth = max(source.depth, Self.leastDepth)
        func slant(_ place: Place) -> Double {
            let distance = place.distance(to: source.place)
            return (distance * distance + depth * depth).squareRoot()
        }
        let ways = names.compactMap { stations[$0]?.place.map(slant) }.sorted()
        guard !ways.isEmpty else { return }
        let limit = ways[ways.count / 2] * Self.nearly
        for (name, station) in stations {
            guard let place = station.place else { continue }
            let way = slant(place)
            // A peak of P waves that is strong everywhere moves everybody.
            let isStrong =
                magnitude.map {
                    MagnitudeRelation.logPeak(magnitude: $0, distance: way, phase: .p) >= log10(Self.strongPeak * 100)
                } ?? false
            guard way <= limit || isStrong else { continue }
            if names.contains(name) {
                members += 1
                continue
            }
            let travel = source.travel(.p, to: place)
            let gate = options.gate(travel, .p)
            let (arrival, s) = (source.origin + travel, source.arrival(.s, at: place))
            guard station.watches(at: arrival), !busy.contains(name) else { continue }
            let around = station.recent.filter { $0 > arrival - Self.eventSeconds && $0 < s + 10 }
            let isOfThis = around.contains {
                abs($0 - arrival) <= gate || abs($0 - s) <= options.gate(s - source.origin, .s)
            }
            guard !isOfThis else { continue }
            if arrival + gate >= now {
                // Whatever it has felt before, it may still feel this.
                pending += 1
                settled = max(settled, arrival + gate)
            } else if around.isEmpty {
                silent.append(name)
            } else if names.count < Associator.manyAtOnce
                || !around.contains(where: { abs($0 - arrival) <= Associator.clockSeconds })
            {
                // (One of many that is seconds off may be of a wrong clock, and speaks neither for it nor against it.)
                others += 1
            }
        }
        silent.sort()
    }
}
