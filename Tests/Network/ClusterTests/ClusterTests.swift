import Association
import Messages
import Propagation
import Settings
import Testing
import Values

@testable import Cluster

/// A queue as RabbitMQ has it: one reader at a time; what a reader that is gone has not acknowledged comes again, first.
private struct Queue {
    struct Entry {
        var kind: ClusterKind
        var name: String
        var payload: [UInt8]
        var arrival: Int64
        var wasGiven = false
    }

    var entries: [Entry] = []
    /// Numbers of entries by the tag under which the reader knows them.
    private var given: [UInt64: Entry] = [:]
    private var tag: UInt64 = 0

    mutating func put(_ kind: ClusterKind, _ name: String, _ payload: [UInt8], _ arrival: Int64) {
        entries.append(Entry(kind: kind, name: name, payload: payload, arrival: arrival))
    }

    mutating func give() -> [ClusterDelivery] {
        defer { entries = [] }
        return entries.map { entry in
            tag += 1
            given[tag] = entry
            return ClusterDelivery(
                tag: tag, kind: entry.kind, name: entry.name, payload: entry.payload, arrival: entry.arrival,
                isAgain: entry.wasGiven)
        }
    }

    /// - Returns: whether the reader has it.
    mutating func acknowledge(_ tag: UInt64) -> Bool { given.removeValue(forKey: tag) != nil }

    mutating func loseReader() {
        let back = given.sorted { $0.key < $1.key }.map { one in
            var entry = one.value
            entry.wasGiven = true
            return entry
        }
        entries = back + entries
        given = [:]
        tag = 0
    }

    var unacknowledged: Int { given.count }
}

/// Stations on a field, the earthquakes that they feel, and detectors that die.
private struct World {
    static let start: Int64 = 1_760_000_000_000_000_000
    var queue = Queue()
    var published: [(id: String, version: Int)] = []
    /// Versions that were published before the cluster had said that the queue has them.
    var tooEarly = 0
    var topics: [String: Int] = [:]
    var wrongTags = 0
    /// What the queue has, and the detector does not know yet: the cluster's answers come a step later.
    private var unconfirmed: [(number: Int, version: String?)] = []
    /// Versions that the queue is known to have.
    private var written: Set<String> = []
    var detector: ClusterDetector
    var runs = 0
    var options = ClusterOptions()

    init(_ change: (inout ClusterOptions) -> Void = { _ in }) {
        change(&options)
        detector = ClusterDetector(options, AssociationOptions(), boot: "run-0")
    }

    static func place(_ i: Int) -> Place {
        Place(
            offset: SIMD2(Double(i % 4) * 12 - 18, Double(i / 4) * 12 - 12),
            from: Place(latitude: 35, longitude: -117.5))
    }

    /// What the detector wants; a death comes after so many of its actions.
    mutating func perform(atMost count: Int = .max, _ now: Int64) {
        var left = count
        while left > 0 {
            let actions = detector.takeActions()
            if actions.isEmpty { return }
            for action in actions where left > 0 {
                left -= 1
                switch action {
                case .acknowledge(let tag): if !queue.acknowledge(tag) { wrongTags += 1 }
                case .keep(let number, let kind, let name, let payload):
                    queue.put(kind, name, payload, now)
                    unconfirmed.append((number, kind == .version ? name : nil))
                case .publish(_, let topic, let payload):
                    topics[topic, default: 0] += 1
                    if topic.hasPrefix("seismote/network/place/") { queue.put(.published, topic, payload, now) }
                    guard topic == "seismote/network/event", let tree = try? JSONReader.read(payload),
                        let id = tree["event_id"]?.rawText, let version = tree["version"]?.whole
                    else { continue }
                    published.append((id, version))
                    if !written.contains("\(id)/\(version)") { tooEarly += 1 }
                    queue.put(.published, topic, payload, now)
                }
            }
        }
    }

    /// The cluster answers what was sent in the step before.
    private mutating func confirm() {
        for (number, version) in unconfirmed {
            if let version { written.insert(version) }
            detector.confirmed(number)
        }
        unconfirmed = []
    }

    mutating func die() {
        runs += 1
        queue.loseReader()
        // A successor reads in the queue what the cluster has not answered any more.
        written.formUnion(unconfirmed.compactMap(\.version))
        unconfirmed = []
        detector = ClusterDetector(options, AssociationOptions(), boot: "run-\(runs)")
    }

    mutating func step(_ now: Int64, atMost count: Int = .max) {
        let clock = Double(now - Self.start) / 1e9
        for _ in 0..<4 {
            confirm()
            detector.take(queue.give(), now: now, clock: clock)
            detector.beat(now: now, clock: clock)
            perform(atMost: count, now)
        }
    }

    mutating func introduce(_ now: Int64) {
        for i in 0..<16 {
            let place = Self.place(i)
            let info: Value = [
                "station": [
                    "id": .string("s\(i)"), "latitude": .double(place.latitude), "longitude": .double(place.longitude),
                ]
            ]
            queue.put(.published, "seismote/s\(i)/state/info", info.json(), now)
        }
        // In another region, where nothing happens.
        let far: Value = ["station": ["id": "far", "latitude": -35.0, "longitude": 120.0]]
        queue.put(.published, "seismote/far/state/info", far.json(), now)
    }

    /// Onsets of an earthquake, by time.
    static func onsets(_ origin: Int64, _ number: Int) -> [(time: Int64, topic: String, payload: [UInt8])] {
        let source = Place(offset: SIMD2(Double(number % 3) * 5 - 5, 3), from: Place(latitude: 35, longitude: -117.5))
        return (0..<16).map { i in
            let travel = TravelTimes.iasp91.seconds(.p, distance: source.distance(to: place(i)), depth: 10)
            let time = Timestamp(nanoseconds: (origin + Int64(travel * 1e9)) / 1_000_000 * 1_000_000)
            let payload: Value = [
                "v": 1, "boot": "b", "seq": .int(Int64(number)), "station": .string("s\(i)"), "event_type": "onset",
                "event_id": .string("s\(i)-\(time.stamp)"), "onset": .string(time.description),
                "t": .string(time.description), "pga": 0.05,
            ]
            return (time.nanoseconds, "seismote/s\(i)/event/trigger", payload.json())
        }.sorted { $0.time < $1.time }
    }
}

struct ClusterTests {
    /// A place that the operator has entered is in force for each successor, however long ago it was entered, and is held
    /// once; forgotten, it is held no more.
    @Test func whatTheOperatorEnteredOutlivesADetector() {
        var world = World { $0.refreshSeconds = 100 }
        world.introduce(World.start)
        world.step(World.start)
        #expect(world.detector.stations == 17)
        let moved: Value = ["station": ["id": "s3", "latitude": 36.0, "longitude": -117.5]]
        let place: Value = ["latitude": 36.0, "longitude": -117.5]
        world.queue.put(.published, "seismote/s3/state/info", moved.json(), World.start)
        world.step(World.start + 1_000_000_000)
        #expect(world.detector.stations == 16)
        world.queue.put(.published, "seismote/network/place/s3", place.json(), World.start)
        world.step(World.start + 2_000_000_000)
        #expect(world.detector.stations == 17)
        let held = world.detector.heldCount
        var now = World.start
        for run in 0..<5 {
            now += 60_000_000_000
            world.step(now)
            world.die()
            world.step(now)
            // The first successor finds its former place in the queue, and asks for the present one.
            #expect(world.detector.stations == (run == 0 ? 16 : 17))
            #expect(world.topics["seismote/s3/cmd/rebirth"] == 1)
            world.queue.put(.published, "seismote/s3/state/info", moved.json(), now)
            world.step(now)
            #expect(world.detector.stations == 17 && world.detector.heldCount == held)
        }
        #expect(world.topics["seismote/network/place/s3", default: 0] > 1)
        world.queue.put(.published, "seismote/network/place/s3", [], now)
        world.step(now)
        #expect(world.detector.stations == 17 && world.detector.heldCount == held - 1)
        #expect(world.wrongTags == 0)
    }

    /// Whenever a detector dies, also between writing a version down and publishing it, the next one goes on: every
    /// version once, none left out, one event for each earthquake.
    @Test(arguments: 0...4) func aSuccessorGoesOn(seed: Int) {
        var world = World()
        world.introduce(World.start)
        world.step(World.start)
        var steps = 0
        for number in 0..<3 {
            let origin = World.start + Int64(10 + 90 * number) * 1_000_000_000
            for (time, topic, payload) in World.onsets(origin, number) {
                world.queue.put(.published, topic, payload, time)
                steps += 1
                let dies = seed > 0 && steps % (seed + 4) == 0
                world.step(time, atMost: dies ? steps % 5 : .max)
                if dies { world.die() }
            }
            for second in stride(from: 6, to: 80, by: 2) {
                steps += 1
                let dies = seed > 0 && steps % (seed + 9) == 0
                world.step(origin + Int64(second) * 1_000_000_000, atMost: dies ? steps % 3 : .max)
                if dies { world.die() }
            }
        }
        let events = Dictionary(grouping: world.published, by: \.id)
        #expect(events.count == 3)
        for (id, versions) in events { #expect(versions.map(\.version) == Array(1...versions.count), "\(id)") }
        #expect(world.tooEarly == 0)
        #expect(world.wrongTags == 0)
        #expect(seed == 0 || world.runs > 10)
    }

    @Test func whatNobodyNeedsIsAcknowledged() {
        var world = World { $0.margin = 60 }
        world.introduce(World.start)
        world.step(World.start)
        let origin = World.start + 10_000_000_000
        for (time, topic, payload) in World.onsets(origin, 0) {
            world.queue.put(.published, topic, payload, time)
            world.step(time)
        }
        // The stations, the onsets, the last version, written down and seen.
        world.step(origin + 20_000_000_000)
        #expect(world.queue.unacknowledged >= 17 + 16 + 2)
        for second in 21..<700 { world.step(origin + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged == 17)
        #expect(world.published.count >= 2)
    }

    /// What is known of a station is written down again before it is old, and is known to the next one.
    @Test func stationsAreWrittenDownAgain() {
        var world = World { $0.refreshSeconds = 100 }
        world.introduce(World.start)
        for second in 0..<1000 { world.step(World.start + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged == 17)
        world.die()
        world.step(World.start + 1_001_000_000_000)
        #expect(world.detector.stations == 17)
        #expect(world.detector.held.stations.values.allSatisfy { $0.arrival > World.start + 800_000_000_000 })
        #expect(world.wrongTags == 0)
    }

    @Test func whereNobodyIsKnownAllAreAsked() {
        var world = World()
        world.step(World.start)
        #expect(world.topics["seismote/group/all/cmd/rebirth"] == 1)
        #expect(world.detector.phase == .active)
    }

    /// Nothing is retained on a cluster: Home Assistant is told of its sensors whenever it comes up, and of their values
    /// once it has subscribed to them.
    @Test func homeAssistantIsToldWhenItComesUp() {
        var world = World {
            ($0.homeAssistant, $0.confirms) = ("homeassistant", true)
            $0.statusSeconds = 3600
        }
        func sensors() -> Int { world.topics.filter { $0.key.hasPrefix("homeassistant/") }.map(\.value).reduce(0, +) }
        world.introduce(World.start)
        world.step(World.start)
        // The network's two, and one of each station.
        #expect(sensors() == 19)
        for (time, topic, payload) in World.onsets(World.start + 10_000_000_000, 0) {
            world.queue.put(.published, topic, payload, time)
            world.step(time)
        }
        for second in 20..<200 { world.step(World.start + Int64(second) * 1_000_000_000) }
        let (last, status) = (world.topics["seismote/network/event/last"]!, world.topics["seismote/network/status"]!)
        #expect(sensors() == 19 && last >= 2)
        for (words, count, at) in [("offline", 19, 300), ("online", 38, 400)] {
            let now = World.start + Int64(at) * 1_000_000_000
            world.queue.put(.published, "homeassistant/status", Array(words.utf8), now)
            for second in 0..<10 { world.step(now + Int64(second) * 1_000_000_000) }
            #expect(sensors() == count, "\(words)")
        }
        #expect(world.topics["seismote/network/event/last"] == last + 1)
        #expect(world.topics["seismote/network/status"] == status + 1)
        // A successor knows the last event, and says it at once, and to a Home Assistant that has subscribed.
        world.die()
        for second in 500..<520 { world.step(World.start + Int64(second) * 1_000_000_000) }
        #expect(sensors() == 57)
        #expect(world.topics["seismote/network/event/last"] == last + 3)
        #expect(world.wrongTags == 0)
    }

    /// The marker of one that stands by comes to the one at work.
    @Test func anotherOnesMarkerChangesNothing() {
        var world = World()
        world.introduce(World.start)
        world.step(World.start)
        world.queue.put(.marker, "another", [], World.start)
        world.step(World.start + 1_000_000_000)
        #expect(world.queue.unacknowledged == 17)
        #expect(world.detector.stations == 17)
    }

    @Test func moreThanTheBrokerGivesIsNeverHeld() {
        var world = World { $0.most = 20 }
        world.introduce(World.start)
        world.step(World.start)
        for (time, topic, payload) in World.onsets(World.start + 10_000_000_000, 0) {
            world.queue.put(.published, topic, payload, time)
            world.step(time)
        }
        for second in 20..<30 { world.step(World.start + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged <= 22)
    }

    @Test(arguments: [
        ("amqp://a", "a", 5672, false), ("amqps://a.b/", "a.b", 5671, true), ("amqps://a:1", "a", 1, true),
        ("amqp://[::1]:7", "::1", 7, false), ("amqp://[::1]", "::1", 5672, false),
    ])
    func nodes(uri: String, host: String, port: Int, isEncrypted: Bool) {
        let node = ClusterOrder.Node(uri)
        #expect(node?.host == host && node?.port == port && node?.isEncrypted == isEncrypted)
    }

    @Test(arguments: [
        "", "a", "mqtt://a", "amqp://", "amqp://a:0", "amqp://a:x", "amqp://a/b", "amqp:/a", "amqp://u@a",
    ])
    func badNodes(uri: String) { #expect(ClusterOrder.Node(uri) == nil) }
}
