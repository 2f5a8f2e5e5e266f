import DatabaseFiles
import Foundation
import Messages
import MiniSEED
import Platform
import Settings
import TestSupport
import Testing
import Values

@testable import Feed

/// A hub over a ring in a folder of its own, driven by messages and a clock of the test.
final class Bench {
    static let start: Int64 = 1_767_608_430_000_000_000
    let folder: TemporaryFolder
    let shared = SharedState()
    let wishes: FetchWishes
    var settings: FeedSettings
    private(set) var hub: Hub
    private(set) var now = Moment(monotonic: 1000, utc: start)
    private let log = Log()

    final class Log {
        var lines: [String] = []
        var sent: [(topic: String, payload: Value)] = []
    }

    init(_ change: (inout FeedSettings) -> Void = { _ in }) throws {
        folder = try TemporaryFolder()
        var settings = FeedSettings()
        settings.folder = folder.path("ring")
        change(&settings)
        self.settings = settings
        wishes = FetchWishes(wake: try .init())
        hub = try Self.hub(settings, shared, wishes, now, log)
    }

    private static func hub(
        _ settings: FeedSettings, _ shared: SharedState, _ wishes: FetchWishes, _ now: Moment, _ log: Log
    ) throws -> Hub {
        try Hub(
            settings,
            ring: try Ring(folder: settings.folder, writes: true, bytes: settings.megabytes * 1_000_000),
            shared: shared, wishes: wishes, run: "t",
            at: now,
            .init(
                send: { log.sent.append(($0, (try? JSONReader.read($1)) ?? .null)) }, say: { log.lines.append($0) }))
    }

    var lines: [String] { log.lines }
    var sent: [(topic: String, payload: Value)] { log.sent }
    func reader() throws -> Ring { try Ring(folder: settings.folder, writes: false) }
    var contents: SharedState.Contents { shared.read { copy $0 } }
    func refused(_ reason: FeedRefusal) -> Int { contents.counts.refused[reason] ?? 0 }

    /// The feed is ended, without a word, and started again.
    func restart() throws { hub = try Self.hub(settings, shared, wishes, now, log) }

    func pass(_ seconds: Double) {
        now.monotonic += seconds
        now.utc += Int64(seconds * 1e9)
    }

    @discardableResult
    func take(_ messages: [InboundMessage], after seconds: Double = 0.2) throws -> Bool {
        pass(seconds)
        var taken = FairInbox.Taken()
        taken.messages = messages
        return try hub.round(taken, at: now, isConnected: true)
    }

    // MARK: What stations say

    static func message(_ topic: String, _ payload: Value) -> InboundMessage {
        InboundMessage(topic: "seismote/\(topic)", payload: payload.json())
    }

    static func info(_ id: String, _ more: [(String, Value)] = [], rate: Double = 100) -> InboundMessage {
        var station: Value = [
            "id": .string(id), "network": "XX", "code": .string(id.uppercased()), "location": "00", "latitude": 35.0,
            "longitude": 10.0,
        ]
        for (key, value) in more { station = station.with(key, value) }
        return message(
            "\(id)/state/info", ["station": station, "sensor": ["driver": "simulate", "rate_hz": .double(rate)]])
    }

    static func config(_ id: String) -> InboundMessage { message("\(id)/state/config", ["config": [:]]) }

    /// A second of the z axis at 100 Hz, `second` after the beginning; its samples are numbered.
    static func trace(_ id: String, _ second: Int, offset: Int64 = 0, count: Int = 100) -> InboundMessage {
        let time = Timestamp(nanoseconds: start + Int64(second) * 1_000_000_000 + offset)
        let samples = (0..<count).map { (i: Int) -> Value in
            let number = (second * 100 + i) * 7919 % 5000
            return .double(Double(number) * 1e-6)
        }
        return message(
            "\(id)/data/trace",
            ["t": .string(time.description), "rate_hz": 100, "z": ["raw": .array(samples)]])
    }

    static func event(_ id: String, _ name: String, at time: Int64, _ more: [(String, Value)] = []) -> InboundMessage {
        var value: Value = [
            "event_type": "end", "event_id": .string(name),
            "onset": .string(Timestamp(nanoseconds: time).description), "pga": 0.5,
        ]
        for (key, one) in more { value = value.with(key, one) }
        return message("\(id)/event/trigger", value)
    }

    static func network(_ name: String, at time: Int64, version: Int = 1, _ more: [(String, Value)] = [])
        -> InboundMessage
    {
        var value: Value = [
            "event_id": .string(name), "version": .int(Int64(version)),
            "origin_time": .string(Timestamp(nanoseconds: time).description), "latitude": 35.0, "longitude": 10.0,
            "depth_km": 8.5, "magnitude": ["value": 4.5],
        ]
        for (key, one) in more { value = value.with(key, one) }
        return message("network/event", value)
    }

    func ask(_ path: String) throws -> WebAnswer { try turns(WebRequest(.get, path)).answer }

    /// An answer, and in how many turns it was put together.
    func turns(_ request: WebRequest) throws -> (answer: WebAnswer, turns: Int) {
        let services = WebServices(settings, shared, server: ServerCounts(), now: now)
        switch services.read(request) {
        case .answered(let answer): return (answer, 1)
        case .query(let question):
            let ring = try reader()
            var (answer, turns) = (services.answer(question, ring), 1)
            while answer.body.isEmpty, var more = answer.more {
                turns += 1
                guard let body = more.next(ring) else { return (WebAnswer(answer.nothing, ""), turns) }
                (answer.body, answer.more) = (body, more.isOver && !body.isEmpty ? nil : more)
            }
            return (answer, turns)
        }
    }

    func isLong(_ path: String) -> Bool? {
        let services = WebServices(settings, shared, server: ServerCounts(), now: now)
        guard case .query(let question) = services.read(WebRequest(.get, path)) else { return nil }
        return services.isLong(question)
    }

    func text(_ path: String) throws -> String { String(decoding: try ask(path).body, as: UTF8.self) }

    /// Times of all samples of the only channel of a station in the ring, by a dataselect.
    func sampleTimes(_ query: String) throws -> [Int64] {
        var answer = try ask("/fdsnws/dataselect/1/query?\(query)")
        var bytes = answer.body
        while let piece = answer.more?.next(try reader()) { bytes += piece }
        var reader = MiniSEEDReader(bytes)
        var times: [Int64] = []
        while let record = try? reader.next() {
            guard case .integers(let samples) = record.samples else { continue }
            let timeline = SampleTimeline(start: record.header.start, rate: 100)
            times += samples.indices.map { timeline.time(of: $0) }
        }
        return times
    }
}

private func time(_ second: Double) -> Int64 { Bench.start + Int64(second * 1e9) }

/// Of a sample at 100 Hz.
private func sample(_ index: Int) -> Int64 { Bench.start + Int64(index) * 10_000_000 }

private func stamp(_ second: Double) -> String {
    String(Timestamp(nanoseconds: time(second)).description.dropLast(4))
}

struct HubTests {
    @Test func everySampleIsInTheRingOnceAndInOrderWhateverTheOrderAndRestarts() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in [0, 1, 1, 3, 2, 4, 5, 3, 6, 7, 8, 9] {
            try bench.take([Bench.trace("base", second)], after: 1)
            if second == 4 { try bench.restart() }
        }
        let times = try bench.sampleTimes("sta=BASE")
        // (What is in no full record waits.)
        #expect(times.count >= 800 && times == (0..<times.count).map(sample))
        let station = try #require(bench.contents.stations.first)
        #expect(station.identifier == "XX_BASE" && station.streams.map(\.channel) == ["HNZ"])
        let packets = try bench.reader().packets(bench.contents.numbers[0], from: 1, most: 100)
        #expect(packets.map(\.sequence) == Array(1...station.last))
    }

    @Test func aTimeThatIsAskedForIsCutToTheSampleAndNotReversed() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in 0..<20 { try bench.take([Bench.trace("base", second)], after: 1) }
        let times = try bench.sampleTimes("sta=BASE&start=\(stamp(2.005))&end=\(stamp(5.004))")
        #expect(times == (201...500).map(sample))
        #expect(try bench.sampleTimes("sta=BASE&start=\(stamp(5))&end=\(stamp(2))").isEmpty)
        #expect(try bench.sampleTimes("sta=BASE&start=\(stamp(100))&end=\(stamp(200))").isEmpty)
        #expect(try bench.sampleTimes("sta=ROOF").isEmpty)
    }

    @Test func whatIsMissingIsAskedForThenDeclared() throws {
        let bench = try Bench { $0.patience = 10 }
        try bench.take([Bench.info("base"), Bench.config("base")])
        try bench.take([Bench.trace("base", 0), Bench.trace("base", 3)], after: 4)
        let order = try #require(bench.sent.last)
        #expect(order.topic == "seismote/base/cmd/snapshot" && order.payload["id"] == "feed-t-1")
        #expect(order.payload["from"]?.rawText.flatMap { Timestamp($0) }?.nanoseconds == time(0.9))
        #expect(order.payload["to"]?.rawText.flatMap { Timestamp($0) }?.nanoseconds == time(3.1))
        try bench.take([], after: 9)
        #expect(bench.contents.counts.missing == 0)
        try bench.take([], after: 2)
        #expect(bench.contents.counts.missing == 200)
        let hole = try #require(try bench.reader().holes(1, until: .max, most: 9).first)
        #expect(hole == time(1)...time(3))
        #expect(bench.lines.last?.contains("XX_BASE HNZ: 200 samples are missing") == true)
    }

    @Test func tracesWaitForTheNamesOfTheirChannels() throws {
        let bench = try Bench()
        try bench.take([Bench.trace("base", 0)])
        try bench.take([Bench.trace("base", 1)], after: 1)
        #expect(bench.sent.map(\.topic) == ["seismote/base/cmd/rebirth"] && bench.contents.stations.isEmpty)
        try bench.take([Bench.info("base")], after: 1)
        // Its settings are waited for, five seconds at most.
        try bench.take([Bench.trace("base", 2)], after: 1)
        #expect(bench.contents.stations.isEmpty)
        for second in 3..<12 { try bench.take([Bench.trace("base", second)], after: 1) }
        #expect(bench.contents.stations.map(\.identifier) == ["XX_BASE"])
        let times = try bench.sampleTimes("sta=BASE")
        #expect(times.first == time(0))
    }

    @Test func segmentsByTheirLength() throws {
        let bench = try Bench { $0.patience = 2 }
        try bench.take([Bench.info("base"), Bench.config("base")])
        // 20 s, a hole of 5 s, 40 s.
        for second in Array(0..<20) + Array(25..<65) { try bench.take([Bench.trace("base", second)], after: 1) }
        func bounds(_ more: String) throws -> [Int64?] {
            let times = try bench.sampleTimes("sta=BASE&end=\(stamp(60))&\(more)")
            return [times.first, times.last]
        }
        #expect(try bounds("") == [sample(0), sample(6000)])
        #expect(try bounds("minimumlength=25") == [sample(2500), sample(6000)])
        #expect(try bounds("minimumlength=10&longestonly=true") == [sample(2500), sample(6000)])
        #expect(try bounds("minimumlength=10&end=\(stamp(30))") == [sample(0), sample(1999)])
        #expect(try bounds("minimumlength=99") == [nil, nil])
        #expect(try bench.ask("/fdsnws/dataselect/1/query?minimumlength=-1").status == 400)
        #expect(try bench.ask("/fdsnws/dataselect/1/query?longestonly=maybe").status == 400)
    }

    /// The last interval of vibration is among the metrics until two more should have come.
    @Test func metricsTellOfVibration() throws {
        let bench = try Bench()
        #expect(bench.settings.subscriptions.contains("seismote/+/data/vibration"))
        func axis(_ ppv: Double, frequency: Value) -> Value {
            [
                "ppv": .double(ppv), "frequency_hz": frequency, "rms": 0.5, "kb_fmax": 0.25, "vdv_period": 0.125,
                "below_floor": false,
            ]
        }
        let interval: Value = [
            "interval_s": 60, "x": axis(3.5, frequency: 12.5), "y": axis(2, frequency: .null),
            "z": axis(1, frequency: 8), "limit": ["share": 0.75],
        ]
        func lines() throws -> [String] {
            try bench.text("/metrics").split(separator: "\n").filter { $0.hasPrefix("seismote_vibration_") }
                .map(String.init)
        }
        #expect(try lines() == [])
        try bench.take([Bench.message("base/data/vibration", interval)])
        var wanted: [String] = []
        func add(_ name: String, _ values: (axis: String, value: String)...) {
            for (axis, value) in values {
                wanted.append("seismote_vibration_\(name){station=\"base\",axis=\"\(axis)\"} \(value)")
            }
        }
        add("peak_velocity_meters_per_second", ("x", "0.0035"), ("y", "0.002"), ("z", "0.001"))
        add("frequency_hertz", ("x", "12.5"), ("z", "8"))
        add("velocity_rms_meters_per_second", ("x", "0.0005"), ("y", "0.0005"), ("z", "0.0005"))
        add("kb_fmax", ("x", "0.25"), ("y", "0.25"), ("z", "0.25"))
        add("dose", ("x", "0.125"), ("y", "0.125"), ("z", "0.125"))
        add("below_floor", ("x", "0"), ("y", "0"), ("z", "0"))
        wanted.append("seismote_vibration_limit_ratio{station=\"base\"} 0.75")
        #expect(try lines() == wanted)
        bench.pass(149)
        #expect(try !lines().isEmpty)
        bench.pass(2)
        #expect(try lines() == [])
    }

    // MARK: Lies

    @Test(arguments: [
        ("latitude", Value.double(1e308)), ("latitude", 91), ("longitude", -181), ("elevation_m", 1e9),
        ("latitude", "north"),
    ])
    func aPlaceThatIsNoneHarmsNobody(_ key: String, _ value: Value) throws {
        let bench = try Bench()
        let good = [Bench.info("base"), Bench.config("base"), Bench.config("liar")]
        try bench.take(good + [Bench.info("liar", [(key, value)])])
        for second in 0..<10 { try bench.take([Bench.trace("base", second), Bench.trace("liar", second)], after: 1) }
        #expect(bench.contents.stations.map(\.code) == ["BASE"])
        #expect(bench.refused(.place) == 1)
        #expect(bench.lines.contains { $0.contains("station liar: station.\(key) of state/info is") })
        let xml = try bench.text("/fdsnws/station/1/query?level=response")
        #expect(xml.contains("<Latitude>35.0</Latitude>") && !xml.contains("e+"))
        #expect(try bench.text("/metrics").contains("seismote_feed_refused_total{reason=\"place\"} 1\n"))
        // With a place that is one it is served.
        try bench.take([Bench.info("liar")])
        for second in 10..<20 { try bench.take([Bench.trace("liar", second)], after: 1) }
        #expect(bench.contents.stations.count == 2)
    }

    @Test func codesThatHaveNoRoomAreSaidAndCounted() throws {
        let bench = try Bench { $0.codes = ["named": StationCodes("YY.GOOD.10")!] }
        for (id, code) in [("long", "ABCDEFGH"), ("named", "ABCDEFGH")] {
            try bench.take([Bench.info(id, [("code", .string(code))]), Bench.config(id)])
            for second in 0..<10 { try bench.take([Bench.trace(id, second)]) }
        }
        #expect(bench.contents.stations.map(\.identifier) == ["YY_GOOD"])
        #expect(bench.refused(.codes) >= 1)
        let words = "station long: is not served: its codes are \"XX\".\"ABCDEFGH\".\"00\""
        let said = bench.lines.filter { $0.contains(words) }
        #expect(said.count == 1 && said[0].contains("feed.codes"))
    }

    @Test func twoStationsOfOneCodeAreNotMixed() throws {
        let bench = try Bench()
        try bench.take([
            Bench.info("base"), Bench.config("base"), Bench.info("b", [("code", "BASE")]), Bench.config("b"),
        ])
        for second in 0..<10 {
            try bench.take([Bench.trace("base", second), Bench.trace("b", second, offset: 500_000_000)])
        }
        #expect(try bench.sampleTimes("sta=BASE").allSatisfy { ($0 - Bench.start) % 1_000_000_000 % 10_000_000 == 0 })
        #expect(bench.contents.stations.count == 1 && bench.refused(.codes) > 0)
    }

    @Test func aFastClockDoesNotMuteTheStationWhenItIsRightAgain() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in 0..<5 { try bench.take([Bench.trace("base", second)], after: 1) }
        // Fifty minutes fast, for five seconds.
        for second in 5..<10 { try bench.take([Bench.trace("base", second + 3000)], after: 1) }
        #expect(bench.refused(.future) == 5)
        #expect(bench.lines.filter { $0.contains("feed.ahead_s") }.count == 1)
        for second in 10..<40 { try bench.take([Bench.trace("base", second)], after: 1) }
        let times = try bench.sampleTimes("sta=BASE")
        #expect(times.last.map { $0 > time(30) } == true)
        #expect(bench.contents.counts.missing == 500)
    }

    @Test func aTimeAheadByLessThanAllowedIsTaken() throws {
        let bench = try Bench { $0.aheadSeconds = 60 }
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in 0..<10 { try bench.take([Bench.trace("base", second + 50)], after: 1) }
        #expect(bench.refused(.future) == 0 && bench.contents.stations.count == 1)
    }

    @Test func whatIsOlderThanTheRingIsRefused() throws {
        let bench = try Bench { $0.days = 1 }
        try bench.take([Bench.info("base"), Bench.config("base")])
        try bench.take([Bench.trace("base", -90_000)])
        #expect(bench.refused(.old) == 1 && bench.contents.stations.isEmpty)
    }

    @Test func oneStationHasNoMoreChannelsThanItsShare() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for number in 0..<40 {
            try bench.take([Bench.info("liar", [("code", .string("L\(number)"))]), Bench.config("liar")])
            try bench.take([Bench.trace("liar", 0)])
        }
        try bench.take([Bench.trace("base", 1)])
        #expect(bench.contents.stations.filter { $0.code != "BASE" }.count == 8)
        #expect(bench.contents.stations.contains { $0.code == "BASE" })
        #expect(bench.refused(.channels) == 32)
    }

    // MARK: Budgets

    @Test func theStationThatHasMostGivesFirst() throws {
        let bench = try Bench {
            $0.megabytes = 2
            $0.recordSeconds = 0.5
        }
        let stations = ["base", "roof"]
        try bench.take((stations + ["liar"]).flatMap { [Bench.info($0), Bench.config($0)] })
        // 40 s of two, and so much of the third that the ring is full with it alone.
        for second in 0..<40 { try bench.take(stations.map { Bench.trace($0, second) }, after: 1) }
        let before = bench.contents.stations.map(\.first)
        for second in 0..<40 {
            let parts = (0..<100).map { Bench.trace("liar", second * 100 + $0 - 4000, count: 100) }
            try bench.take(parts, after: 1)
        }
        try bench.take([], after: 61)
        let after = bench.contents.stations.filter { $0.code != "LIAR" }
        #expect(after.map(\.first) == Array(before.prefix(2)))
        #expect(bench.contents.stations.first { $0.code == "LIAR" }.map { $0.first > 100 } == true)
        #expect(bench.contents.counts.ringBytes <= 2_000_000)
        #expect(bench.refused(.records) > 100)
        #expect(try bench.sampleTimes("sta=ROOF").first == time(0))
    }

    /// The limit is of the folder: thousands that say who they are and send nothing, events, records, and all that at once, with
    /// the write-ahead log, in one round as well as in many, and over a restart.
    @Test(arguments: [1, 100]) func theFolderStaysWithinItsLimit(atOnce: Int) throws {
        let bench = try Bench {
            $0.megabytes = 10
            $0.recordSeconds = 0.5
        }
        func bytes() -> Int {
            SmallFolder.bytes(bench.settings.folder)
        }
        try bench.take([Bench.info("base"), Bench.config("base"), Bench.trace("base", 0)], after: 1)
        let words = String(repeating: "x", count: 9000)
        var largest = 0
        var waiting: [InboundMessage] = []
        for number in 0..<3000 {
            waiting.append(Bench.info("s\(number)", [("note", .string(words))]))
            guard waiting.count >= atOnce * 10 else { continue }
            try bench.take(waiting, after: 0.01)
            waiting = []
            largest = max(largest, bytes())
        }
        #expect(largest <= 10_000_000, "messages")
        for part in 0..<10 {
            let large = (0..<100).map {
                Bench.event("liar", "liar-\(part)-\($0)", at: time(0), [("note", .string(words))])
            }
            try bench.take(large, after: 0.01)
            try bench.take((0..<200).map { Bench.trace("base", part * 200 + $0 + 1) }, after: 200)
            largest = max(largest, bytes())
        }
        #expect(largest <= 10_000_000, "events and records")
        // The station that sends samples is there after a restart, without a word of it.
        try bench.restart()
        try bench.take([Bench.trace("base", 2001)], after: 1)
        #expect(bench.contents.stations.map(\.code) == ["BASE"] && bytes() <= 10_000_000)
        let kept = try bench.reader().messages()
        #expect(kept.contains { $0.station == "base" } && kept.count < 300 && kept.count > 100)
    }

    @Test func eventsOfOneStationDoNotEmptyTheRing() throws {
        let bench = try Bench { $0.megabytes = 10 }
        try bench.take([Bench.event("base", "base-1", at: time(-100))])
        // Dated 2190: none is taken. With a time of now: the oldest of the same station go.
        try bench.take((0..<50).map { Bench.event("liar", "liar-x\($0)", at: 6_942_000_000_000_000_000) })
        #expect(bench.refused(.future) == 50 && bench.contents.events.count == 1)
        for part in 0..<30 {
            try bench.take((0..<100).map { Bench.event("liar", "liar-\(part * 100 + $0)", at: time(Double(-$0))) })
        }
        #expect(bench.contents.events.count == 2001 && bench.refused(.events) == 1000)
        #expect(try bench.text("/fdsnws/event/1/query?eventid=base-1&format=text").contains("base-1|"))
        // Large ones: bytes count, and whoever has most gives.
        let large = String(repeating: "x", count: 15_000)
        for part in 0..<5 {
            try bench.take(
                (0..<100).map { Bench.event("liar", "liar-l\(part)-\($0)", at: time(0), [("note", .string(large))]) })
        }
        let use = try bench.reader().eventUse()
        #expect(use.values.reduce(0) { $0 + $1.bytes } <= 2_500_000 && use["base"]?.count == 1)
        #expect(bench.contents.events.count == use.values.reduce(0) { $0 + $1.count })
        try bench.take([Bench.event("liar", "liar-huge", at: time(0), [("note", .string(large + large))])])
        #expect(bench.refused(.size) == 1)
    }

    @Test func aDocumentOfEventsIsPutTogetherInTurns() throws {
        let bench = try Bench()
        try bench.take((0..<200).map { Bench.event("base", "base-\($0)", at: time(Double(-$0))) })
        for (format, mark) in [("text", "base-"), ("xml", "<event ")] {
            let (answer, turns) = try bench.turns(WebRequest(.get, "/fdsnws/event/1/query?format=\(format)"))
            let text = String(decoding: answer.body, as: UTF8.self)
            #expect(turns >= 7 && answer.more == nil && answer.status == 200)
            #expect(
                text.components(separatedBy: mark).count >= 201 && text.contains("base-199") && text.contains("base-0"))
        }
        // Those that have gone meanwhile are left out; where all have, there is nothing.
        #expect(try bench.ask("/fdsnws/event/1/query?minmagnitude=9&nodata=404").status == 404)
    }

    @Test func manyLinesOfWhichThereIsNothingAreManyTurns() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in 0..<10 { try bench.take([Bench.trace("base", second)], after: 1) }
        let line = "* * * * 2001-01-01T00:00:00 2001-01-02T00:00:00\n"
        let body = Array(("nodata=404\n" + String(repeating: line, count: 200)).utf8)
        let (answer, turns) = try bench.turns(WebRequest(.post, "/fdsnws/dataselect/1/query", body: body))
        #expect(answer.status == 404 && turns >= 4)
    }

    @Test func knowsWhatTakesLong() throws {
        let bench = try Bench()
        let (stations, records) = ("/fdsnws/station/1/query?level=response", "/fdsnws/dataselect/1/query?net=XX")
        #expect(bench.isLong(stations) == false && bench.isLong("/fdsnws/event/1/query") == false)
        bench.shared.change { contents in
            contents.stations = (0..<30).map { FeedStation(network: "XX", code: "S\($0)") }
        }
        #expect(bench.isLong(stations) == true && bench.isLong(records) == false)
        bench.shared.change { contents in
            contents.stations = (0..<6000).map { FeedStation(network: "XX", code: "S\($0)") }
            for row in 0..<30_000 { contents.events.insert(.init(row: Int64(row), time: Int64(row))) }
        }
        #expect(bench.isLong(records) == true && bench.isLong("/fdsnws/event/1/query") == true)
        #expect(bench.isLong("/metrics") == nil)
    }

    @Test func anEventBelongsToItsStation() throws {
        let bench = try Bench()
        try bench.take([Bench.event("base", "base-1", at: time(-100), [("pga", 1.5)])])
        // Another station names it, and so does one whose id begins like the other's.
        try bench.take([Bench.event("liar", "base-1", at: time(-100)), Bench.event("bas", "base-2", at: time(-100))])
        #expect(bench.refused(.owner) == 2)
        #expect(try bench.text("/fdsnws/event/1/query?format=xml").contains("<value>1.5</value>"))
        #expect(bench.contents.events.count == 1)
        // Its own station may say it anew; a station that is called `net` may have an id of the network's.
        try bench.take([
            Bench.event("base", "base-1", at: time(-90), [("pga", 2.5)]), Bench.network("net-1", at: time(-95)),
        ])
        try bench.take([Bench.event("net", "net-1", at: time(-80))])
        let xml = try bench.text("/fdsnws/event/1/query?format=xml")
        #expect(xml.contains("<value>2.5</value>") && !xml.contains("<value>1.5</value>"))
        #expect(bench.contents.events.count == 3)
    }

    @Test func newerVersionsOfANetworkEventCount() throws {
        let bench = try Bench()
        try bench.take([
            Bench.network("net-1", at: time(-10), version: 2, [("latitude", 36.5)]),
            Bench.network("net-1", at: time(-11), version: 1, [("latitude", 34.5)]),
            Bench.network("net-2", at: time(-20), version: 1),
        ])
        #expect(try bench.text("/fdsnws/event/1/query?format=text").contains("|36.5|10.0|"))
        try bench.take([Bench.network("net-2", at: time(-20), version: 2, [("withdrawn", true)])])
        try bench.take([Bench.network("net-2", at: time(-20), version: 1)])
        try bench.take([Bench.network("net-1", at: time(-20), version: 3, [("merged_into", "net-3")])])
        #expect(bench.contents.events.count == 0)
        try bench.take([
            Bench.network("net-4", at: time(-20), [("latitude", 1e308)]),
            Bench.network("net-5", at: time(-20), [("magnitude", ["value": 25])]),
            Bench.network("net-6", at: time(3600)),
        ])
        #expect(bench.contents.events.count == 0 && bench.refused(.place) == 2 && bench.refused(.future) == 1)
    }

    /// 10 000 messages that somebody has made to break it, and what the fuzzers have kept, on each topic: the feed takes what
    /// is within its range, and all that it has taken can be asked for.
    @Test func hostileMessages() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        let topics = [
            "base/event/trigger", "network/event", "base/state/info", "base/state/config", "base/state/level",
            "base/state/health", "base/data/vibration", "base/data/trace",
        ]
        let good = try [
            Bench.event(
                "base", "base-1", at: time(-100), [("mmi", 3.5), ("class", ["likely": "earthquake", "p": 0.5])]),
            Bench.network(
                "net-1", at: time(-10), version: 2,
                [("mmi", ["value": 4.5]), ("stations", [["id": "base", "event_id": "base-1"]])]),
            Bench.info("base"), Bench.trace("base", 1),
        ].map { try JSONReader.read($0.payload) }
        var batch: [InboundMessage] = []
        let all = Array(HostileMessages(good, count: 10_000, seed: 6)) + (try HostileMessages.corpora())
        for (number, bytes) in all.enumerated() {
            batch.append(.init(topic: "seismote/\(topics[number % topics.count])", payload: bytes))
            if number % 2 == 0 { batch.append(.init(topic: "seismote/\(topics[number / 2 % 2])", payload: bytes)) }
            if batch.count >= 200 {
                try bench.take(batch)
                batch = []
            }
        }
        try bench.take(batch)
        #expect(bench.refused(.syntax) > 1000 && bench.refused(.place) > 50 && bench.contents.events.count > 0)
        let lines = try bench.text("/fdsnws/event/1/query?format=text").split(separator: "\n").dropFirst()
        #expect(!lines.isEmpty)
        for line in lines {
            let parts = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            #expect(parts.count == 13)
            #expect(abs(Double(parts[2]) ?? 0) <= 90 && abs(Double(parts[3]) ?? 0) <= 180, "\(line)")
            #expect((0...700).contains(Double(parts[4]) ?? 0) && (-5...9.5).contains(Double(parts[10]) ?? 0), "\(line)")
        }
        #expect(try bench.text("/fdsnws/event/1/query?format=xml").contains("</q:quakeml>"))
        #expect(try bench.text("/metrics").contains("seismote_feed_refused_total{reason=\"place\"} "))
    }

    @Test func whatIsOldGoes() throws {
        let bench = try Bench { $0.days = 0.01 }
        try bench.take([Bench.info("base"), Bench.config("base"), Bench.event("base", "base-1", at: time(-100))])
        for second in 0..<60 { try bench.take([Bench.trace("base", second)], after: 1) }
        #expect(bench.contents.stations[0].first == 1)
        try bench.take([], after: 880)
        #expect(bench.contents.stations[0].first > 1 && bench.contents.events.count == 0)
    }

    @Test func ringsOfBeforeGiveTheirEvents() throws {
        let bench = try Bench()
        let file = try DatabaseFile(
            bench.settings.folder + "/feed.db", application: 0x5365_6946, tables: [], .init(writes: true))
        try file.execute(
            "CREATE TABLE event(id TEXT PRIMARY KEY, station TEXT NOT NULL, onset INTEGER NOT NULL, payload BLOB NOT NULL) WITHOUT ROWID"
        )
        for (id, owner, message) in [
            ("base-1", "base", Bench.event("base", "base-1", at: time(-50))),
            ("net-1", "network", Bench.network("net-1", at: time(-60))),
        ] {
            try file.run(
                "INSERT INTO event VALUES(?, ?, ?, ?)", .text(id), .text(owner), .int(time(-50)),
                .bytes(message.payload))
        }
        try bench.restart()
        #expect(bench.contents.events.count == 2)
        try bench.restart()
        #expect(bench.contents.events.count == 2)
    }

    // MARK: Requests

    @Test func aWishIsAskedInPiecesAndSettledOnce() throws {
        let bench = try Bench()
        try bench.take([Bench.info("base"), Bench.config("base")])
        for second in 0..<10 { try bench.take([Bench.trace("base", second)], after: 1) }
        let settled = Counter()
        bench.wishes.ask([.init(station: "base", from: time(-700), to: time(-1)) { settled.add() }])
        try bench.take([])
        #expect(bench.sent.filter { $0.topic.hasSuffix("snapshot") }.count == 1)
        let id = try #require(bench.sent.last?.payload["id"]?.rawText)
        try bench.take([
            Bench.message("base/res/\(id)", ["id": .string(id), "phase": "done", "result": ["messages": 0]])
        ])
        let second = try #require(bench.sent.last?.payload["id"]?.rawText)
        #expect(second != id && settled.count == 0)
        try bench.take([Bench.message("base/res/\(second)", ["id": .string(second), "phase": "failed"])])
        try bench.take([])
        #expect(settled.count == 1)
        // The same again within ten minutes: it is not asked for.
        bench.wishes.ask([.init(station: "base", from: time(-700), to: time(-1)) { settled.add() }])
        try bench.take([])
        #expect(settled.count == 2 && bench.sent.last?.payload["id"]?.rawText == second)
    }

    @Test func messagesThatWaitAreBoundedForEachStation() throws {
        let inbox = try FairInbox(mostBytes: 100_000, root: "seismote")
        let big = InboundMessage(topic: "seismote/liar/data/trace", payload: [UInt8](repeating: 0, count: 10_000))
        for _ in 0..<20 { inbox.put(big) }
        for _ in 0..<5 { inbox.put(InboundMessage(topic: "seismote/base/data/trace", payload: [1])) }
        let taken = inbox.take()
        #expect(taken.messages.filter { $0.topic.contains("base") }.count == 5)
        #expect(taken.refused == ["liar": 18] && taken.dropped == 0)
        for station in 0..<20 {
            inbox.put(InboundMessage(topic: "seismote/s\(station)/x/y", payload: [UInt8](repeating: 0, count: 10_000)))
        }
        #expect(inbox.take().dropped == 11 && inbox.take().messages.isEmpty)
    }
}

/// Counts, on any thread.
private final class Counter: Sendable {
    private let number = Mutex(0)
    func add() { number.withLock { $0 += 1 } }
    var count: Int { number.withLock { $0 } }
}

/// Bytes of the files of a folder.
private enum SmallFolder {
    static func bytes(_ folder: String) -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.reduce(0) { sum, name in
            let facts = try? FileManager.default.attributesOfItem(atPath: "\(folder)/\(name)")
            return sum + ((facts?[.size] as? Int) ?? 0)
        }
    }
}
