import Values

/// An earthquake as a network of stations sees it (`network/event`; the newest message also as `network/event/last`).
public struct NetworkEventMessage: Sendable, Equatable {
    public enum DepthClass: String, Sendable, CaseIterable { case shallow, intermediate, deep }
    /// Reason why an event is disputed.
    public enum Dispute: String, Sendable, CaseIterable {
        /// As many stations as have an onset of it have none, though they must have been moved.
        case silence
        /// Stations of one operator alone report it, and none of another is near enough to confirm it.
        case loneOperator = "lone_operator"
    }

    public enum Likely: String, Sendable, CaseIterable { case earthquake, disturbance, unclassified }

    /// Half axes in km, direction of the longer one clockwise from north.
    public struct Ellipse: Sendable, Equatable {
        public var semiMajor: Double
        public var semiMinor: Double
        public var azimuth: Double
        public init(semiMajor: Double, semiMinor: Double, azimuth: Double) {
            (self.semiMajor, self.semiMinor, self.azimuth) = (semiMajor, semiMinor, azimuth)
        }
    }

    /// How well the place is known.
    public struct Location: Sendable, Equatable {
        public enum Quality: String, Sendable, CaseIterable { case good, ambiguous, outside, poor }

        /// A closed line, degrees.
        public struct Ring: Sendable, Equatable {
            public var latitude: [Double]
            public var longitude: [Double]
            public init(latitude: [Double], longitude: [Double]) {
                (self.latitude, self.longitude) = (latitude, longitude)
            }
        }

        /// Another place that explains the onsets as well.
        public struct Other: Sendable, Equatable {
            public var latitude: Double
            public var longitude: Double
            public var depth: Double
            public init(latitude: Double, longitude: Double, depth: Double) {
                (self.latitude, self.longitude, self.depth) = (latitude, longitude, depth)
            }
        }

        public var quality: Quality
        public var azimuth: Double
        public var distance: Double
        public var extent: Double
        public var region: [Ring]
        public var others: [Other]
        public init(
            quality: Quality, azimuth: Double, distance: Double, extent: Double, region: [Ring], others: [Other]
        ) {
            (self.quality, self.azimuth, self.distance) = (quality, azimuth, distance)
            (self.extent, self.region, self.others) = (extent, region, others)
        }
    }

    public struct Magnitude: Sendable, Equatable {
        public var value: Double
        public var sigma: Double
        public var relation: String
        public init(value: Double, sigma: Double, relation: String) {
            (self.value, self.sigma, self.relation) = (value, sigma, relation)
        }
    }

    /// The largest of all stations.
    public struct Extreme: Sendable, Equatable {
        public var value: Double
        public var station: String
        public init(value: Double, station: String) { (self.value, self.station) = (value, station) }
    }

    /// The stations' class of the event.
    public struct Class: Sendable, Equatable {
        public var likely = Likely.unclassified
        public var earthquake = 0
        public var disturbance = 0
        public var unclassified = 0
        public init() {}
    }

    /// An onset that belongs to it.
    public struct Station: Sendable, Equatable {
        public var id: String
        public var eventID: String
        /// Nanoseconds of UTC.
        public var onset: Int64
        public var phase: String
        public var residual: Double
        public var distance: Double
        public init(
            id: String, eventID: String, onset: Int64, phase: String, residual: Double, distance: Double
        ) {
            (self.id, self.eventID, self.onset) = (id, eventID, onset)
            (self.phase, self.residual, self.distance) = (phase, residual, distance)
        }
    }

    /// A station whose clock seems to be wrong.
    public struct Clock: Sendable, Equatable {
        public var id: String
        /// Seconds by which it is ahead; below 0 behind.
        public var offset: Double
        public init(id: String, offset: Double) { (self.id, self.offset) = (id, offset) }
    }

    public var kind = EventMessage.Kind.onset
    public var eventID = ""
    public var version = 1
    /// Nanoseconds of UTC.
    public var origin: Int64 = 0
    public var latitude = 0.0
    public var longitude = 0.0
    public var depth = 0.0
    public var depthSigma = 0.0
    public var depthClass = DepthClass.shallow
    public var ellipse = Ellipse(semiMajor: 0, semiMinor: 0, azimuth: 0)
    public var location = Location(quality: .poor, azimuth: 0, distance: 0, extent: 0, region: [], others: [])
    public var rms = 0.0
    public var magnitude: Magnitude?
    public var pga = Extreme(value: 0, station: "")
    public var mmi: Extreme?
    public var classes = Class()
    public var stations: [Station] = []
    public var silent: [String] = []
    /// Why it is disputed; nil: it is not.
    public var dispute: Dispute?
    public var isDisputed: Bool { dispute != nil }
    public var clocks: [Clock] = []
    /// The event that its onsets have gone to.
    public var mergedInto: String?
    /// It turned out to be none.
    public var isWithdrawn = false

    public init() {}

    package func fields(_ f: inout some FieldVisitor) {
        f.choice("event_type", kind, "First version, change or end of an event.")
        f.text("event_id", eventID, "The same in all versions: `net-` and the time of origin in the first version.")
        f.integer("version", version, "Counts the messages of the event, from 1.")
        content(&f)
    }

    /// Everything that can make another version.
    private func content(_ f: inout some FieldVisitor) {
        f.time("origin_time", origin, "When the earthquake began.")
        f.number("latitude", latitude, unit: "deg", "Epicentre, degrees north.")
        f.number("longitude", longitude, unit: "deg", "Epicentre, degrees east.")
        f.number("depth_km", depth, unit: "km", "Depth; onsets of a surface network hardly tell it.")
        f.number(
            "depth_sigma_km", depthSigma, unit: "km",
            "Standard deviation of the depth, by the onsets and the usual depths of the region (`network.depth_km`).")
        f.choice("depth_class", depthClass, "`shallow` to 70 km, `intermediate` to 300 km, `deep` below.")
        f.object("ellipse", ellipse, "Has the true epicentre in it with 68 %.") { $0.fields(&$1) }
        f.object("place", location, "How well the epicentre is known.") { $0.fields(&$1) }
        f.number("rms_s", rms, unit: "s", "Root mean square of the residuals.")
        f.object(
            "magnitude", magnitude, .nullable, blank: Magnitude(value: 0, sigma: 0, relation: ""),
            """
            From peak acceleration and distance; null below four stations, where `place.quality` is not `good`, and while \
            others may still contradict.
            """
        ) { $0.fields(&$1) }
        f.object("pga", pga, "Largest peak ground acceleration.") { extreme, f in
            f.number("value", extreme.value, unit: "m/s^2", "Peak.")
            f.text("station", extreme.station, "Where it was measured.")
        }
        f.object(
            "mmi", mmi, .nullable, blank: Extreme(value: 0, station: ""),
            "Largest Mercalli intensity; null while no station has one."
        ) { extreme, f in
            f.number("value", extreme.value, unit: "1", "Intensity.")
            f.text("station", extreme.station, "Where it was measured.")
        }
        f.object("class", classes, "What the stations take it for.") { $0.fields(&$1) }
        f.objects(
            "stations", stations,
            blank: Station(id: "", eventID: "", onset: 0, phase: "P", residual: 0, distance: 0),
            "The onsets that belong to it, in their order."
        ) { $0.fields(&$1) }
        f.texts("silent", silent, "Stations that should have an onset of it and have none.")
        f.flag(
            "disputed", isDisputed ? true : nil,
            """
            True when nothing but the stations themselves speaks for it (`disputed_because`): it has no magnitude, and no \
            station warns of it.
            """)
        f.text(
            "disputed_because", dispute?.rawValue,
            """
            `silence`: at least as many stations are silent as have an onset, though by the peaks of those the ground must \
            have moved strongly there (invented, or a network that is down); `lone_operator`: fewer than ten stations, all of \
            one operator, and no other station within 150 km could confirm it.
            """)
        f.objects(
            "clocks", clocks, blank: Clock(id: "", offset: 0),
            "Stations whose clock is wrong by 1 to 6 s: two earthquakes, or several stations in this one, agree on it."
        ) { $0.fields(&$1) }
        f.text("merged_into", mergedInto, "The event that its onsets belong to now; in `end` only.")
        f.flag("withdrawn", isWithdrawn ? true : nil, "True when later onsets showed that there was no such event.")
    }

    /// Content in which two versions may differ, and nothing else.
    public var contentJSON: [UInt8] { JSONWriter.object { content(&$0) } }

    /// As `contentJSON`, of a message that was sent.
    public static func contentJSON(of message: Value) -> [UInt8] {
        guard case .object(let members) = message else { return [] }
        let others = ["v", "boot", "seq", "t", "event_type", "event_id", "version"]
        return Value.object(members.filter { !others.contains($0.key) }).json()
    }
}

extension NetworkEventMessage {
    /// The bytes of the message (`JSONWriter.ofNetwork`).
    package func json(boot: String, number: Int, time: Int64) -> [UInt8] {
        JSONWriter.ofNetwork(boot: boot, number: number, time: time) { fields(&$0) }
    }
}

extension NetworkEventMessage.Location {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice(
            "quality", quality,
            """
            `good`: known to some 20 km; `ambiguous`: several places explain the onsets; `outside`: beyond the network, its \
            direction is known better than its distance; `poor`: stations too few or too close to each other.
            """)
        f.number(
            "azimuth_deg", azimuth, unit: "deg", "Direction from the middle of the stations, clockwise from north.")
        f.number("distance_km", distance, unit: "km", "From the middle of the stations.")
        f.number("extent_km", extent, unit: "km", "From the epicentre to the farthest point of the region.")
        f.objects(
            "region", region, blank: Ring(latitude: [], longitude: []),
            "Closed lines; the true epicentre is inside one of them with 90 %."
        ) { ring, f in
            f.visit(Field("latitude", "Degrees north, point by point."), ring.latitude[...])
            f.visit(Field("longitude", "Degrees east, point by point."), ring.longitude[...])
        }
        f.objects(
            "others", others, blank: Other(latitude: 0, longitude: 0, depth: 0),
            "The most probable places in the other parts of the region."
        ) { other, f in
            f.number("latitude", other.latitude, unit: "deg", "Degrees north.")
            f.number("longitude", other.longitude, unit: "deg", "Degrees east.")
            f.number("depth_km", other.depth, unit: "km", "Depth.")
        }
    }
}

extension NetworkEventMessage.Ellipse {
    package func fields(_ f: inout some FieldVisitor) {
        f.number("semi_major_km", semiMajor, unit: "km", "Longer half axis.")
        f.number("semi_minor_km", semiMinor, unit: "km", "Shorter half axis.")
        f.number("azimuth_deg", azimuth, unit: "deg", "Direction of the longer one, clockwise from north.")
    }
}

extension NetworkEventMessage.Magnitude {
    package func fields(_ f: inout some FieldVisitor) {
        f.number("value", value, unit: "1", "Magnitude.")
        f.number("sigma", sigma, unit: "1", "Its standard deviation.")
        f.text("relation", relation, "The published relation that it was computed with.")
    }
}

extension NetworkEventMessage.Class {
    package func fields(_ f: inout some FieldVisitor) {
        f.choice("likely", likely, "What most of the stations that have an opinion take it for.")
        f.integer("earthquake", earthquake, "Stations that take it for an earthquake.")
        f.integer("disturbance", disturbance, "Stations that take it for a disturbance.")
        f.integer("unclassified", unclassified, "Stations without an opinion.")
    }
}

extension NetworkEventMessage.Clock {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "Id of the station.")
        f.number("offset_s", offset, unit: "s", "How far it is ahead; below 0 behind.")
    }
}

extension NetworkEventMessage.Station {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("id", id, "Id of the station.")
        f.text("event_id", eventID, "The station's own id of its event.")
        f.time("onset", onset, "When it triggered.")
        f.text("phase", phase, "The wave it triggered on: `P` or `S`.")
        f.number("residual_s", residual, unit: "s", "How much later than the model has it.")
        f.number("distance_km", distance, unit: "km", "From the epicentre.")
    }
}

/// A version of a network event as all programs read it (``NetworkEventMessage`` is what the detector writes). All of it comes
/// from outside: a member of another type counts as missing, and a number outside its range as well.
public struct NetworkEventReading: Sendable {
    /// Magnitudes that an earthquake can have (the largest measured one had 9.5), and their standard deviations.
    public static var magnitudes: ClosedRange<Double> { -5...9.5 }
    static var sigmas: ClosedRange<Double> { 0...3 }
    /// Depths that an earthquake can have, km.
    public static var depths: ClosedRange<Double> { 0...700 }
    /// Half axes of an ellipse on the Earth, km.
    public static var axes: ClosedRange<Double> { 0...20_000 }
    public static var versions: ClosedRange<Int> { 1...1_000_000_000 }
    private static let mostStations = 10_000

    public struct Magnitude: Sendable, Equatable {
        public var value: Double
        public var sigma: Double?
        public init(value: Double, sigma: Double? = nil) { (self.value, self.sigma) = (value, sigma) }
    }

    /// An onset that belongs to the event.
    public struct Station: Sendable, Equatable {
        public var id: String
        /// The station's own id of its event.
        public var eventID: String?
        /// Nanoseconds of UTC.
        public var onset: Int64?
        public var phase: String?
        public var residual, distance: Double?
        public init(id: String, eventID: String?) { (self.id, self.eventID) = (id, eventID) }
    }

    /// Reason why an event is disputed, as far as it is known here.
    public enum Dispute: Sendable, Equatable { case silence, loneOperator, other }

    /// A number of place or size that is none, or outside its range.
    public struct Refused: Sendable {
        public var member: String
        public var value: Value
        public var allowed: ClosedRange<Double>
    }

    public var eventID: String
    public var version: Int
    public var kind: EventMessage.Kind?
    /// Nanoseconds of UTC: when the version was made, and when the earthquake began.
    public var made, origin: Int64?
    /// Degrees, km.
    public var latitude, longitude, depth: Double?
    /// Half axes of the ellipse that has the epicentre in it with 68 %, km; direction of the longer one, degrees.
    public var semiMajor, semiMinor, ellipseAzimuth: Double?
    /// How well the place is known; a word that is not known here is `poor`.
    public var quality: NetworkEventMessage.Location.Quality?
    /// From the middle of the stations, degrees.
    public var azimuth: Double?
    /// Lines of more than two points.
    public var region: [NetworkEventMessage.Location.Ring] = []
    public var magnitude: Magnitude?
    /// Largest Mercalli intensity at a station.
    public var mmi: Double?
    public var likely: NetworkEventMessage.Likely?
    /// The first 10 000 that have an id; nil: there is no list.
    public var stations: [Station]?
    /// Why it is disputed; nil: it is not.
    public var dispute: Dispute?
    /// It turned out to be none.
    public var isWithdrawn = false
    /// It is part of another.
    public var isMerged = false
    /// Latitude, longitude, depth and magnitude that a message has and that cannot be.
    public private(set) var refused: [Refused] = []

    public init(eventID: String, version: Int) { (self.eventID, self.version) = (eventID, version) }

    /// Nil: it is no version of a network event, by its id and its number.
    public init?(_ message: Value) {
        guard let id = message["event_id"]?.rawText, EventID.isOfNetwork(id),
            let version = message["version"]?.whole, Self.versions.contains(version)
        else { return nil }
        self.init(eventID: id, version: version)
        kind = message["event_type"]?.rawText.flatMap { EventMessage.Kind(rawValue: $0) }
        (made, origin) = (message["t"]?.time, message["origin_time"]?.time)
        latitude = number("latitude", message["latitude"], -90...90)
        longitude = number("longitude", message["longitude"], -180...180)
        depth = number("depth_km", message["depth_km"], Self.depths)
        let ellipse = message["ellipse"]
        semiMajor = ellipse?["semi_major_km"]?.number(in: Self.axes)
        semiMinor = ellipse?["semi_minor_km"]?.number(in: Self.axes)
        ellipseAzimuth = ellipse?["azimuth_deg"]?.number
        let place = message["place"]
        quality = place?["quality"]?.rawText.map { .init(rawValue: $0) ?? .poor }
        azimuth = place?["azimuth_deg"]?.number
        region = (place?["region"]?.list ?? []).compactMap(Self.ring)
        let size = message["magnitude"]
        if let value = number("magnitude.value", size?["value"], Self.magnitudes) {
            magnitude = Magnitude(value: value, sigma: size?["sigma"]?.number(in: Self.sigmas))
        }
        mmi = message["mmi"]?["value"]?.number
        likely = message["class"]?["likely"]?.rawText.flatMap { .init(rawValue: $0) }
        stations = message["stations"]?.list?.prefix(Self.mostStations).compactMap { Station($0) }
        if message["disputed"]?.flag == true {
            // (A detector that has only one reason does not name it.)
            let reason = message["disputed_because"]?.rawText ?? NetworkEventMessage.Dispute.silence.rawValue
            dispute =
                switch NetworkEventMessage.Dispute(rawValue: reason) {
                case .silence: .silence
                case .loneOperator: .loneOperator
                case nil: .other
                }
        }
        isWithdrawn = message["withdrawn"]?.flag == true
        isMerged = message["merged_into"].map { $0 != .null } ?? false
    }

    /// Notes what is refused.
    private mutating func number(_ member: String, _ value: Value?, _ allowed: ClosedRange<Double>) -> Double? {
        guard let value, value != .null else { return nil }
        if let number = value.number(in: allowed) { return number }
        refused.append(Refused(member: member, value: value, allowed: allowed))
        return nil
    }

    private static func ring(_ ring: Value) -> NetworkEventMessage.Location.Ring? {
        guard let north = ring["latitude"]?.list, let east = ring["longitude"]?.list else { return nil }
        let (latitude, longitude) = (north.compactMap(\.number), east.compactMap(\.number))
        guard latitude.count > 2, latitude.count == longitude.count, latitude.count == north.count,
            longitude.count == east.count
        else { return nil }
        return .init(latitude: latitude, longitude: longitude)
    }
}

extension NetworkEventReading.Station {
    fileprivate init?(_ station: Value) {
        guard let id = station["id"]?.rawText else { return nil }
        self.init(id: id, eventID: station["event_id"]?.rawText.flatMap { EventID.isValid($0) ? $0 : nil })
        (onset, phase) = (station["onset"]?.time, station["phase"]?.rawText)
        (residual, distance) = (station["residual_s"]?.number, station["distance_km"]?.number)
    }
}
