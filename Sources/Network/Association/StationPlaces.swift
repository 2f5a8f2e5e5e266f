import Propagation

/// Where the stations of a network are. A station's account says what it likes, and the place that it states decides where an
/// earthquake is put: so it is believed within a tolerance of the place that the operator has entered, or else of the one that
/// it stated first. A station that states another place takes no part until a person has confirmed it (by entering that
/// place). A value.
public struct StationPlaces: Sendable {
    /// A station that takes no part because it states another place than it is known at.
    public struct Moved: Sendable, Equatable {
        public var station: String
        /// Where it says it is, and how far that is from where it is known to be, km.
        public var place: Place
        var kilometres: Double
    }

    private struct Known: Sendable {
        /// Place that the tolerance is measured from.
        var reference: Place
        var isEntered: Bool
        /// Place that the station stated last; nil: no place.
        var stated: Place?
    }

    /// Kilometres.
    private let tolerance: Double
    private let limit: Int
    private var known: [String: Known] = [:]
    private var moved: Set<String> = []

    /// - Parameters:
    ///   - tolerance: kilometres that a stated place may be from the known one.
    ///   - limit: stations that are kept.
    init(tolerance: Double, limit: Int) { (self.tolerance, self.limit) = (tolerance, limit) }

    /// Stations that take no part, by their names.
    var strangers: [Moved] {
        moved.sorted().compactMap { station in
            guard let one = known[station], let place = one.stated else { return nil }
            return Moved(station: station, place: place, kilometres: place.distance(to: one.reference))
        }
    }

    func isMoved(_ station: String) -> Bool { moved.contains(station) }

    /// The place to reckon with; nil: the station takes no part.
    func place(of station: String) -> Place? {
        guard let one = known[station], !moved.contains(station) else { return nil }
        return one.stated ?? (one.isEntered ? one.reference : nil)
    }

    /// A station says where it is.
    /// - Parameter place: nil where it says that it does not know.
    mutating func state(_ place: Place?, _ station: String) throws(RejectionReason) {
        guard known[station] != nil || place == nil || known.count < limit else { throw .stations }
        if let place, known[station] == nil { known[station] = Known(reference: place, isEntered: false, stated: nil) }
        known[station]?.stated = place
        if judge(station) { throw .moved }
    }

    /// The operator says where a station is.
    /// - Parameter place: nil: what was entered is forgotten, and the next place that the station states is learnt.
    mutating func enter(_ place: Place?, _ station: String) throws(RejectionReason) {
        guard known[station] != nil || place == nil || known.count < limit else { throw .stations }
        if let place {
            known[station] = Known(reference: place, isEntered: true, stated: known[station]?.stated)
        } else if let one = known[station], one.isEntered {
            known[station] = one.stated.map { Known(reference: $0, isEntered: false, stated: $0) }
        }
        _ = judge(station)
    }

    /// Whether the station is not where it is known to be.
    private mutating func judge(_ station: String) -> Bool {
        let isFar =
            known[station].flatMap { one in one.stated.map { $0.distance(to: one.reference) > tolerance } } ?? false
        if isFar { moved.insert(station) } else { moved.remove(station) }
        return isFar
    }
}
