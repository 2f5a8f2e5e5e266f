import Values

/// Status of the detector of a network (`network/status`).
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

    /// Largest number of moved stations that are named.
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
        f.text(
            "operator", nil, "Name of who runs the station; an event that one operator alone reports may be disputed.")
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

/// A station's expectation of an earthquake that its network has seen (`event/warning`).
public struct WarningMessage: Sendable, Equatable {
    public enum State: String, Sendable, CaseIterable { case coming, passed, cancelled }

    public var state: State
    /// Id of the network's event.
    public var networkEvent: String
    /// The network's version that it follows from.
    public var version: Int
    /// The alarm line plays the warning's pattern.
    public var alarm: Bool
    /// When the S wave arrives, nanoseconds of UTC; nil: the station's clock does not say.
    public var arrival: Int64?
    /// Seconds until then.
    public var seconds: Double
    /// Expected intensity (Mercalli), and the range that holds it with 68 %.
    public var intensity: Double
    public var range: ClosedRange<Double>
    /// From the epicentre, km.
    public var distance: Double
    public var magnitude: Double
    /// Nanoseconds of UTC.
    public var issued: Int64

    public init(
        state: State, networkEvent: String, version: Int, alarm: Bool, arrival: Int64?, seconds: Double,
        intensity: Double, range: ClosedRange<Double>, distance: Double, magnitude: Double, issued: Int64
    ) {
        (self.state, self.networkEvent, self.version, self.alarm) = (state, networkEvent, version, alarm)
        (self.arrival, self.seconds, self.intensity, self.range) = (arrival, seconds, intensity, range)
        (self.distance, self.magnitude, self.issued) = (distance, magnitude, issued)
    }

    /// The object without its envelope.
    public func json() -> [UInt8] { JSONWriter.object { fields(&$0) } }

    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "state", state,
            """
            `coming`; `passed`: the S wave has been here for 10 s; `cancelled`: the network has withdrawn the event, or \
            expects too little here.
            """)
        f.text("network_event", networkEvent, "Id of the event in `network/event`.")
        f.integer("version", version, "The version of that event that this follows from.")
        f.flag("alarm", alarm, "True while it asks for the alarm line, from `alarm.network.mmi` on.")
        f.time(
            "s_arrival", arrival,
            "When the S wave arrives here; left out where the station's clock is not synchronised to 1 s: then at once."
        )
        f.number(
            "seconds", seconds, unit: "s", "From `issued` to `s_arrival`; below 0 it is here; 0 without `s_arrival`.")
        f.number("mmi", intensity, unit: "1", "Intensity to expect here (Atkinson, Worden and Wald 2014).")
        f.visit(
            Field("mmi_range", "Lower and upper end of the range that holds it with 68 %.", unit: "1"),
            [range.lowerBound, range.upperBound][...])
        f.number("distance_km", distance, unit: "km", "From the epicentre to the station.")
        f.number("magnitude", magnitude, unit: "1", "Magnitude of that version.")
        f.time("issued", issued, "When the station made this message.")
    }
}

/// `network/status` as others read it (see ``InfoReading``).
public struct NetworkStatusReading: Sendable {
    private let tree: Value
    public init(_ tree: Value) { self.tree = tree }

    public var isOnline: Bool { tree["online"]?.flag == true }
    /// Stations that take no part, with the km from where they are known to be.
    public var moved: [(id: String, distance: Double?)] {
        (tree["moved"]?.list ?? []).compactMap { one in one["id"]?.rawText.map { ($0, one["distance_km"]?.number) } }
    }
}
