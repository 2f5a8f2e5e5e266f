extension Associator {
    /// Stations with an onset from which on the associator's own fit is taken, where they are on all sides of it.
    private static let manyOnsets = 12
    private static let silentKilometres = 150.0
    /// A station with an onset within so many seconds of the first one is not silent.
    private static let shakenSeconds = 60.0

    /// Where an event was, by all its onsets.
    func location(of event: AssociatedEvent) -> Location {
        let members = members(of: event)
        let centre = Place.middle(of: members.map(\.kept.place))
        let fit = event.hypocentre
        if isCertain(fit, members.map(\.kept.place), centre) { return Location(certain: fit, centre: centre) }
        let readings = members.map { kept, phase in
            Locator.Reading(
                place: kept.place, phase: phase, time: kept.onset.seconds, peak: kept.onset.pga,
                asOf: Double(kept.onset.asOf) / 1e9)
        }
        let first = members.first?.kept.onset.seconds ?? 0
        let silent = stations.values.compactMap { station -> Place? in
            guard let place = station.place, station.isOnline, place.distance(to: centre) < Self.silentKilometres,
                !station.recent.contains(where: { abs($0 - first) < Self.shakenSeconds })
            else { return nil }
            return place
        }
        var locator = Locator(readings, silent: silent)
        return locator.locate() ?? Location(certain: fit, centre: centre)
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
