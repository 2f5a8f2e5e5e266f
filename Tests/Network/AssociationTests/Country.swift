import Glibc
import Messages
import Propagation
import TestSupport
import Values

@testable import Association

extension SplitMix64 {
    mutating func number(_ range: ClosedRange<Double>) -> Double { Double.random(in: range, using: &self) }
}

/// Stations on a square of a side in km, and what they send.
struct Country {
    struct Message {
        var station: String
        var topic: String
        var payload: Value
        /// Event time, seconds.
        var time: Double
    }

    static let start = 1_760_000_000.0
    var places: [(name: String, place: Place)] = []
    var dice: SplitMix64

    init(stations: Int, side: Double, seed: UInt64 = 1) {
        dice = SplitMix64(state: seed)
        let centre = Place(latitude: 35, longitude: -117.5)
        for i in 0..<stations {
            let offset = SIMD2(dice.number(-side / 2...side / 2), dice.number(-side / 2...side / 2))
            places.append(("S\(i)", Place(offset: offset, from: centre)))
        }
    }

    var infos: [Message] {
        places.map { name, place in
            Message(
                station: name, topic: "state/info",
                payload: [
                    "station": [
                        "id": .string(name), "latitude": .double(place.latitude), "longitude": .double(place.longitude),
                    ]
                ], time: Self.start)
        }
    }

    /// The P waves of an earthquake up to a distance; one in ten is missing.
    mutating func earthquake(_ offset: SIMD2<Double>, depth: Double = 10, at seconds: Double, reach: Double = 90)
        -> [Message]
    {
        let source = Hypocentre(
            origin: Self.start + seconds, place: Place(offset: offset, from: Place(latitude: 35, longitude: -117.5)),
            depth: depth)
        return places.compactMap { name, place in
            let distance = place.distance(to: source.place)
            guard distance < reach, dice.number(0...1) > 0.1 else { return nil }
            let time = source.arrival(.p, at: place) + dice.number(-0.15...0.15)
            let magnitude = 0.2 * MagnitudeRelation.logPeak(magnitude: 5, distance: distance, phase: .p)
            return Self.onset(name, time, pga: max(0.001, 0.05 + magnitude / 10))
        }
    }

    /// The ends of the events of stations that have felt an earthquake of magnitude 5, each with the peak of its S wave, by
    /// clocks that are off as the onsets are.
    func ends(of onsets: [Message], _ offset: SIMD2<Double>, depth: Double = 10) -> [Message] {
        let source = Hypocentre(
            origin: 0, place: Place(offset: offset, from: Place(latitude: 35, longitude: -117.5)), depth: depth)
        let known = Dictionary(uniqueKeysWithValues: places)
        return onsets.compactMap { onset in
            guard let place = known[onset.station] else { return nil }
            var end = onset
            end.time += source.travel(.s, to: place) - source.travel(.p, to: place) + 10
            let distance = place.distance(to: source.place)
            let slant = (distance * distance + depth * depth).squareRoot()
            let peak = MagnitudeRelation.logPeak(magnitude: 5, distance: slant, phase: .s)
            let time = Timestamp(nanoseconds: Int64((end.time * 1000).rounded()) * 1_000_000)
            end.payload = onset.payload.with("event_type", "end").with("t", .string(time.description))
                .with("pga", .double(pow(10, peak) / 100))
            return end
        }
    }

    /// A station on the other side of the Earth.
    static let far = Message(
        station: "far", topic: "state/info",
        payload: ["station": ["id": "far", "latitude": -35.0, "longitude": 62.0]], time: start)

    static func onset(_ name: String, _ seconds: Double, pga: Double = 0.02) -> Message {
        let time = Timestamp(nanoseconds: Int64((seconds * 1000).rounded()) * 1_000_000)
        return Message(
            station: name, topic: "event/trigger",
            payload: [
                "v": 1, "station": .string(name), "event_type": "onset", "event_id": .string("\(name)-\(time.stamp)"),
                "onset": .string(time.description), "t": .string(time.description), "pga": .double(pga),
            ], time: seconds)
    }

    /// Onsets of nothing.
    mutating func noise(_ count: Int, seconds: ClosedRange<Double>) -> [Message] {
        (0..<count).map { _ in
            Self.onset(places[Int.random(in: 0..<places.count, using: &dice)].name, Self.start + dice.number(seconds))
        }
    }

    /// Every message with a delay of up to so many seconds.
    mutating func late(_ messages: [Message], _ seconds: Double) -> [Message] {
        messages.map { ($0.time + dice.number(0...seconds), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension NetworkDetector {
    mutating func take(_ message: Country.Message, arrival: Int64? = nil) -> [DueVersion] {
        (try? take(station: message.station, topic: message.topic, payload: message.payload, arrival: arrival).get())
            ?? []
    }
}

/// What a detector says of messages, to the end.
func detected(_ messages: [Country.Message], isEarly: Bool = false) -> [DueVersion] {
    var detector = NetworkDetector(isEarly: isEarly)
    return messages.flatMap { detector.take($0) } + detector.finish()
}
