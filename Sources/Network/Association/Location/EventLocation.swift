import Propagation

extension Associator {
    /// Stations with an onset from which on the associator's own fit is taken, where they are on all sides of it.
    private static let manyOnsets = 12
    private static let silentKilometres = 150.0
    /// A station with an onset within so many seconds of the first one is not silent.
    private static let shakenSeconds = 60.0

    /// Evidence that the place of an event follows from. Where it is the same, so is the place.
    struct Evidence: Sendable, Equatable {
        fileprivate var fit: Hypocentre
        fileprivate var readings: [Locator.Reading]
        fileprivate var silent: [Place]
        fileprivate var isCertain: Bool
    }

    func evidence(of event: AssociatedEvent) -> Evidence {
        let members = members(of: event)
        let places = members.map(\.kept.place)
        let centre = Place.middle(of: places)
        let readings = members.map { kept, phase in
            // A detector needs some of the wave: what the station makes of its samples is nearer to the arrival.
            let arrival = kept.onset.arrival
            return Locator.Reading(
                place: kept.place, phase: phase, time: arrival.map { Double($0.time) / 1e9 } ?? kept.onset.seconds,
                sigma: arrival?.sigma ?? 0, peak: kept.onset.pga, asOf: Double(kept.onset.asOf) / 1e9)
        }
        if isCertain(event.hypocentre, places, centre) {
            return Evidence(fit: event.hypocentre, readings: readings, silent: [], isCertain: true)
        }
        let first = members.first?.kept.onset.seconds ?? 0
        let silent = stations.values.compactMap { station -> Place? in
            guard let place = station.place, station.watches(at: first),
                place.distance(to: centre) < Self.silentKilometres,
                !station.recent.contains(where: { abs($0 - first) < Self.shakenSeconds })
            else { return nil }
            return place
        }.sorted { ($0.latitude, $0.longitude) < ($1.latitude, $1.longitude) }
        return Evidence(fit: event.hypocentre, readings: readings, silent: silent, isCertain: false)
    }

    /// Where an event was, by all its onsets.
    func location(by evidence: Evidence) -> Location {
        let centre = Place.middle(of: evidence.readings.map(\.place))
        if evidence.isCertain { return Location(certain: evidence.fit, centre: centre) }
        var locator = Locator(evidence.readings, silent: evidence.silent, depths: options.depth)
        return locator.locate() ?? Location(certain: evidence.fit, centre: centre)
    }

    /// Whether a place cannot be a false one: among many stations, near some of them, and small.
    private func isCertain(_ source: Hypocentre, _ places: [Place], _ centre: Place) -> Bool {
        guard places.count >= Self.manyOnsets, source.semiMajor < 5 else { return false }
        let offsets = places.map { $0.projected(around: centre) }
        let at = source.place.projected(around: centre)
        let distances = offsets.map { offset in
            let way = offset - at
            return (way * way).sum().squareRoot()
        }.sorted()
        // Waves that come from the side, not from below.
        return Locator.gap(at: at, offsets) < 150 && distances[distances.count / 2] > 1.5 * source.depth
    }
}
