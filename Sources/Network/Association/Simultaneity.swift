import Glibc
import Propagation

/// Tells onsets that came at one moment from those of a wave that crosses the network. What shakes or disturbs all stations at
/// once (the mains, a step of their clocks, a restart) fits a source some hundred kilometres below them, since its wave is as
/// flat: an apparent velocity of more than 10 km/s is that of no local earthquake.
struct Simultaneity {
    /// Expected error of an onset's time, s.
    private static let pickError = 0.2
    /// Squares that a gross error counts as, in units of ``pickError`` squared.
    private static let gross = 16.0
    /// Squares of an onset on average, up to which one moment may be what they have in common; onsets at any time within a
    /// second have 2.
    private static let plausible = 4.0
    /// Squares by which a wave has to explain the onsets better than one moment does, where it could.
    private static let evidence = 12.0
    /// Squares of the differences that an earthquake below the middle of the stations would make; with less, times hardly
    /// tell the two apart, and with still less not at all.
    private static let least = 16.0
    private static let slight = 4.0
    /// Seconds after the first onset until which others of the same moment come.
    static let seconds = 1.2
    /// Seconds after the last of them until which the stations of a village have judged what they feel.
    static let judged = 2.0
    /// Kilometres; a usual earthquake.
    private static let depth = 10.0

    private let stations: [Place]
    private let around: [Place]
    /// Seconds of UTC.
    private let times: [Double]

    /// - Parameters:
    ///   - onsets: one of each station.
    ///   - around: all stations that work near them, with an onset or without.
    init(_ onsets: [(place: Place, time: Double)], around: [Place] = []) {
        (stations, times, self.around) = (onsets.map(\.place), onsets.map(\.time), around)
    }

    private func cost(_ errors: [Double]) -> Double {
        errors.reduce(0) { $0 + min(Self.gross, $1 * $1 / (Self.pickError * Self.pickError)) }
    }

    /// The moment that explains most onsets, s UTC, and its cost.
    private var moment: (time: Double, cost: Double) {
        var best = (time: 0.0, cost: Double.infinity)
        for moment in times {
            // The mean of what is near it.
            let near = times.filter { abs($0 - moment) <= 2 * Self.pickError }
            let mean = near.reduce(0, +) / Double(max(1, near.count))
            let cost = cost(times.map { $0 - mean })
            if cost < best.cost { best = (mean, cost) }
        }
        return best
    }

    /// Cost by which a local earthquake below the middle of some stations would differ from one moment.
    private func contrast(_ stations: [Place]) -> Double {
        let middle = Place.middle(of: stations)
        let travels = stations.map {
            TravelTimes.iasp91.seconds(.p, distance: $0.distance(to: middle), depth: Self.depth)
        }.sorted()
        guard !travels.isEmpty else { return 0 }
        return cost(travels.map { $0 - travels[travels.count / 2] })
    }

    enum Verdict {
        case wave
        case moment
        /// The stations so far are too near each other to tell, and others around them are not.
        case open
        /// All stations around are too near each other: a village.
        case unknown
    }

    /// Whether one moment explains the onsets about as well as a source does, though a local earthquake would not.
    func verdict(beside source: Hypocentre) -> Verdict {
        let moment = moment
        let errors = zip(stations, times).map { $1 - source.arrival(.p, at: $0) }
        if contrast(around) < Self.least { return moment.cost - cost(errors) < Self.evidence ? .unknown : .wave }
        guard moment.cost <= Self.plausible * Double(times.count) else { return .wave }
        let first = judged(moment, errors: errors)
        guard first == .moment else { return first }
        // The source was fitted with its depth held: a better one below a station may explain more.
        let isMoment = stations.allSatisfy { place in
            Self.depths.allSatisfy { depth in
                let origins = zip(stations, times).map { station, time in
                    time - TravelTimes.iasp91.seconds(.p, distance: station.distance(to: place), depth: depth)
                }
                let middle = origins.sorted()[origins.count / 2]
                return judged(moment, errors: origins.map { $0 - middle }) == .moment
            }
        }
        guard isMoment else { return .wave }
        return isFitted(beside: moment) ? .wave : .moment
    }

    /// Whether a source between the stations of a small network, at whatever depth, explains their onsets better than one
    /// moment. The one that was found may be of another minimum, and its depth was held. In a larger network more onsets
    /// come, and some of their stations are near the true one.
    private func isFitted(beside moment: (time: Double, cost: Double)) -> Bool {
        guard around.count <= Self.few, stations.count <= Self.few else { return false }
        let arrivals = zip(stations, times).map { Arrival(station: $0, phase: .p, time: $1) }
        for start in arrivals.sorted(by: { $0.time < $1.time }).prefix(Self.starts) {
            for depth in Self.depths {
                let source = Hypocentre(origin: start.time - depth / 6, place: start.station, depth: depth)
                    .fitted(to: arrivals, depth: depth)
                let errors = arrivals.map { $0.time - source.arrival(.p, at: $0.station) }
                if judged(moment, errors: errors) == .wave { return true }
            }
        }
        return false
    }

    /// Stations up to which a network is small.
    static let few = 12
    /// How many of the stations a source is looked for at.
    private static let starts = 4

    private static let depths = [2.0, 5, 10, 20]

    private func judged(_ moment: (time: Double, cost: Double), errors: [Double]) -> Verdict {
        func fits(_ error: Double) -> Bool { error * error < Self.gross * Self.pickError * Self.pickError }
        // What neither of them explains does not tell which it was.
        let contrast = contrast(
            stations.indices.filter { fits(errors[$0]) || fits(times[$0] - moment.time) }.map { stations[$0] })
        let wave = cost(errors)
        guard contrast >= Self.slight else { return moment.cost < wave + Self.slight ? .open : .wave }
        // With a small difference, one moment has to be about the better of the two.
        guard contrast >= Self.least else {
            return moment.cost < wave + (contrast - Self.slight) / 3
                ? .moment : moment.cost < wave + Self.slight ? .open : .wave
        }
        // Onsets that scatter more than expected make any differences of this kind larger.
        let scale = max(1, wave / Double(max(4, errors.filter(fits).count - 4)))
        return (moment.cost - wave) / scale < min(Self.evidence, contrast / 3) ? .moment : .wave
    }
}
