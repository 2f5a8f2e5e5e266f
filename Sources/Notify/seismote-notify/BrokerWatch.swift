import Messages
import Propagation
import Settings
import Values

/// From what a broker sends to occasions. It trusts nothing: what cannot be read is counted.
struct BrokerWatch: Sendable {
    /// How long a station has to be offline before that is an occasion, ns.
    static let patience: Int64 = 600_000_000_000
    /// Events that are older when they come are history, ns.
    static let oldest: Int64 = 3_600_000_000_000
    /// Times further ahead than this are not believed, ns.
    private static let ahead: Int64 = 60_000_000_000
    /// Stations that are remembered at most.
    private static let most = 100_000

    private enum Presence: Sendable, Equatable {
        case away(since: Int64)
        /// It has been said.
        case said
    }

    private let root: String
    private var away: [String: Presence] = [:]
    private var online: Set<String> = []
    private var broker: Presence?
    /// Messages that could not be read, and such as are history.
    private(set) var unreadable = 0
    private(set) var late = 0

    /// - Parameters:
    ///   - root: of the stations' topics.
    ///   - said: stations that a run before has said to be offline.
    ///   - broker: when this run began, ns UTC: the broker is away until it is there. `saidBroker`: a run before has said so.
    init(root: String, said: [String], broker began: Int64, saidBroker: Bool = false) {
        self.root = root
        for station in said { away[station] = .said }
        broker = saidBroker ? .said : .away(since: began)
    }

    /// Stations that are online and offline; nil while the broker cannot be reached.
    var stations: (online: Int, offline: Int)? { broker == nil ? (online.count, away.count) : nil }

    /// Topics that are subscribed to.
    var subscriptions: [String] {
        ["+/event/trigger", "+/state/online", "+/state/alert/+", "network/event"].map { "\(root)/\($0)" }
    }

    /// - Parameter now: nanoseconds of UTC.
    mutating func take(_ message: InboundMessage, now: Int64) -> Occasion? {
        guard !message.isTooLarge, let (station, rest) = place(message.topic) else {
            unreadable += 1
            return nil
        }
        if rest == "state/online" { return presence(station, message.payload, now) }
        if rest.hasPrefix("state/alert/") { return alert(station, String(rest.dropFirst(12)), message.payload, now) }
        guard let tree = try? JSONReader.read(message.payload) else {
            unreadable += 1
            return nil
        }
        let isNetwork = station == "network"
        guard rest == (isNetwork ? "event" : "event/trigger"),
            let occasion = isNetwork ? earthquake(tree, now) : shaking(station, tree, now)
        else {
            unreadable += 1
            return nil
        }
        let time =
            switch occasion {
            case .shaking(let one): one.onset
            case .earthquake(_, let origin): origin
            default: now
            }
        guard time >= now - Self.oldest else {
            late += 1
            return nil
        }
        return occasion
    }

    /// Splits a topic into its station and the rest; `network` is none of a station.
    private func place(_ topic: String) -> (station: String, rest: String)? {
        topic == "\(root)/network/event" ? ("network", "event") : Topics.split(topic, root: root)
    }

    /// Whether there is a connection to the broker.
    mutating func connection(_ isUp: Bool, now: Int64) -> Occasion? {
        let before = broker
        if isUp { broker = nil } else if broker == nil { broker = .away(since: now) }
        return isUp && before == .said ? .brokerBack : nil
    }

    /// Occasions that follow from time alone.
    mutating func tick(now: Int64) -> [Occasion] {
        var found: [Occasion] = []
        if case .away(let since)? = broker, now - since >= Self.patience {
            broker = .said
            found.append(.brokerAway(since: since))
        }
        // (While the broker is away, stations are not reported offline.)
        guard broker == nil else { return found }
        for (station, presence) in away {
            guard case .away(let since) = presence, now - since >= Self.patience else { continue }
            away[station] = .said
            found.append(.offline(station: station, since: since))
        }
        return found.sorted { "\($0)" < "\($1)" }
    }

    private mutating func presence(_ station: String, _ payload: [UInt8], _ now: Int64) -> Occasion? {
        switch String(decoding: payload.prefix(16), as: UTF8.self) {
        case "offline":
            online.remove(station)
            if away[station] == nil, away.count < Self.most { away[station] = .away(since: now) }
        case "online":
            let before = away.removeValue(forKey: station)
            if online.count < Self.most { online.insert(station) }
            if before == .said { return .online(station: station) }
        case "":
            // An empty one takes the station away from the broker.
            online.remove(station)
            away[station] = nil
        default: unreadable += 1
        }
        return nil
    }

    /// A retained one comes again with each connection, with the same `since`.
    private mutating func alert(_ station: String, _ code: String, _ payload: [UInt8], _ now: Int64) -> Occasion? {
        guard Self.isWord(code) else {
            unreadable += 1
            return nil
        }
        if payload.isEmpty { return .alertOver(station: station, code: code) }
        guard let alert = (try? JSONReader.read(payload)).map(AlertReading.init),
            let severity = alert.severity.flatMap(Recipient.Severity.init(rawValue:)),
            let since = Self.time(alert.since, now)
        else {
            unreadable += 1
            return nil
        }
        return .alert(
            station: station, code: code, since: since, severity: severity,
            message: Self.text(alert.message ?? code))
    }

    private func shaking(_ station: String, _ tree: Value, _ now: Int64) -> Occasion? {
        guard let event = StationEventReading(tree), EventID.isOf(station: station, event.eventID),
            event.onset <= now + Self.ahead
        else { return nil }
        return .shaking(
            .init(
                station: station, eventID: event.eventID, onset: event.onset, intensity: event.mmi.map(Self.step),
                isCertain: event.isMercalliCertain, safeIntensity: event.certainMercalli.map(Self.step),
                likely: Self.text(event.likely ?? "unclassified"), probability: event.probability,
                alarm: event.hasAlarm, isTest: event.isTest))
    }

    private func earthquake(_ tree: Value, _ now: Int64) -> Occasion? {
        guard let event = NetworkEventReading(tree), let origin = event.origin, origin <= now + Self.ahead else {
            return nil
        }
        return .earthquake(event, origin: origin)
    }

    /// An intensity as a step of the scale.
    static func step(_ intensity: Double) -> Double { min(max(intensity, 1), 12) }

    private static func time(_ time: Int64?, _ now: Int64) -> Int64? {
        guard let time, Timestamp.sensible.contains(time), time <= now + ahead else { return nil }
        return time
    }

    /// At most 200 characters, none of them for a terminal or a new line.
    private static func text(_ given: String) -> String {
        String(given.unicodeScalars.prefix(200).map { $0.value < 0x20 || $0.value == 0x7F ? " " : Character($0) })
    }

    private static func isWord(_ text: String) -> Bool {
        text.isMade(1...64) { $0.isSmallLetter || $0.isDigit || $0 == 0x5F }
    }
}
