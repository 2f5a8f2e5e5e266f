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
        /// Nothing that is kept, and nothing wrong.
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

    private static func id(_ tree: Value) throws(StationDirectory.Problem) -> String {
        guard let id = tree["event_id"]?.rawText, (1...128).contains(id.utf8.count),
            id.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw .init(reason: .syntax, words: "an event has no event_id of 1 to 128 characters") }
        return id
    }

    private static func time(_ tree: Value, _ key: String) throws(StationDirectory.Problem) -> Int64 {
        guard let time = tree[key]?.rawText.flatMap({ Timestamp($0) })?.nanoseconds, time.isSensibleTime else {
            throw .init(reason: .syntax, words: "an event has no time `\(key)`")
        }
        return time
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
        guard tree["event_type"] == .string("end") else { return .nothing }
        let id = try id(tree)
        guard id.hasPrefix("\(station)-") else {
            throw .init(
                reason: .owner,
                words: "the event `\(id.prefix(60))` does not begin with `\(station)-`, the station of its topic")
        }
        let onset = try time(tree, "onset")
        try check(onset, "an onset of", window)
        return .event(
            .init(
                owner: station, id: id, version: 1, time: onset, updated: Int32(clamping: window.now / 1_000_000_000),
                payload: payload))
    }

    static func network(_ payload: [UInt8], _ window: Window) throws(StationDirectory.Problem) -> Reading {
        guard payload.count <= mostNetwork else {
            throw .init(reason: .size, words: "a network event has \(payload.count) bytes; allowed are \(mostNetwork)")
        }
        guard let tree = try? JSONReader.read(payload), let version = tree["version"]?.integer else {
            throw .init(reason: .syntax, words: "a network event is no JSON object with a version")
        }
        let id = try id(tree)
        if tree["withdrawn"] == .bool(true) || tree["merged_into"].map({ $0 != .null }) == true {
            return .withdrawn(id: id, version: version)
        }
        let origin = try time(tree, "origin_time")
        try check(origin, "an origin time of", window)
        var event = Ring.Event(
            owner: "network", id: id, version: version, time: origin,
            updated: Int32(clamping: window.now / 1_000_000_000), payload: payload)
        event.latitude = try number(tree["latitude"], "latitude", -90...90)
        event.longitude = try number(tree["longitude"], "longitude", -180...180)
        event.depth = try number(tree["depth_km"], "depth_km", -10...800)
        event.magnitude = try number(tree["magnitude"]?["value"], "magnitude.value", -5...11)
        return .event(event)
    }

    /// - Returns: NaN where there is none.
    private static func number(
        _ value: Value?, _ key: String, _ allowed: ClosedRange<Double>
    ) throws(StationDirectory.Problem) -> Double {
        guard let value, value != .null else { return .nan }
        guard let number = value.number, allowed.contains(number) else {
            throw .init(
                reason: .place,
                words: "\(key) of an event is \(String(decoding: value.json().prefix(40), as: UTF8.self)); allowed is "
                    + "\(Int(allowed.lowerBound))…\(Int(allowed.upperBound))")
        }
        return number
    }
}
