import Association
import Messages
import Testing
import Values

@testable import seismote_network

/// The journal of a cluster.
@Suite struct QueueTests {
    /// A place that the operator has entered is in force for each successor, however long ago it was entered, and is held
    /// once; forgotten, it is held no more.
    @Test func whatTheOperatorEnteredOutlivesADetector() {
        var world = QueueBench(limits: { $0.refreshSeconds = 100 })
        world.introduce(Field.start)
        world.step(Field.start)
        #expect(world.machine.stations == 17)
        let moved: Value = ["station": ["id": "s3", "latitude": 36.0, "longitude": -117.5]]
        let place: Value = ["latitude": 36.0, "longitude": -117.5]
        world.send("seismote/s3/state/info", moved.json(), Field.start)
        world.step(Field.start + 1_000_000_000)
        #expect(world.machine.stations == 16)
        world.send("seismote/network/place/s3", place.json(), Field.start)
        world.step(Field.start + 2_000_000_000)
        #expect(world.machine.stations == 17)
        let held = world.machine.journal.count
        var now = Field.start
        for run in 0..<5 {
            now += 60_000_000_000
            world.step(now)
            world.die()
            world.step(now)
            // The first successor finds its former place in the queue, and asks for the present one.
            #expect(world.machine.stations == (run == 0 ? 16 : 17))
            #expect(world.log.topics["seismote/s3/cmd/rebirth"] == 1)
            world.send("seismote/s3/state/info", moved.json(), now)
            world.step(now)
            #expect(world.machine.stations == 17 && world.machine.journal.count == held)
        }
        #expect(world.log.topics["seismote/network/place/s3", default: 0] > 1)
        world.send("seismote/network/place/s3", [], now)
        world.step(now)
        #expect(world.machine.stations == 17 && world.machine.journal.count == held - 1)
        #expect(world.wrongTags == 0)
    }

    /// Whenever a detector dies, also between writing a version down and publishing it, the next one goes on: every
    /// version once, none left out, one event for each earthquake.
    @Test(arguments: 0...2) func aSuccessorGoesOn(seed: Int) {
        var world = QueueBench()
        world.introduce(Field.start)
        world.step(Field.start)
        var steps = 0
        for number in 0..<3 {
            let origin = Field.start + Int64(10 + 90 * number) * 1_000_000_000
            for (time, topic, payload) in Field.onsets(origin, number) {
                world.send(topic, payload, time)
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
        let events = Dictionary(grouping: world.log.versions, by: \.id)
        #expect(events.count == 3)
        for (id, versions) in events { #expect(versions.map(\.version) == Array(1...versions.count), "\(id)") }
        #expect(world.log.tooEarly == 0)
        #expect(world.wrongTags == 0)
        #expect(seed == 0 || world.runs > 10)
    }

    @Test func whatNobodyNeedsIsAcknowledged() {
        var world = QueueBench(limits: { $0.margin = 60 })
        world.introduce(Field.start)
        world.step(Field.start)
        let origin = Field.start + 10_000_000_000
        for (time, topic, payload) in Field.onsets(origin, 0) {
            world.send(topic, payload, time)
            world.step(time)
        }
        // The stations, the onsets, the last version, written down and seen.
        world.step(origin + 20_000_000_000)
        #expect(world.queue.unacknowledged >= 17 + 16 + 2)
        for second in 21..<700 { world.step(origin + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged == 17)
        #expect(world.log.versions.count >= 2)
    }

    /// What is known of a station is written down again before it is old, and is known to the next one.
    @Test func stationsAreWrittenDownAgain() {
        var world = QueueBench(limits: { $0.refreshSeconds = 100 })
        world.introduce(Field.start)
        for second in 0..<1000 { world.step(Field.start + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged == 17)
        world.die()
        world.step(Field.start + 1_001_000_000_000)
        #expect(world.machine.stations == 17)
        #expect(world.machine.journal.held.stations.values.allSatisfy { $0.arrival > Field.start + 800_000_000_000 })
        #expect(world.wrongTags == 0)
    }

    /// A defect: when what is known of a station was written down again, one that had moved took part again at its old place.
    @Test func whoHasMovedStaysOutWhenItIsWrittenDownAgain() {
        var world = QueueBench(limits: { $0.refreshSeconds = 100 })
        world.introduce(Field.start)
        world.step(Field.start)
        world.send("seismote/s3/state/info", Field.info("s3", 36, -117.5), Field.time(10))
        for second in 10..<400 {
            world.step(Field.time(Double(second)))
            if world.machine.stations != 16 { break }
        }
        #expect(world.machine.stations == 16)
        #expect(world.queue.unacknowledged == 17 && world.wrongTags == 0)
    }

    /// Nothing is retained on a cluster: Home Assistant is told of its sensors whenever it comes up, and of their values
    /// once it has subscribed to them.
    @Test func homeAssistantIsToldWhenItComesUp() {
        var world = QueueBench {
            ($0.homeAssistant, $0.confirms) = ("homeassistant", true)
            $0.statusSeconds = 3600
        }
        func sensors() -> Int {
            world.log.topics.filter { $0.key.hasPrefix("homeassistant/") }.map(\.value).reduce(0, +)
        }
        world.introduce(Field.start)
        world.step(Field.start)
        // The network's two, and one of each station.
        #expect(sensors() == 19)
        for (time, topic, payload) in Field.onsets(Field.start + 10_000_000_000, 0) {
            world.send(topic, payload, time)
            world.step(time)
        }
        for second in 20..<200 { world.step(Field.start + Int64(second) * 1_000_000_000) }
        let last = world.log.topics["seismote/network/event/last", default: 0]
        let status = world.log.topics["seismote/network/status", default: 0]
        #expect(sensors() == 19 && last >= 2)
        for (words, count, at) in [("offline", 19, 300), ("online", 38, 400)] {
            let now = Field.start + Int64(at) * 1_000_000_000
            world.send("homeassistant/status", Array(words.utf8), now)
            for second in 0..<10 { world.step(now + Int64(second) * 1_000_000_000) }
            #expect(sensors() == count, "\(words)")
        }
        #expect(world.log.topics["seismote/network/event/last"] == last + 1)
        #expect(world.log.topics["seismote/network/status"] == status + 1)
        // A successor knows the last event, and says it at once, and to a Home Assistant that has subscribed.
        world.die()
        for second in 500..<520 { world.step(Field.start + Int64(second) * 1_000_000_000) }
        #expect(sensors() == 57)
        #expect(world.log.topics["seismote/network/event/last"] == last + 3)
        #expect(world.wrongTags == 0)
    }

    /// The marker of one that stands by comes to the one at work.
    @Test func anotherOnesMarkerChangesNothing() {
        var world = QueueBench()
        world.introduce(Field.start)
        world.step(Field.start)
        world.queue.put(.marker, "another", [], Field.start)
        world.step(Field.start + 1_000_000_000)
        #expect(world.queue.unacknowledged == 17)
        #expect(world.machine.stations == 17)
    }

    @Test func moreThanTheBrokerGivesIsNeverHeld() {
        var world = QueueBench(limits: { $0.most = 20 })
        world.introduce(Field.start)
        world.step(Field.start)
        for (time, topic, payload) in Field.onsets(Field.start + 10_000_000_000, 0) {
            world.send(topic, payload, time)
            world.step(time)
        }
        for second in 20..<30 { world.step(Field.start + Int64(second) * 1_000_000_000) }
        #expect(world.queue.unacknowledged <= 22)
    }
}
