import Association
import Messages
import Propagation
import Settings
import Values

@testable import seismote_network

/// Stations on a field, and the earthquakes that they feel.
enum Field {
    static let start: Int64 = 1_760_000_000_000_000_000
    static let stations = 16

    /// Nanoseconds of UTC.
    static func time(_ seconds: Double) -> Int64 { start + Int64(seconds * 1e9) }
    static func clock(_ now: Int64) -> Double { Double(now - start) / 1e9 }

    static func place(_ i: Int) -> Place {
        Place(
            offset: SIMD2(Double(i % 4) * 12 - 18, Double(i / 4) * 12 - 12),
            from: Place(latitude: 35, longitude: -117.5))
    }

    static func info(_ id: String, _ latitude: Double, _ longitude: Double) -> [UInt8] {
        let tree: Value = [
            "station": ["id": .string(id), "latitude": .double(latitude), "longitude": .double(longitude)]
        ]
        return tree.json()
    }

    /// What all stations say of themselves; one is in another region, where nothing happens.
    static var infos: [(topic: String, payload: [UInt8])] {
        (0..<stations).map { i in
            ("seismote/s\(i)/state/info", info("s\(i)", place(i).latitude, place(i).longitude))
        } + [("seismote/far/state/info", info("far", -35, 120))]
    }

    static func trigger(
        _ station: String, _ time: Int64, boot: String = "b", number: Int
    ) -> (time: Int64, topic: String, payload: [UInt8]) {
        let time = Timestamp(nanoseconds: time / 1_000_000 * 1_000_000)
        let payload: Value = [
            "v": 1, "boot": .string(boot), "seq": .int(Int64(number)), "station": .string(station),
            "event_type": "onset", "event_id": .string("\(station)-\(time.stamp)"),
            "onset": .string(time.description), "t": .string(time.description), "pga": 0.05,
        ]
        return (time.nanoseconds, "seismote/\(station)/event/trigger", payload.json())
    }

    /// Onsets of an earthquake, by time.
    static func onsets(_ origin: Int64, _ number: Int) -> [(time: Int64, topic: String, payload: [UInt8])] {
        let source = Place(offset: SIMD2(Double(number % 3) * 5 - 5, 3), from: Place(latitude: 35, longitude: -117.5))
        return (0..<stations).map { i in
            let travel = TravelTimes.iasp91.seconds(.p, distance: source.distance(to: place(i)), depth: 10)
            return trigger("s\(i)", origin + Int64(travel * 1e9), number: number)
        }.sorted { $0.time < $1.time }
    }
}

/// A detector with its journal and the broker beside it, both of which outlive it. A version is known by what it says without
/// its envelope, which has the run in it.
protocol Bench {
    init(_ change: (inout NetworkOptions) -> Void)
    /// Somebody publishes.
    mutating func send(_ topic: String, _ payload: [UInt8], _ now: Int64, isRetained: Bool)
    /// The detector does what is to be done, but for so many single things at most: then it stands still.
    mutating func step(_ now: Int64, atMost count: Int)
    /// SIGKILL, and a new one.
    mutating func die(_ now: Int64)
    var log: PublishedLog { get }
    var stations: Int { get }
    var lines: [String] { get }
}

extension Bench {
    mutating func step(_ now: Int64) { step(now, atMost: .max) }

    mutating func introduce(_ now: Int64) {
        for (topic, payload) in Field.infos { send(topic, payload, now, isRetained: true) }
    }

    func count(_ topic: String) -> Int { log.topics[topic, default: 0] }
}

/// What was published.
struct PublishedLog {
    var versions: [(id: String, version: Int, content: [UInt8])] = []
    /// Versions that were published before the journal had them.
    var tooEarly = 0
    var topics: [String: Int] = [:]
    /// The newest message of each topic.
    var newest: [String: [UInt8]] = [:]
    /// Single things that were done.
    var done = 0

    mutating func add(_ topic: String, _ payload: [UInt8], isWritten: (String, Int) -> Bool) {
        topics[topic, default: 0] += 1
        newest[topic] = payload
        guard topic == "seismote/network/event", let tree = try? JSONReader.read(payload),
            let one = NetworkVersion(tree, payload)
        else { return }
        versions.append((one.eventID, one.version, NetworkEventMessage.contentJSON(of: tree)))
        if !isWritten(one.eventID, one.version) { tooEarly += 1 }
    }
}
