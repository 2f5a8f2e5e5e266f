import Association
import Messages
import Settings
import Testing
import Values

@testable import seismote_network

enum JournalKind: CaseIterable { case disk, queue }

/// What is the same with both journals.
@Suite struct NetworkMachineTests {
    private static func bench(_ kind: JournalKind, _ change: (inout NetworkOptions) -> Void = { _ in }) -> any Bench {
        switch kind {
        case .disk: DiskBench(change)
        case .queue: QueueBench(change)
        }
    }

    /// What happens, by time: an earthquake, and the silence after it.
    private static func days(onsets: Int = Field.stations) -> [(time: Int64, topic: String, payload: [UInt8])] {
        Field.onsets(Field.time(10), 0).prefix(onsets)
            + stride(from: 16.0, to: 90, by: 8).map { (Field.time($0), "", []) }
    }

    private static func live(_ world: inout some Bench, _ day: (time: Int64, topic: String, payload: [UInt8])) {
        if !day.topic.isEmpty { world.send(day.topic, day.payload, day.time, isRetained: false) }
    }

    private static func earthquake(_ world: inout some Bench, onsets: Int = Field.stations) {
        world.introduce(Field.start)
        world.step(Field.start)
        for day in days(onsets: onsets) {
            live(&world, day)
            world.step(day.time)
        }
    }

    /// Dies once, after whatever single thing that was done: between writing a version down and publishing it, and between that
    /// and the answer of the broker. Each version is published once, in order, and not before it is written down; the last
    /// one says the same.
    @Test(arguments: JournalKind.allCases) func whereverItDiesASuccessorGoesOn(kind: JournalKind) {
        func check(_ first: some Bench) {
            let days = Self.days(onsets: 9)
            var whole = first
            Self.earthquake(&whole, onsets: 9)
            let all = whole.log.versions
            #expect(all.count >= 3 && whole.log.tooEarly == 0 && Set(all.map(\.id)).count == 1)
            var (alive, cuts) = (first, 0)
            alive.introduce(Field.start)
            alive.step(Field.start)
            for (i, day) in days.enumerated() {
                Self.live(&alive, day)
                var next = alive
                next.step(day.time)
                // (Where no version is said, one cut is as good as any.)
                let isNews = next.log.versions.count > alive.log.versions.count
                for cut in 0..<(isNews ? next.log.done - alive.log.done : 1) {
                    cuts += 1
                    var world = alive
                    world.step(day.time, atMost: cut)
                    world.die(day.time)
                    world.step(day.time)
                    for later in days[(i + 1)...] {
                        Self.live(&world, later)
                        world.step(later.time)
                    }
                    let said = world.log.versions
                    #expect(said.map(\.version) == Array(1...max(1, said.count)), "\(i), \(cut)")
                    #expect(said.last?.id == all.last?.id && said.last?.content == all.last?.content, "\(i), \(cut)")
                    #expect(world.log.tooEarly == 0, "\(i), \(cut)")
                }
                alive = next
            }
            #expect(cuts > 30)
        }
        check(Self.bench(kind))
    }

    /// The same input gives the same versions with both journals.
    @Test(arguments: [false, true]) func bothJournalsSayTheSame(isSettled: Bool) {
        var disk = DiskBench { $0.isSettled = isSettled }
        var queue = QueueBench { $0.isSettled = isSettled }
        Self.earthquake(&disk)
        Self.earthquake(&queue)
        let (said, others) = (disk.log.versions, queue.log.versions)
        #expect(said.count == others.count && said.count >= 2)
        for (one, other) in zip(said, others) {
            #expect(one.id == other.id && one.version == other.version && one.content == other.content)
        }
    }

    /// All versions of a run are numbered one after the other.
    @Test(arguments: JournalKind.allCases) func versionsAreNumbered(kind: JournalKind) throws {
        func check(_ world: some Bench) throws {
            var world = world
            Self.earthquake(&world)
            let tree = try JSONReader.read(try #require(world.log.newest["seismote/network/event"]))
            #expect(tree["seq"]?.whole == world.log.versions.count - 1 && tree["boot"] != nil)
            #expect(world.log.newest["seismote/network/event/last"] == world.log.newest["seismote/network/event"])
            let status = try JSONReader.read(try #require(world.log.newest["seismote/network/status"]))
            #expect(status["published"]?.whole == world.log.versions.count && status["stations"] == 17)
            #expect(status["seq"]?.whole == world.count("seismote/network/status") - 1)
        }
        try check(Self.bench(kind))
    }

    /// Stations are told once that others have seen their event, and whoever looks as often as a version says so.
    @Test(arguments: JournalKind.allCases) func stationsAreToldOnce(kind: JournalKind) {
        func check(_ world: some Bench) {
            var world = world
            Self.earthquake(&world)
            for i in 0..<Field.stations {
                #expect(world.count("seismote/s\(i)/cmd/confirm-event") == 1)
                #expect(world.count("seismote/network/confirmed/s\(i)") >= 1)
            }
            #expect(world.count("seismote/far/cmd/confirm-event") == 0)
        }
        check(Self.bench(kind) { $0.confirms = true })
    }

    /// A station that has started again sends what its former run has left: that opens no gap, for a successor neither. What
    /// is missing of the present run is asked for.
    @Test(arguments: JournalKind.allCases) func whatAFormerRunHasLeftOpensNoGap(kind: JournalKind) {
        func check(_ world: some Bench) throws {
            var world = world
            world.introduce(Field.start)
            world.step(Field.start)
            func send(_ seconds: Double, _ made: Double, _ boot: String, _ number: Int, history: Bool = false) {
                var (_, topic, payload) = Field.trigger("s0", Field.time(made), boot: boot, number: number)
                if history { topic = "seismote/s0/data/history/event/trigger" }
                world.send(topic, payload, Field.time(seconds), isRetained: false)
                world.step(Field.time(seconds))
            }
            send(10, 10, "new", 0)
            send(20, 2, "old", 57, history: true)
            send(21, 5, "old", 58, history: true)
            for second in 22..<30 { world.step(Field.time(Double(second))) }
            world.die(Field.time(30))
            for second in 30..<40 { world.step(Field.time(Double(second))) }
            send(41, 7, "old", 59, history: true)
            for second in 42..<45 { world.step(Field.time(Double(second))) }
            #expect(world.count("seismote/s0/cmd/resend") == 0)
            send(50, 50, "new", 3)
            world.step(Field.time(52))
            #expect(world.count("seismote/s0/cmd/resend") == 1)
            let request = try JSONReader.read(try #require(world.log.newest["seismote/s0/cmd/resend"]))
            #expect(request["boot"] == "new" && request["from_seq"] == 1 && request["to_seq"] == 2)
        }
        #expect(throws: Never.self) { try check(Self.bench(kind)) }
    }

    /// A station without a place is asked for it, once a minute.
    @Test(arguments: JournalKind.allCases) func whoHasNoPlaceIsAsked(kind: JournalKind) {
        func check(_ world: some Bench) {
            var world = world
            world.introduce(Field.start)
            world.step(Field.start)
            for second in [10.0, 20, 69, 71] {
                let (time, topic, payload) = Field.trigger("new", Field.time(second), number: Int(second))
                world.send(topic, payload, time, isRetained: false)
                world.step(time)
                #expect(world.count("seismote/new/cmd/rebirth") == (second < 71 ? 1 : 2), "\(second)")
            }
            #expect(world.count("seismote/group/all/cmd/rebirth") == 0)
        }
        check(Self.bench(kind))
    }

    /// Where nobody is known, all are asked who they are.
    @Test(arguments: JournalKind.allCases) func whereNobodyIsKnownAllAreAsked(kind: JournalKind) {
        func check(_ world: some Bench) {
            var world = world
            world.step(Field.start)
            #expect(world.count("seismote/group/all/cmd/rebirth") == 1)
            #expect(world.count("seismote/network/status") == 1)
        }
        check(Self.bench(kind))
    }

    /// A station that states another place takes no part, is told of once, and in the next status; until the operator has
    /// entered that place, which is in force for each successor.
    @Test(arguments: JournalKind.allCases) func aPlaceThatWasEnteredOutlivesADetector(kind: JournalKind) {
        func check(_ world: some Bench) {
            var world = world
            let moved = Field.info("s3", 36, -117.5)
            func step(_ seconds: Double) { for i in 0..<3 { world.step(Field.time(seconds + Double(i))) } }
            world.introduce(Field.start)
            step(0)
            let words = world.count("seismote/network/status")
            for second in [10.0, 20] {
                world.send("seismote/s3/state/info", moved, Field.time(second), isRetained: true)
                step(second)
                #expect(world.stations == 16 && world.lines.count == 1)
            }
            #expect(world.lines.first?.hasPrefix("s3 states another place than it is known at") == true)
            #expect(world.count("seismote/network/status") == words + 1)
            world.send(
                "seismote/network/place/s3", Array(#"{"latitude":36.0,"longitude":-117.5}"#.utf8), Field.time(30),
                isRetained: true)
            step(30)
            #expect(world.stations == 17)
            for run in 0..<3 {
                let now = 40 + 20 * Double(run)
                world.die(Field.time(now))
                step(now)
                // On a cluster it may have to be asked for its present place.
                if world.stations == 16 {
                    #expect(world.count("seismote/s3/cmd/rebirth") == 1)
                    world.send("seismote/s3/state/info", moved, Field.time(now + 10), isRetained: true)
                    step(now + 10)
                }
                #expect(world.stations == 17)
            }
            let said = world.lines.count
            world.send("seismote/network/place/s3", Array("{}".utf8), Field.time(200), isRetained: true)
            step(200)
            #expect(world.lines.dropFirst(said) == ["network/place/s3 is refused: place"] && world.stations == 17)
        }
        check(Self.bench(kind))
    }

    /// Nothing is said of what the one before has had.
    @Test(arguments: JournalKind.allCases) func nothingIsSaidOfThePast(kind: JournalKind) {
        func check(_ world: some Bench) {
            var world = world
            Self.earthquake(&world)
            let (before, lines) = (world.log, world.lines)
            world.die(Field.time(95))
            world.step(Field.time(95))
            #expect(world.log.versions.count == before.versions.count && world.lines == lines)
            for (topic, count) in world.log.topics where count != before.topics[topic] {
                #expect(
                    ["seismote/network/sync", "seismote/network/status", "seismote/network/event/last"].contains(topic))
            }
            // Where the broker has lost what it retained, it is told again.
            #expect(
                world.log.newest["seismote/network/event/last"] == before.newest["seismote/network/event/last"])
        }
        check(Self.bench(kind) { $0.confirms = true })
    }

    /// The last word says that it is away; a detector on a cluster that stands by has no word.
    @Test func goodbye() throws {
        var disk = NetworkMachine<DiskJournal>(NetworkOptions(), AssociationOptions(), boot: "b", past: .init())
        disk.sayGoodbye(now: Field.start)
        let effects = disk.takeEffects()
        #expect(effects.publications.map(\.topic) == ["seismote/network/status"])
        let status = try JSONReader.read(try #require(effects.publications.first?.payload))
        #expect(status["online"] == false && effects.publications.first?.isRetained == true)
        var queue = NetworkMachine<QueueJournal>(NetworkOptions(), AssociationOptions(), boot: "b")
        queue.sayGoodbye(now: Field.start)
        #expect(queue.takeEffects().isEmpty)
    }

    /// The journal may answer in another order than it was asked.
    @Test func versionsArePublishedInTheirOrder() {
        var machine = NetworkMachine<QueueJournal>(NetworkOptions(), AssociationOptions(), boot: "b")
        machine.connected(clock: 0)
        machine.take([NetworkMessage(token: 1, kind: .marker, name: "b", payload: [], arrival: 0)], now: 0, clock: 0)
        var token: UInt64 = 1
        func deliver(_ topic: String, _ payload: [UInt8], _ time: Int64) {
            token += 1
            machine.take(
                [NetworkMessage(token: token, name: topic, payload: payload, arrival: time)], now: time,
                clock: Field.clock(time))
        }
        for (topic, payload) in Field.infos { deliver(topic, payload, Field.start) }
        for (time, topic, payload) in Field.onsets(Field.time(10), 0) { deliver(topic, payload, time) }
        let numbers = machine.takeEffects().operations.compactMap { operation -> Int? in
            if case .keep(let number?, .version, _, _) = operation { number } else { nil }
        }
        #expect(numbers.count >= 2)
        func said() -> [Int] {
            machine.takeEffects().publications.compactMap { one in
                one.topic == "seismote/network/event"
                    ? (try? JSONReader.read(one.payload))?["version"]?.whole : nil
            }
        }
        for number in numbers.dropFirst().reversed() { machine.confirmed(number) }
        #expect(said() == [])
        machine.confirmed(numbers[0])
        #expect(said() == Array(1...numbers.count))
    }

    /// What is no JSON is counted as any other message that is not used. An empty one takes a retained one away.
    @Test func whatIsNoJSONIsCounted() {
        var machine = NetworkMachine<QueueJournal>(NetworkOptions(), AssociationOptions(), boot: "b")
        machine.connected(clock: 0)
        machine.take([NetworkMessage(token: 1, kind: .marker, name: "b", payload: [], arrival: 0)], now: 0, clock: 0)
        func deliver(_ rest: String, _ text: String) {
            let message = NetworkMessage(
                token: 2, name: "seismote/a/\(rest)", payload: Array(text.utf8), arrival: Field.start)
            machine.take([message], now: Field.start, clock: 1)
        }
        for rest in ["event/trigger", "data/history/event/trigger", "state/info"] { deliver(rest, "{\"event_id\":") }
        #expect(machine.detector.refused == [.syntax: 3])
        for rest in ["event/current", "event/last", "state/info"] { deliver(rest, "") }
        #expect(machine.detector.refused == [.syntax: 3])
    }
}
