import Glibc
import Messages
import Propagation
import Values

/// Decides what a station makes of its network's events: when S arrives, how strong it will be, and whether the alarm line
/// sounds until it has passed. Pure: messages and times are passed in.
public struct NetworkWarning: Sendable {
    public struct Options: Sendable, Equatable {
        /// The only topic that is believed: `<root>/network/event`.
        public var topic: String
        /// Degrees.
        public var latitude, longitude: Double
        /// From this intensity on (Mercalli) the alarm line sounds, where the range's lower end is at most 1 below.
        public var intensity: Double
        /// Stations that an event needs.
        public var stations: Int

        public init(topic: String, latitude: Double, longitude: Double, intensity: Double, stations: Int) {
            (self.topic, self.latitude, self.longitude) = (topic, latitude, longitude)
            (self.intensity, self.stations) = (intensity, stations)
        }
    }

    /// Now.
    public struct Moment: Sendable, Equatable {
        /// Nanoseconds of UTC.
        public var wall: Int64
        /// Nanoseconds of the monotonic clock.
        public var monotonic: Int64
        /// The wall clock is right to 1 s.
        public var isSynchronized: Bool

        public init(wall: Int64, monotonic: Int64, isSynchronized: Bool) {
            (self.wall, self.monotonic, self.isSynchronized) = (wall, monotonic, isSynchronized)
        }
    }

    /// Wanted state of the alarm line.
    public struct Line: Sendable, Equatable {
        /// Another one for each event that begins to ask for it: who has silenced one hears the next.
        public var number: Int
        /// Nanoseconds of the monotonic clock.
        public var until: Int64
        public init(number: Int, until: Int64) { (self.number, self.until) = (number, until) }
    }

    /// Events that are followed at a time.
    static let most = 16
    /// Seconds for which a warning goes on after the arrival of S.
    static let after = 10.0
    /// Seconds after which a version is too old, and by which it may lie ahead of our clock.
    static let oldest = 30.0
    static let ahead = 2.0
    /// Intensity from which on a message is published: that people feel.
    static let felt = 2.0
    /// How far an update may lower the intensity of a warning that sounds before it ends.
    static let grace = 0.5

    private struct Open: Sendable {
        var message: WarningMessage
        /// Monotonic.
        var until: Int64
        var isAlarm: Bool { message.alarm }
    }

    public let options: Options
    private let place: Place
    private var open: [Open] = []
    private var counts = [Int](repeating: 0, count: WarningRefusal.allCases.count)
    private var lines = 0
    /// Events that were told of, and those of them that asked for the alarm line.
    public private(set) var issued = 0
    public private(set) var alarms = 0

    public init(_ options: Options) {
        self.options = options
        place = Place(latitude: options.latitude, longitude: options.longitude)
    }

    /// The same with other settings: what is on its way goes on, judged by the next version.
    public func with(_ options: Options) -> NetworkWarning {
        var other = NetworkWarning(options)
        (other.open, other.counts, other.lines) = (open, counts, lines)
        (other.issued, other.alarms) = (issued, alarms)
        return other
    }

    /// Messages of which no warning was made, by reason.
    public var refused: [NamedCount] {
        zip(WarningRefusal.allCases, counts).filter { $1 > 0 }.map { NamedCount($0.rawValue, $1) }
    }

    /// Wanted state of the alarm line now; nil: nothing.
    public var line: Line? {
        let until = open.filter(\.isAlarm).map(\.until).max()
        return until.map { Line(number: lines, until: $0) }
    }

    /// When ``advance(_:)`` has something to do next (monotonic); nil: not by itself.
    public var due: Int64? { open.map(\.until).min() }

    /// Takes a message of the network.
    /// - Parameter tree: its payload; nil: it is no JSON, or too large.
    /// - Returns: what is to be published; or why nothing follows.
    public mutating func take(
        topic: String, isRetained: Bool, _ tree: Value?, at now: Moment
    ) -> (messages: [WarningMessage], refusal: WarningRefusal?) {
        guard topic == options.topic else { return refuse(.topic) }
        guard !isRetained else { return refuse(.retained) }
        guard let report = tree.flatMap({ NetworkEventReading($0) }), report.refused.isEmpty,
            let made = report.made.map({ Double($0) / 1e9 }), let origin = report.origin.map({ Double($0) / 1e9 }),
            (-2...1800).contains(made - origin), let source = ExpectedShaking.Source(report),
            let quality = report.quality, let stations = report.stations,
            report.magnitude == nil || report.magnitude?.sigma != nil
        else { return refuse(.unreadable) }
        let wall = Double(now.wall) / 1e9
        if now.isSynchronized {
            guard made - wall <= Self.ahead else { return refuse(.clock) }
            guard wall - made <= Self.oldest else { return refuse(.old) }
        }
        let known = open.firstIndex { $0.message.networkEvent == report.eventID }
        // What was delivered twice.
        if let known, report.version <= open[known].message.version { return ([], nil) }
        let isGone = report.isWithdrawn || report.isMerged
        if isGone || report.dispute != nil {
            guard let known else { return isGone ? ([], nil) : refuse(.disputed) }
            return ([cancel(known, report.version, now)], nil)
        }
        guard quality == .good else { return refuse(.place) }
        guard Set(stations.map(\.id)).count >= options.stations else { return refuse(.stations) }
        guard report.likely != .disturbance else { return refuse(.class) }
        guard let magnitude = report.magnitude else { return refuse(.magnitude) }
        let shaking = ExpectedShaking(of: source, magnitude: magnitude, at: place)
        guard shaking.distance <= IntensityPrediction.reach else { return refuse(.distance) }
        let arrival = origin + shaking.travel
        // Without a clock: for as long as the detector's own lets expect.
        let left = now.isSynchronized ? arrival - wall : max(0, min(60, arrival - made))
        guard left + Self.after > 0 else { return known == nil ? refuse(.passed) : ([], nil) }
        guard known != nil || open.count < Self.most else { return refuse(.many) }
        let before = known.map { open[$0].message }
        let message = WarningMessage(
            state: .coming, networkEvent: report.eventID, version: report.version,
            alarm: asksForAlarm(shaking, isSounding: before?.alarm == true),
            arrival: now.isSynchronized ? Int64((arrival * 1e3).rounded()) * 1_000_000 : nil,
            seconds: now.isSynchronized ? Self.rounded(left) : 0, intensity: Self.rounded(shaking.intensity),
            range: Self.rounded(shaking.range.lowerBound)...Self.rounded(shaking.range.upperBound),
            distance: Self.rounded(shaking.distance), magnitude: Self.rounded(magnitude.value), issued: now.wall)
        guard message.alarm || shaking.intensity >= Self.felt else {
            return known.map { ([cancel($0, report.version, now)], nil) } ?? ([], nil)
        }
        let until = now.monotonic + Int64((left + Self.after) * 1e9)
        if let known {
            open[known] = Open(message: message, until: until)
        } else {
            open.append(Open(message: message, until: until))
            issued += 1
        }
        if message.alarm, before?.alarm != true {
            lines += 1
            alarms += 1
        }
        return ([message], nil)
    }

    /// Counts messages that nobody has looked at, because too many came at once.
    public mutating func drop(_ count: Int) { note(.crowded, count) }

    /// Ends what has passed.
    /// - Returns: what is to be published.
    public mutating func advance(_ now: Moment) -> [WarningMessage] {
        let over = open.filter { $0.until <= now.monotonic }
        open.removeAll { $0.until <= now.monotonic }
        return over.map { Self.ended($0.message, .passed, now) }
    }

    /// Ends everything: it is switched off.
    public mutating func end(_ now: Moment) -> [WarningMessage] {
        defer { open = [] }
        return open.map { Self.ended($0.message, .cancelled, now) }
    }

    private func asksForAlarm(_ shaking: ExpectedShaking, isSounding: Bool) -> Bool {
        if isSounding { return shaking.intensity >= options.intensity - Self.grace }
        return shaking.intensity >= options.intensity && shaking.range.lowerBound >= options.intensity - 1
    }

    private mutating func cancel(_ at: Int, _ version: Int, _ now: Moment) -> WarningMessage {
        var message = Self.ended(open.remove(at: at).message, .cancelled, now)
        message.version = version
        return message
    }

    private mutating func refuse(_ reason: WarningRefusal) -> (messages: [WarningMessage], refusal: WarningRefusal?) {
        note(reason, 1)
        return ([], reason)
    }

    private mutating func note(_ reason: WarningRefusal, _ count: Int) {
        if let at = WarningRefusal.allCases.firstIndex(of: reason) { counts[at] += count }
    }

    private static func ended(
        _ message: WarningMessage, _ state: WarningMessage.State, _ now: Moment
    ) -> WarningMessage {
        var message = message
        (message.state, message.alarm, message.issued) = (state, false, now.wall)
        message.seconds = message.arrival.map { rounded(Double($0) / 1e9 - Double(now.wall) / 1e9) } ?? 0
        return message
    }

    private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }
}

/// Shaking that a station has to expect of an earthquake that its network has located.
struct ExpectedShaking: Sendable, Equatable {
    /// Where an earthquake was: epicentre, its depth and uncertainty in km.
    struct Source: Sendable, Equatable {
        var epicentre: Place
        var depth, uncertainty: Double

        /// Nil where one of them is missing.
        init?(_ event: NetworkEventReading) {
            guard let latitude = event.latitude, let longitude = event.longitude, let depth = event.depth,
                let uncertainty = event.semiMajor
            else { return nil }
            epicentre = Place(latitude: latitude, longitude: longitude)
            (self.depth, self.uncertainty) = (depth, uncertainty)
        }
    }

    /// From the epicentre, km.
    var distance: Double
    /// Seconds from the time of origin to the S wave.
    var travel: Double
    /// Mercalli.
    var intensity: Double
    /// With 68 %: the relation's scatter, with those of the magnitude and of the place.
    var range: ClosedRange<Double>

    init(of source: Source, magnitude: NetworkEventReading.Magnitude, at place: Place) {
        let depth = source.depth
        distance = source.epicentre.distance(to: place)
        travel = TravelTimes.seconds(.s, distance: distance, depth: depth)
        func intensity(_ magnitude: Double, _ distance: Double) -> Double {
            IntensityPrediction.intensity(
                magnitude: magnitude, distance: (distance * distance + depth * depth).squareRoot())
        }
        let (size, off, spread) = (magnitude.value, source.uncertainty, magnitude.sigma ?? 0)
        let middle = intensity(size, distance)
        let bySize = (intensity(size + spread, distance) - intensity(size - spread, distance)) / 2
        let byPlace = (intensity(size, max(0, distance - off)) - intensity(size, distance + off)) / 2
        let sigma =
            (IntensityPrediction.sigma * IntensityPrediction.sigma + bySize * bySize + byPlace * byPlace).squareRoot()
        self.intensity = middle
        range = max(1, middle - sigma)...min(10, middle + sigma)
    }
}

/// Reason why no warning was made of a message.
public enum WarningRefusal: String, Sendable, CaseIterable {
    /// It came on another topic than that of the network's events.
    case topic
    /// The broker had kept it from an earlier time.
    case retained
    /// No version of a network event, or one with a value out of its range.
    case unreadable
    /// Made more than 2 s after now: their clock or ours is wrong.
    case clock
    /// Made more than 30 s ago.
    case old
    /// `place.quality` is not `good`.
    case place
    /// Fewer than `alarm.network.stations`.
    case stations
    /// It has no magnitude.
    case magnitude
    /// As many stations are silent as have an onset.
    case disputed
    /// Its stations take it for a disturbance.
    case `class`
    /// Beyond the reach of the relation.
    case distance
    /// The S wave was here more than 10 s ago.
    case passed
    /// Too many at a time.
    case many
    /// It was pushed out by newer ones before it was looked at.
    case crowded

    /// For the log.
    public var words: String {
        switch self {
        case .topic: "not on the network's own topic"
        case .retained: "retained by the broker"
        case .unreadable: "not a readable version of a network event"
        case .clock: "its time lies ahead of this station's clock by more than 2 s"
        case .old: "older than 30 s"
        case .place: "its place is not well known (place.quality is not good)"
        case .stations: "fewer stations than alarm.network.stations"
        case .magnitude: "it has no magnitude"
        case .disputed: "disputed: stations that must have been moved are silent, or one operator's alone report it"
        case .class: "the stations take it for a disturbance"
        case .distance: "farther than \(Int(IntensityPrediction.reach)) km"
        case .passed: "the S wave has passed"
        case .many: "more than \(NetworkWarning.most) events at a time"
        case .crowded: "too many messages at once; the newest ones count"
        }
    }
}
