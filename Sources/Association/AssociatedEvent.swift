/// Onsets of stations that have one source.
public struct AssociatedEvent: Sendable, Equatable {
    public struct Member: Sendable, Equatable {
        public var eventID: String
        public var station: String
        public var phase: Phase
    }

    /// Counts the events of one associator; what it is known by outside are its onsets.
    private(set) var serial: Int
    /// In the order of their times.
    public internal(set) var members: [Member]
    public internal(set) var hypocentre: Hypocentre
    /// Stations that should have an onset and have none.
    public internal(set) var silent: [String]
    /// When something was last new, nanoseconds of UTC.
    var changed: Int64
    /// Members at the last fit.
    var fittedWith = 0
    /// When it ended, nanoseconds of UTC.
    public internal(set) var closed: Int64?
    var isForgotten = false

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
