import DatabaseFiles
import Exchange
import Messages
import MiniSEED
import Settings
import Values

/// Descriptions of stations, as far as they can be believed: who they are, where they stand, what their channels are
/// called. Traces of a station without a description wait here. Pure: time is passed in.
struct StationDirectory {
    /// Fault of a message.
    struct Problem: Error, Equatable {
        var reason: FeedRefusal
        var words: String
    }

    /// How a station's samples are named and what a count of its waveforms is.
    struct Identity: Equatable {
        var codes: ChannelCodes
        /// Samples per second of its sensor.
        var rate: Double
        /// m/s² of a count of what is at that rate.
        var unit: Double
        var description: String
    }

    /// Seconds that the settings of a station that has said who it is are waited for.
    private static let settingsSeconds = 5.0
    private static let mostStations = 20_000
    /// Bytes of `state/info`; of `state/config`; of the others.
    private static let (mostInfo, mostConfig, mostState) = (32 << 10, 512 << 10, 64 << 10)
    private static let (mostUnidentified, mostUnidentifiedMessages) = (1000, 30)
    private static let askAgainSeconds = 60.0
    /// Samples of the sensor for one of a trace.
    private static let mostDecimation = 10_000.0

    private let settings: FeedSettings
    private(set) var states: [String: SharedState.StationState] = [:]
    private var identities: [String: Identity] = [:]
    /// Traces of stations that have not said who they are, by id.
    private var unidentified: [String: [InboundMessage]] = [:]
    /// Monotonic seconds at which a station may be asked again who it is.
    private var askedUntil: [String: Double] = [:]
    /// Monotonic seconds until which a station's settings are waited for.
    private var settingsUntil: [String: Double] = [:]

    init(settings: FeedSettings) { self.settings = settings }

    /// - Returns: nil where the station has not said who it is, or is not served.
    func identity(of id: String) -> Identity? { identities[id] }

    /// Whether a station is in one of the groups that are served; nil: it is not known.
    func serves(_ id: String) -> Bool? { states[id]?.info.map(settings.serves) }

    /// Samples per second of the sensors, by id.
    var rates: [String: Double] { identities.mapValues(\.rate) }

    /// A live message proves that the station is online, even if the retained state is stale.
    mutating func isAlive(_ id: String) {
        if states[id]?.isOnline != true { change(id) { $0.isOnline = true } }
    }

    mutating func setOnline(_ id: String, _ isOnline: Bool) { change(id) { $0.isOnline = isOnline } }

    private mutating func change(_ id: String, _ body: (inout SharedState.StationState) -> Void) {
        // (A broker that anybody may write to must not fill the memory.)
        guard states[id] != nil || states.count < Self.mostStations else { return }
        body(&states[id, default: .init(id: id)])
    }

    // MARK: What a station says

    /// Takes `state/info`, `state/config`, `state/level`, `state/health` or `data/vibration`.
    /// - Parameter now: monotonic seconds.
    /// - Throws: why it is not believed; what was known before stays, except codes that cannot be served.
    mutating func learn(_ id: String, _ topic: String, _ payload: [UInt8], now: Double) throws(Problem) {
        let most = topic == "state/info" ? Self.mostInfo : topic == "state/config" ? Self.mostConfig : Self.mostState
        guard payload.count <= most else {
            throw Problem(reason: .size, words: "\(topic) has \(payload.count) bytes; allowed are \(most)")
        }
        guard let tree = try? JSONReader.read(payload), case .object = tree else {
            throw Problem(reason: .syntax, words: "\(topic) is no JSON object")
        }
        switch topic {
        case "state/level": return change(id) { ($0.level, $0.levelAt) = (LevelReading(tree), now) }
        case "state/health": return change(id) { $0.health = HealthReading(tree) }
        case "data/vibration": return change(id) { ($0.vibration, $0.vibrationAt) = (VibrationReading(tree), now) }
        case "state/info":
            let info = InfoReading(tree)
            if let problem = Self.problem(ofInfo: info) { throw problem }
            change(id) { $0.info = info }
        default:
            let config = ConfigReading(tree)
            if let problem = Self.problem(ofConfig: config) { throw problem }
            change(id) { $0.config = config }
        }
        try identify(id, now)
    }

    /// - Parameter now: monotonic seconds.
    private mutating func identify(_ id: String, _ now: Double) throws(Problem) {
        guard let state = states[id], let info = state.info else { return }
        // The names of channels depend on where north is, which the settings say: they come with it, or not at all.
        if state.config == nil, identities[id] == nil {
            let until = settingsUntil[id] ?? now + Self.settingsSeconds
            settingsUntil[id] = until
            if now < until { return }
        }
        guard settings.serves(info), let station = DescribedStation(info: info, config: state.config) else {
            identities[id] = nil
            return
        }
        var codes = station.codes
        if let own = settings.codes[id] {
            (codes.network, codes.station, codes.location) = (own.network, own.station, own.location)
        }
        if let problem = Self.problem(of: codes) {
            identities[id] = nil
            throw problem
        }
        identities[id] = Identity(
            codes: codes, rate: station.rate, unit: station.unitPerCount, description: station.identity.description)
    }

    // MARK: What is believed

    /// Fault of a description: a place that the Earth does not have, or a rate that no sensor has.
    static func problem(ofInfo info: InfoReading) -> Problem? {
        let station = info.station
        let place: [(String, Value?, ClosedRange<Double>)] = [
            ("latitude", station?.statedLatitude, -90...90), ("longitude", station?.statedLongitude, -180...180),
            ("elevation_m", station?.statedElevation, -12_000...10_000),
        ]
        for case (let key, let value?, let most) in place {
            guard let number = value.number, most.contains(number) else {
                return Problem(
                    reason: .place,
                    words: "station.\(key) of state/info is \(Self.short(value)); allowed is "
                        + "\(Int(most.lowerBound))…\(Int(most.upperBound)). It is not taken: mend the station's settings"
                )
            }
        }
        if let value = info.sensor?.statedRate {
            guard let rate = value.number, (0.1...100_000).contains(rate) else {
                return Problem(
                    reason: .syntax,
                    words: "sensor.rate_hz of state/info is \(Self.short(value)); allowed is 0.1…100000 Hz")
            }
        }
        return nil
    }

    private static func problem(ofConfig config: ConfigReading) -> Problem? {
        guard let value = config.settings?.statedTraceRate else { return nil }
        guard let rate = value.number, (0.01...100_000).contains(rate) else {
            return Problem(
                reason: .syntax,
                words: "trace.rate_hz of state/config is \(Self.short(value)); allowed is 0.01…100000 Hz")
        }
        return nil
    }

    /// miniSEED 2 has two letters for a network and a location, and five for a station.
    private static func problem(of codes: ChannelCodes) -> Problem? {
        func isPlain(_ text: String, _ length: ClosedRange<Int>) -> Bool {
            text.isMade(length) { $0.isDigit || $0.isCapital }
        }
        if isPlain(codes.network, 1...2), isPlain(codes.station, 1...5), isPlain(codes.location, 0...2) { return nil }
        let words = [codes.network, codes.station, codes.location].map { short(.string($0)) }.joined(separator: ".")
        return Problem(
            reason: .codes,
            words:
                "is not served: its codes are \(words); miniSEED 2 has room for 2, 5 and 2 of A-Z and 0-9. Give it others "
                + "with feed.codes here, such as {ID: XX.BASE.00}, or with station.network, station.code and "
                + "station.location in its own settings")
    }

    private static func short(_ value: Value) -> String { String(decoding: value.json().prefix(40), as: UTF8.self) }

    // MARK: Traces that wait

    /// Keeps a trace until its station has said who it is.
    /// - Parameter now: monotonic seconds.
    /// - Returns: whether the station is to be asked.
    mutating func hold(_ message: InboundMessage, of id: String, now: Double) -> Bool {
        if serves(id) == false { return false }
        let waiting = unidentified[id]?.count ?? 0
        if waiting > 0 || unidentified.count < Self.mostUnidentified, waiting < Self.mostUnidentifiedMessages {
            unidentified[id, default: []].append(message)
        }
        if states[id]?.info != nil {
            // (Its settings have not come; in a while it goes without them.)
            try? identify(id, now)
            return false
        }
        guard now > askedUntil[id] ?? -.infinity else { return false }
        if askedUntil.count > Self.mostStations { askedUntil = [:] }
        askedUntil[id] = now + Self.askAgainSeconds
        return true
    }

    /// Traces that have waited, once their station is known.
    mutating func release(_ id: String) -> [InboundMessage] {
        identities[id] == nil ? [] : unidentified.removeValue(forKey: id) ?? []
    }

    /// The station with what it says of itself, for StationXML; nil: it is not known, or cannot be described.
    static func described(_ info: InfoReading, _ config: ConfigReading?) -> DescribedStation? {
        guard var station = DescribedStation(info: info, config: config) else { return nil }
        if let trace = station.trace, station.rate / trace.rate > mostDecimation { station.trace = nil }
        return station
    }
}

/// Descriptions of stations on the disk for the next run: at most so many bytes of all together. Stations that send no
/// samples give first, the one that was heard of first; the broker retains the descriptions in any case.
struct MessageArchive {
    /// Bytes of the file that a message takes besides its own.
    private static let bytesOfRow = 2048

    private let ring: Ring
    private let mostBytes: Int
    private var bytes = 0
    private var uses: [String: [String: Int]] = [:]
    /// Stations in the order in which they were first heard of.
    private var order: [String] = []

    /// - Parameter mostBytes: of all messages together.
    init(ring: Ring, mostBytes: Int) { (self.ring, self.mostBytes) = (ring, mostBytes) }

    /// Takes note of a former run's message that is on the disk already.
    mutating func know(_ station: String, _ topic: String, bytes count: Int) {
        if uses[station] == nil { order.append(station) }
        let use = count + Self.bytesOfRow
        bytes += use - (uses[station]?[topic] ?? 0)
        uses[station, default: [:]][topic] = use
    }

    /// Keeps a message in the place of the one before.
    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func set(
        _ station: String, _ topic: String, _ payload: [UInt8], hasSamples: (String) -> Bool
    ) throws(DatabaseError) {
        try ring.set(station, topic, payload)
        know(station, topic, bytes: payload.count)
        try limit(hasSamples)
    }

    /// - Parameter hasSamples: whether there are samples of a station.
    mutating func limit(_ hasSamples: (String) -> Bool) throws(DatabaseError) {
        guard bytes > mostBytes else { return }
        // (A tenth more, so that not each message looks through all of them.)
        let enough = mostBytes - mostBytes / 10
        for isLast in [false, true] {
            var kept: [String] = []
            for station in order {
                guard bytes > enough, isLast || !hasSamples(station) else {
                    kept.append(station)
                    continue
                }
                try ring.removeMessages(of: station)
                bytes -= uses.removeValue(forKey: station)?.values.reduce(0, +) ?? 0
            }
            order = kept
        }
    }
}
