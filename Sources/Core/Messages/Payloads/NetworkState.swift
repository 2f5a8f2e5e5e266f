import Values

/// What the detector of a network says of itself (`network/status`).
public struct NetworkStatusMessage: Sendable {
    /// A station that takes no part, because it states another place than it is known at.
    public struct Moved: Sendable, Equatable {
        public var id: String
        /// Where it says it is, degrees.
        public var latitude: Double
        public var longitude: Double
        /// From where it is known to be, km.
        public var distance: Double

        public init(id: String, latitude: Double, longitude: Double, distance: Double) {
            (self.id, self.latitude, self.longitude, self.distance) = (id, latitude, longitude, distance)
        }
    }

    /// Of more than so many stations that have moved, the others are not told.
    public static let movedLimit = 100

    public var isOnline = true
    public var version = ""
    public var stations = 0
    public var openEvents = 0
    public var taken = 0
    public var refused: [NamedCount] = []
    public var moved: [Moved] = []
    public var late = 0
    public var missing = 0
    public var asked = 0
    public var lost = 0
    public var published = 0

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.flag("online", isOnline, "Whether it runs; `false` is also its last will.")
        f.text("version", version, "Version of the program.")
        f.integer("stations", stations, "Stations whose places are known.")
        f.integer("open_events", openEvents, "Network events that have not ended.")
        f.integer("taken", taken, "Messages of stations that were used.")
        f.visit(Field("refused", "Messages that were not used, by reason."), refused)
        f.objects(
            "moved", moved, blank: Moved(id: "", latitude: 0, longitude: 0, distance: 0),
            "Stations that take no part, because they state another place than they are known at; at most 100."
        ) { $0.fields(&$1) }
        f.integer("late", late, "Messages that came after what is newer had been used.")
        f.integer("missing", missing, "Messages of stations that have not come, and are asked for.")
        f.integer("asked_again", asked, "Requests to stations to send missing messages again.")
        f.integer("lost", lost, "Messages that did not come though they were asked for.")
        f.integer("published", published, "Versions of network events published.")
    }
}

extension NetworkStatusMessage.Moved {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "The station.")
        f.number("latitude", latitude, unit: "deg", "Where it says it is.")
        f.number("longitude", longitude, unit: "deg", "Where it says it is.")
        f.number("distance_km", distance, unit: "km", "How far that is from where it is known to be.")
    }
}

/// Tells a station that its event is an earthquake that others have seen as well (`network/confirmed/<id>`).
public struct NetworkConfirmation: Sendable {
    public var station = ""
    public var eventID = ""
    public var networkEvent = ""
    public var version = 1
    public var isConfirmed = true
    public var isActive = true
    public var stations = 0

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.text("station", station, "Id of the station that is told.")
        f.text("event_id", eventID, "The station's own id of its event.")
        f.text("network_event", networkEvent, "The network event that its onset belongs to.")
        f.integer("version", version, "Version of the network event.")
        f.flag("confirmed", isConfirmed, "False when the network event turned out to be none.")
        f.flag("active", isActive, "Whether the network event is still open.")
        f.integer("stations", stations, "Onsets that belong to the network event.")
    }
}

/// Where a station is, as the operator has entered it (`network/place/<id>`). It is read as any place is (`Place.reading`).
public struct NetworkPlaceMessage: Sendable {
    package init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.number("latitude", 0, unit: "deg", "Latitude, WGS 84.")
        f.number("longitude", 0, unit: "deg", "Longitude, WGS 84.")
        f.number("elevation_m", nil, unit: "m", "Above sea level; 0 where it is left out.")
        f.text("operator", nil, "Name of who runs the station; an event that one operator alone reports may be disputed.")
        f.text("source", nil, "What has entered it.")
    }
}

// (Not a protocol: the record that a type conforms to one keeps its texts in programs that do not use it.)
extension JSONWriter {
    /// An object of the network's detector: the envelope without a station, and what is told behind it.
    /// - Parameters:
    ///   - boot: UUID of this run of the program.
    ///   - number: of the message, from 0.
    ///   - time: nanoseconds of UTC.
    static func ofNetwork(
        boot: String, number: Int, time: Int64, _ fields: (inout JSONWriter) -> Void
    ) -> [UInt8] {
        object { f in
            Envelope(station: nil, boot: boot, number: number, time: time, quality: nil).fields(&f)
            fields(&f)
        }
    }
}

extension NetworkStatusMessage {
    /// The bytes of the message (`JSONWriter.ofNetwork`).
    package func json(boot: String, number: Int, time: Int64) -> [UInt8] {
        JSONWriter.ofNetwork(boot: boot, number: number, time: time) { fields(&$0) }
    }
}

extension NetworkConfirmation {
    /// The bytes of the message (`JSONWriter.ofNetwork`).
    package func json(boot: String, number: Int, time: Int64) -> [UInt8] {
        JSONWriter.ofNetwork(boot: boot, number: number, time: time) { fields(&$0) }
    }
}
