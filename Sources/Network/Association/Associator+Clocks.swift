import Glibc
import Propagation

/// Clocks that are wrong. An onset that is some seconds off the P wave may as well be of something else, so that one alone never
/// names a clock: two earthquakes agree on how far it is off, or several stations of one earthquake do.
extension Associator {
    /// The onset of a station that is nearest to the P wave of an event.
    private struct Beside {
        var kept: Kept
        /// How much later than the wave it is; below 0 earlier.
        var seconds: Double
        /// It may be of the S wave.
        var isOfS: Bool

        var isOff: Bool { abs(seconds) >= Associator.clockError }
        func isAlike(_ other: Double) -> Bool { abs(seconds - other) < Associator.clockError / 2 }
    }

    /// Stations whose clock is wrong by an event, with the seconds that it is ahead.
    /// - Parameter magnitude: of the event; nil: not known.
    func wrongClocks(
        _ event: AssociatedEvent, _ source: Hypocentre, magnitude: Double?
    ) -> [(station: String, seconds: Double)] {
        let all = onsets(beside: event, source)
        let found = all.filter(\.value.isOff)
        guard !found.isEmpty else { return [] }
        // The latest one at the end.
        var known = Dictionary(uniqueKeysWithValues: found.keys.map { ($0, stations[$0]?.offsets ?? []) })
        for other in events where other.serial != event.serial {
            for (name, one) in onsets(beside: other, other.hypocentre) {
                // (Of two events of one time it would agree with itself.)
                guard let here = found[name], one.kept.onset.eventID != here.kept.onset.eventID, !one.isOfS else {
                    continue
                }
                known[name]?.append(one.seconds)
            }
        }
        let shared = shared(all, event, source, magnitude)
        return found.filter { name, one in
            guard let others = known[name], let last = others.last else { return shared.contains(name) }
            return one.isAlike(last) || others.count { one.isAlike($0) } * 2 >= others.count
        }.sorted { $0.key < $1.key }.map { ($0.key, $0.value.seconds) }
    }

    /// Stations of one earthquake that are off by the same as several others, as those are that follow one wrong time server.
    /// False onsets do not look so: the stations have felt the S wave as well, and there are far more of them than noise
    /// brings.
    private func shared(
        _ all: [String: Beside], _ event: AssociatedEvent, _ source: Hypocentre, _ magnitude: Double?
    ) -> Set<String> {
        // A wrong place makes right clocks on one side of it look alike: it does not fit many others closely.
        let errors = all.values.filter { !$0.isOff }.map { abs($0.seconds) }.sorted()
        guard let magnitude, errors.count >= Self.leastRight, errors[errors.count / 2] < Self.closely else {
            return []
        }
        let felt = all.filter { $0.value.isOff && hasFelt($0.value, source, magnitude) }
        guard felt.count >= Self.leastAlike else { return [] }
        let near = near(event)
        var (count, others) = (0, 0)
        for station in stations.values {
            guard let place = station.place, station.watches(at: source.origin) else { continue }
            if place.distance(to: source.place) <= near { count += 1 }
        }
        for kept in pool where kept.event == nil && kept.place.distance(to: source.place) <= near {
            if all[kept.onset.station]?.kept.onset.eventID != kept.onset.eventID { others += 1 }
        }
        let rate = Chance.usualRate + Double(others) / (Self.poolSeconds * Double(max(1, count)))
        let byChance = rate * Self.clockError * Double(count)
        let least = max(Double(Self.leastAlike), Self.beyondChance * byChance)
        return Set(
            felt.filter { _, one in Double(felt.values.count { one.isAlike($0.seconds) }) >= least }.map(\.key))
    }

    /// Whether the station of an onset has had the peak that the S wave of an earthquake brings there, by a clock that is off as
    /// its onset is.
    private func hasFelt(_ one: Beside, _ source: Hypocentre, _ magnitude: Double) -> Bool {
        let (onset, place) = (one.kept.onset, one.kept.place)
        guard Double(onset.asOf) / 1e9 >= source.arrival(.s, at: place) + one.seconds else { return false }
        let distance = place.distance(to: source.place)
        let slant = (distance * distance + source.depth * source.depth).squareRoot()
        return MagnitudeRelation.isUsual(onset.pga, magnitude: magnitude, distance: slant, phase: .s)
    }

    /// The onsets of stations beside the P wave of an event.
    private func onsets(beside event: AssociatedEvent, _ source: Hypocentre) -> [String: Beside] {
        guard event.members.count >= options.matureOnsets, source.rms < Self.clockResidual else { return [:] }
        let (reach, near) = (reach(of: event), near(event))
        let ofS = Set(event.members.filter { $0.phase == .s }.map(\.eventID))
        var found: [String: Beside] = [:]
        for kept in pool where kept.event == event.serial || kept.event == nil {
            let distance = kept.place.distance(to: source.place)
            guard distance <= (kept.event == nil ? near : reach) else { continue }
            let residual = kept.onset.seconds - source.arrival(.p, at: kept.place)
            guard abs(residual) <= Self.clockSeconds else { continue }
            if abs(residual) < abs(found[kept.onset.station]?.seconds ?? .infinity) {
                // (Near the source none belongs to the event by its S wave; where the place of a station is a kilometre or two wrong,
                // it fits neither wave well.)
                let isOfS =
                    ofS.contains(kept.onset.eventID)
                    || abs(kept.onset.seconds - source.arrival(.s, at: kept.place)) < Self.clockError
                found[kept.onset.station] = Beside(kept: kept, seconds: residual, isOfS: isOfS)
            }
        }
        // Most clocks are right: where most of the onsets disagree with a place, the place is wrong, and not the clocks.
        return 2 * found.values.count(where: \.isOff) < found.count ? found : [:]
    }

    /// Kilometres from an event beyond which an onset that belongs to none is of something else.
    private func near(_ event: AssociatedEvent) -> Double { min(reach(of: event), extent(event) * 1.3 + 15) }

    /// Earthquakes by which a station's clock is remembered.
    private static let rememberedOffsets = 4

    /// Keeps what an event that is forgotten says of the clocks.
    mutating func rememberOffsets(_ event: AssociatedEvent) {
        // (The onset of a wrong clock is of no event, and such ones are not kept for as long as the event is.)
        for (name, seconds) in event.offsets.merging(offsets(beside: event), uniquingKeysWith: { $1 }) {
            stations[name]?.offsets.append(seconds)
            if let count = stations[name]?.offsets.count, count > Self.rememberedOffsets {
                stations[name]?.offsets.removeFirst(count - Self.rememberedOffsets)
            }
        }
    }

    /// Seconds by which the onsets of stations are off the P wave of an event.
    func offsets(beside event: AssociatedEvent) -> [String: Double] {
        // (A station that triggers on S waves does so again in the next earthquake of the place.)
        onsets(beside: event, event.hypocentre).filter { !$0.value.isOfS }.mapValues(\.seconds)
    }

    /// Root mean square of an event's residuals (s) from which on its place itself is in doubt, and no clock is.
    private static let clockResidual = 0.45
    /// Seconds by which an onset is off where the clock may be the cause.
    fileprivate static let clockError = 1.0
    /// Onsets that are not off, from which on one earthquake names clocks, and seconds within which half of them have to be: a
    /// dozen also fit a wrong place.
    private static let leastRight = 20
    private static let closely = 0.2
    /// Stations of one earthquake that are off alike, from which on they are named, and by how much more than noise brings.
    private static let leastAlike = 3
    private static let beyondChance = 10.0
}

extension Associator.Station {
    /// Seconds by which its clock is ahead, where the last two earthquakes that are forgotten agree on it.
    var clockOffset: Double? {
        guard offsets.count > 1, let last = offsets.last else { return nil }
        return abs(last) >= Associator.clockError
            && abs(offsets[offsets.count - 2] - last) < Associator.clockError / 2 ? last : nil
    }

    var hasWrongClock: Bool { clockOffset != nil }
}
