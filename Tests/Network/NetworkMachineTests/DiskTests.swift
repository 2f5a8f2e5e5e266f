import Association
import Messages
import Settings
import TestSupport
import Testing

@testable import seismote_network

/// The journal of one broker.
@Suite struct DiskTests {
    private static func shaken(_ change: (inout NetworkOptions) -> Void = { _ in }) -> DiskBench {
        var world = DiskBench(change)
        world.introduce(Field.start)
        world.step(Field.start)
        for (time, topic, payload) in Field.onsets(Field.time(10), 0) {
            world.send(topic, payload, time)
            world.step(time)
        }
        return world
    }

    /// The database has the same rows as the tests believe, after deaths as well.
    @Test func theDatabaseHasTheseRows() throws {
        let folder = try TemporaryFolder()
        var world = DiskBench()
        world.store = try NetworkStore(folder: folder.path("db"))
        world.introduce(Field.start)
        world.step(Field.start)
        for (i, (time, topic, payload)) in Field.onsets(Field.time(10), 0).enumerated() {
            world.send(topic, payload, time)
            world.step(time, atMost: i % 5 == 4 ? i % 3 + 1 : .max)
            guard i % 5 == 4 else { continue }
            world.store = nil
            world.store = try NetworkStore(folder: folder.path("db"))
            world.die(time)
        }
        for second in 14..<40 { world.step(Field.time(Double(second))) }
        world.store = nil
        let (real, rows) = (try NetworkStore(folder: folder.path("db")).past(), world.rows.past)
        #expect(rows.versions.count >= 2 && rows.log.count >= 16 && rows.stations.count == 17)
        #expect(real.versions.map(\.version) == rows.versions.map(\.version))
        #expect(real.versions.map(\.isSent) == rows.versions.map(\.isSent) && !rows.versions.contains { !$0.isSent })
        #expect(real.log.map(\.payload) == rows.log.map(\.payload))
        #expect(real.log.map(\.arrival) == rows.log.map(\.arrival))
        #expect(real.stations.map(\.info) == rows.stations.map(\.info))
        #expect(real.marks.map(\.station) == rows.marks.map(\.station))
        #expect(real.marks.map(\.mark) == rows.marks.map(\.mark))
    }

    /// A version that the broker has not acknowledged: it tells by what it has whether it has had it.
    @Test(arguments: [false, true]) func whatTheBrokerHasIsPublishedOnce(hasIt: Bool) throws {
        var world = Self.shaken()
        world.step(Field.time(19))
        let before = world.log.versions.count
        world.answers = hasIt
        // Something new of the event: the end.
        for second in 20..<80 {
            world.step(Field.time(Double(second)), atMost: world.log.versions.count > before ? 0 : .max)
        }
        let said = world.log.versions.count
        #expect(said > before)
        world.answers = true
        world.loseConnection(Field.time(80))
        world.step(Field.time(80))
        #expect(world.log.versions.count == (hasIt ? said : 2 * said - before))
        #expect(!world.rows.past.versions.contains { !$0.isSent })
        world.loseConnection(Field.time(81))
        world.step(Field.time(81))
        #expect(world.log.versions.count == (hasIt ? said : 2 * said - before))
    }

    /// With the newest version that the broker retains it has had all before it.
    @Test func whatIsRetainedTellsOfAllBeforeIt() {
        var world = Self.shaken()
        world.step(Field.time(19))
        var past = world.rows.past
        for i in past.versions.indices { past.versions[i].isSent = false }
        #expect(past.versions.count >= 2)
        var machine = NetworkMachine<DiskJournal>(NetworkOptions(), AssociationOptions(), boot: "b", past: past)
        #expect(machine.takeEffects().isEmpty)
        machine.connected(clock: 0)
        let marker = machine.takeEffects().publications[0]
        #expect(marker.topic == "seismote/network/sync")
        let newest = past.versions[past.versions.count - 1].version
        let messages = [("seismote/network/event/last", newest.payload), (marker.topic, marker.payload)]
        machine.take(
            messages.map { NetworkMessage(name: $0, payload: $1, arrival: Field.time(20)) }, now: Field.time(20),
            clock: 1)
        let effects = machine.takeEffects()
        #expect(
            effects.operations == [.sent(eventID: newest.eventID, version: newest.version, andBefore: true)])
        #expect(effects.publications.map(\.topic) == ["seismote/network/event/last"])
        #expect(effects.publications.map(\.payload) == [newest.payload] && effects.publications[0].isRetained)
    }

    /// What is found out while it is not known what the broker has goes out with what waits, in order and once.
    @Test func whatIsFoundOutWhileLearningWaits() {
        var world = DiskBench()
        world.introduce(Field.start)
        world.step(Field.start)
        world.machine.disconnected()
        world.machine.connected(clock: 0)
        let marker = world.machine.takeEffects()
        for (time, topic, payload) in Field.onsets(Field.time(10), 0) {
            world.machine.take(
                [NetworkMessage(name: topic, payload: payload, arrival: time)], now: time, clock: 1)
            var left = Int.max
            world.perform(&left, time)
        }
        #expect(world.rows.past.versions.count >= 2 && world.log.versions.isEmpty && !world.machine.isActive)
        world.machine.take(
            marker.publications.map { NetworkMessage(name: $0.topic, payload: $0.payload, arrival: Field.time(15)) },
            now: Field.time(15), clock: 2)
        var left = Int.max
        world.perform(&left, Field.time(15))
        #expect(world.log.versions.map(\.version) == Array(1...world.rows.past.versions.count))
        #expect(world.machine.isActive && world.log.tooEarly == 0)
    }

    /// A broker that lets nobody write on `network/sync` holds nothing up for longer than five seconds.
    @Test func withoutTheMarkerLearningEnds() {
        var machine = NetworkMachine<DiskJournal>(NetworkOptions(), AssociationOptions(), boot: "b", past: .init())
        machine.connected(clock: 100)
        machine.take([], now: Field.start, clock: 104.9)
        #expect(!machine.isActive)
        machine.take([], now: Field.start, clock: 105)
        #expect(machine.isActive)
    }

    /// A broker that has lost what it retained is told again, with each connection.
    @Test func whatABrokerHasLostItIsToldAgain() {
        var world = Self.shaken { $0.homeAssistant = "homeassistant" }
        for second in 14..<80 { world.step(Field.time(Double(second))) }
        let (versions, last) = (world.log.versions.count, world.log.newest["seismote/network/event/last"])
        world.retained = [:]
        world.loseConnection(Field.time(80))
        world.step(Field.time(80))
        #expect(world.log.versions.count == versions)
        #expect(world.retained["seismote/network/event/last"] == last && last != nil)
        #expect(world.retained["seismote/network/status"] != nil)
        #expect(world.retained.keys.contains { $0.hasPrefix("homeassistant/") })
    }

    /// A defect: the late last will of another broker came over a bridge, and the detector was gone until its next status,
    /// which may be an hour. The same of the newest event; and two detectors of one root do not fight.
    @Test func whatOthersWriteOnItsRetainedTopicsIsCorrected() {
        var world = Self.shaken { $0.statusSeconds = 3600 }
        for second in 14..<80 { world.step(Field.time(Double(second))) }
        let (status, last) = ("seismote/network/status", "seismote/network/event/last")
        var now = 100.0
        for (topic, foreign) in [(status, "{\"online\":false}"), (status, ""), (last, "{}"), (last, "")] {
            let before = world.count(topic)
            let good = world.log.newest[topic]
            world.send(topic, Array(foreign.utf8), Field.time(now), isRetained: true)
            for second in [0.0, 1, 2, 20] { world.step(Field.time(now + second)) }
            now += 1000
            #expect(world.count(topic) == before + 1 && world.retained[topic] != nil, "\(topic) \(foreign)")
            if topic == last { #expect(world.retained[topic] == good) }
        }
        #expect(world.lines.count { $0.contains("overwritten") } == 4)
        let before = world.count(status)
        for second in 4200..<7600 {
            world.send(status, Array("{\"online\":false}".utf8), Field.time(Double(second)), isRetained: true)
            world.step(Field.time(Double(second)))
        }
        #expect((5...25).contains(world.count(status) - before), "\(world.count(status) - before)")
    }

    /// What else was to be published when the connection was lost goes out with the next one.
    @Test func whatCouldNotBeSentIsSentLater() {
        var world = Self.shaken { $0.confirms = true }
        world.machine.takeBack([
            .init(number: nil, topic: "seismote/s1/cmd/confirm-event", payload: [1], isRetained: false),
            .init(number: 7, topic: "seismote/network/event", payload: [2], isRetained: false),
        ])
        world.loseConnection(Field.time(20))
        let topics = world.machine.takeEffects().publications.map(\.topic)
        #expect(topics == ["seismote/s1/cmd/confirm-event", "seismote/network/sync"])
    }

    /// What the broker retains of an event has come already, nearly always; where it has not, it is news.
    @Test func whatIsRetainedIsTakenOnce() {
        var world = DiskBench()
        world.introduce(Field.start)
        world.step(Field.start)
        let (time, topic, payload) = Field.trigger("s0", Field.time(10), number: 0)
        world.send(topic, payload, time)
        world.step(time)
        for (number, count) in [(0, 1), (1, 2), (1, 2)] {
            let (time, _, payload) = Field.trigger("s0", Field.time(10), number: number)
            world.send("seismote/s0/event/last", payload, time)
            world.step(time)
            #expect(world.rows.past.log.count == count)
        }
    }

    /// The log keeps half an hour more than is needed.
    @Test func whatNobodyNeedsIsForgotten() {
        var world = Self.shaken()
        world.step(Field.time(60))
        #expect(world.rows.past.log.count == 16)
        for second in stride(from: 60.0, to: 1800, by: 60) { world.step(Field.time(second)) }
        #expect(world.rows.past.log.count == 16)
        for second in stride(from: 1800.0, to: 2400, by: 60) { world.step(Field.time(second)) }
        #expect(world.rows.past.log.isEmpty)
    }
}
