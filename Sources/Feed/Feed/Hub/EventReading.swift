import Messages
import Settings
import Values

/// Reads what stations publish on `event/…` and a network on `network/event`. All of it comes from outside.
enum EventReading {
    /// Bytes of a message of a station, and of a network.
    private static let (mostStation, mostNetwork) = (16 << 10, 256 << 10)

    /// Content of a message.
    enum Reading: Equatable {
        case event(Ring.Event)
        /// The event was none, or is part of another.
        case withdrawn(id: String, version: Int64)
        /// A valid message that is not kept.
        case nothing
    }

    /// The time in which events are taken, nanoseconds of UTC.
    struct Window {
        var oldest: Int64
        var now: Int64
        /// How far ahead of the clock.
        var ahead: Int64
    }

    private static func check(
        _ time: Int64, _ what: String, _ window: Window
    ) throws(StationDirectory.Problem) {
        if time > window.now + window.ahead {
            throw .init(
                reason: .future,
                words: "\(what) \(Timestamp(nanoseconds: time)) is after the feed's clock; feed.ahead_s allows "
                    + "\(window.ahead / 1_000_000_000) s. Check both clocks")
        }
        if time < window.oldest {
            throw .init(
                reason: .old,
                words: "\(what) \(Timestamp(nanoseconds: time)) is older than what the ring keeps (feed.days)")
        }
    }

    /// - Parameter station: the id in the topic.
    static func station(
        _ station: String, _ payload: [UInt8], _ window: Window
    ) throws(StationDirectory.Problem) -> Reading {
        guard payload.count <= mostStation else {
            throw .init(reason: .size, words: "an event has \(payload.count) bytes; allowed are \(mostStation)")
        }
        guard let tree = try? JSONReader.read(payload), case .object = tree else {
            throw .init(reason: .syntax, words: "an event is no JSON object")
        }
        guard let event = StationEventReading(tree) else {
            throw .init(
                reason: .syntax, words: "an event has no event_id, or no onset that is a time from 1920 to 2199")
        }
        guard event.kind == .end else { return .nothing }
        guard EventID.isOf(station: station, event.eventID) else {
            throw .init(
                reason: .owner,
                words: "the event `\(event.eventID.prefix(60))` is none of the station of its topic: its id has to "
                    + "begin with `\(station)-` and may have A-Z, a-z, 0-9, _ and -, 128 characters at most")
        }
        try check(event.onset, "an onset of", window)
        return .event(
            .init(
                owner: station, id: event.eventID, version: 1, time: event.onset,
                updated: Int32(clamping: window.now / 1_000_000_000), payload: payload))
    }

    static func network(_ payload: [UInt8], _ window: Window) throws(StationDirectory.Problem) -> Reading {
        guard payload.count <= mostNetwork else {
            throw .init(reason: .size, words: "a network event has \(payload.count) bytes; allowed are \(mostNetwork)")
        }
        guard let tree = try? JSONReader.read(payload), let event = NetworkEventReading(tree) else {
            throw .init(
                reason: .syntax,
                words: "a network event is no JSON object with an event_id, `net-` and 1 to 60 of A-Z, a-z, 0-9, _ "
                    + "and -, and a version from 1 on")
        }
        let version = Int64(event.version)
        if event.isWithdrawn || event.isMerged { return .withdrawn(id: event.eventID, version: version) }
        guard let origin = event.origin else {
            throw .init(reason: .syntax, words: "a network event has no origin_time from 1920 to 2199")
        }
        try check(origin, "an origin time of", window)
        if let refused = event.refused.first {
            throw .init(
                reason: .place,
                words: "\(refused.member) of an event is "
                    + "\(String(decoding: refused.value.json().prefix(40), as: UTF8.self)); allowed is "
                    + "\(refused.allowed.lowerBound)…\(refused.allowed.upperBound)")
        }
        var row = Ring.Event(
            owner: "network", id: event.eventID, version: version, time: origin,
            updated: Int32(clamping: window.now / 1_000_000_000), payload: payload)
        (row.latitude, row.longitude) = (event.latitude ?? .nan, event.longitude ?? .nan)
        (row.depth, row.magnitude) = (event.depth ?? .nan, event.magnitude?.value ?? .nan)
        return .event(row)
    }
}
