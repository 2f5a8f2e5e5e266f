import Propagation

/// Onsets of stations that have one source.
struct AssociatedEvent: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        var eventID: String
        var station: String
        var phase: Phase
    }

    /// Counts the events of one associator; what it is known by outside are its onsets.
    private(set) var serial: Int
    /// In the order of their times.
    var members: [Member] { didSet { reckoned = Reckoned(edition: reckoned.edition + 1) } }
    var hypocentre: Hypocentre { didSet { reckoned.distances = nil } }
    /// Stations that should have an onset and have none.
    var silent: [String]
    /// When something was last new, nanoseconds of UTC.
    var changed: Int64
    /// Members at the last fit.
    var fittedWith = 0
    /// Onsets of its time around it when another place was last looked for.
    var lookedWith = 0
    /// When it ended, nanoseconds of UTC.
    var closed: Int64?
    var isForgotten = false
    /// Seconds by which the onsets of stations were off its P wave when it ended.
    var offsets: [String: Double] = [:]

    /// Results that follow from the members, kept so that an event of thousands does not reckon them anew for each
    /// onset.
    struct Reckoned: Sendable, Equatable {
        /// Counts the changes of the members other than one that comes to them.
        var edition = 0
        /// Kilometres from the epicentre to those of P waves, sorted; nil: to be reckoned.
        var distances: [Double]?

        static func == (a: Reckoned, b: Reckoned) -> Bool { true }
    }

    var reckoned = Reckoned()

    init(serial: Int, members: [Member], hypocentre: Hypocentre, silent: [String], changed: Int64) {
        (self.serial, self.members, self.hypocentre) = (serial, members, hypocentre)
        (self.silent, self.changed) = (silent, changed)
    }

    /// Another onset comes to the others.
    /// - Parameter place: of its station; nil: not known.
    mutating func append(_ member: Member, at place: Place?) {
        var kept = reckoned
        members.append(member)
        if member.phase == .p, let place, let distances = kept.distances {
            let distance = place.distance(to: hypocentre.place)
            kept.distances?.insert(distance, at: distances.firstIndex { $0 > distance } ?? distances.count)
        }
        reckoned = kept
    }

    func renumbered(_ serial: Int) -> AssociatedEvent {
        var copy = self
        copy.serial = serial
        return copy
    }

    func isMature(_ options: AssociationOptions) -> Bool { members.count >= options.matureOnsets }

    /// When it ends, or is forgotten.
    func deadline(_ options: AssociationOptions) -> Int64 {
        closed.map { $0 + Int64(options.memorySeconds * 1e9) } ?? changed + Int64(options.quietSeconds * 1e9)
    }

    /// Whether both are the same earthquake: they share three onsets, or 30 % of the fewer ones. Never by distance: early
    /// places may be 100 km off.
    static func isSame(shared: Int, _ a: Int, _ b: Int) -> Bool {
        shared >= 3 || shared * 10 >= min(a, b) * 3 && shared > 0
    }
}
