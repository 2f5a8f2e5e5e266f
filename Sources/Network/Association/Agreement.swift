import Propagation

/// Where most of some onsets of P waves have come from, whatever the others say: a third of them may be of clocks that are
/// seconds ahead or behind, which a least-squares fit has no use for, however it weighs them. As in random sample consensus
/// (Fischler and Bolles 1981), but over a grid of places around one.
struct Agreement {
    /// Kilometres between the places that are tried, and how many there are to each side: clocks that are two seconds off have
    /// moved an earthquake by up to 18 km.
    private static let step = 4.0
    static let stepsEachWay = 6
    /// Number of best places that are fitted.
    private static let tried = 3

    private let arrivals: [Arrival]
    private let options: AssociationOptions

    init(_ arrivals: [Arrival], _ options: AssociationOptions) { (self.arrivals, self.options) = (arrivals, options) }

    /// The onsets that agree with a source: those that are sharp by it.
    func with(_ source: Hypocentre) -> [Arrival] {
        arrivals.filter { one in
            let travel = source.travel(one.phase, to: one.station)
            return abs(one.time - source.origin - travel) <= Associator.sharpPart * options.gate(travel, one.phase)
        }
    }

    /// How well the onsets agree with a source, in onsets: one that is exact counts fully, one at the edge of what is sharp not
    /// at all (as Torr and Zisserman 2000). A wrong place may have as many, but not so closely.
    func worth(_ source: Hypocentre) -> Double {
        arrivals.reduce(0) { sum, one in
            let travel = source.travel(one.phase, to: one.station)
            let part = (one.time - source.origin - travel) / (Associator.sharpPart * options.gate(travel, one.phase))
            return sum + max(0, 1 - part * part)
        }
    }

    /// The source around another one that most onsets agree with most closely, fitted to these; nil where they are fewer than
    /// an event has that is no longer looked for anew.
    func best(around source: Hypocentre) -> (worth: Double, source: Hypocentre)? {
        var best: (worth: Double, source: Hypocentre)?
        let width = 2 * Associator.sharpPart * options.gate
        for start in starts(around: source.place, step: Self.step, width: width) {
            var source = start
            for _ in 0..<3 {
                let close = with(source)
                guard close.count >= options.matureOnsets else { break }
                source = source.fitted(to: close)
            }
            guard with(source).count >= options.matureOnsets else { continue }
            let worth = worth(source)
            if worth > best?.worth ?? 0 { best = (worth, source) }
        }
        return best
    }

    /// Places around one place that most onsets agree on, each with the time that they agree on.
    /// - Parameters:
    ///   - step: kilometres between the places that are tried.
    ///   - width: seconds within which those that agree have their origins.
    func starts(around centre: Place, step: Double, width: Double) -> [Hypocentre] {
        var found: [(count: Int, spread: Double, start: Hypocentre)] = []
        for east in -Self.stepsEachWay...Self.stepsEachWay {
            for north in -Self.stepsEachWay...Self.stepsEachWay {
                let offset = SIMD2(Double(east), Double(north)) * step
                var start = Hypocentre(origin: 0, place: Place(offset: offset, from: centre), depth: 10)
                let origins = arrivals.map { $0.time - start.travel($0.phase, to: $0.station) }.sorted()
                var (first, count, spread) = (0, 0, Double.infinity)
                for last in origins.indices {
                    while origins[last] - origins[first] > width { first += 1 }
                    let extent = origins[last] - origins[first]
                    if (last - first + 1, spread) > (count, extent) {
                        (count, spread) = (last - first + 1, extent)
                        start.origin = (origins[first] + origins[last]) / 2
                    }
                }
                found.append((count, spread, start))
            }
        }
        found.sort { ($1.count, $0.spread) < ($0.count, $1.spread) }
        // Those next to a better one lead to the same source.
        var best: [Hypocentre] = []
        for one in found where best.count < Self.tried {
            if best.allSatisfy({ $0.place.distance(to: one.start.place) > 1.5 * step }) { best.append(one.start) }
        }
        return best
    }
}
