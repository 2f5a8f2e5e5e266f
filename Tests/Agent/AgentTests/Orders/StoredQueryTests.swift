import Commands
import Foundation
import MQTT
import Messages
import MiniSEED
import Settings
import TestSupport
import Testing
import Values

@testable import Agent
@testable import Spool

/// What the station keeps, by command: events, one event, levels of the past, messages once more.
@Suite(.timeLimit(.minutes(10))) struct StoredQueryTests {
    static let start: Int64 = 1_767_608_400_000_000_000
    static let second: Int64 = 1_000_000_000

    /// A storage with events, and its thread, without a broker.
    private final class Storage {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("stored-\(UUID().uuidString)")
        let thread: StorageThread
        private let link: Link
        private var last = 0

        init(_ fill: (inout Spool) throws -> Void) throws {
            var configuration = Configuration()
            configuration.station.id = "test"
            configuration.storage.directory = directory.path
            var spool = try Spool.open(SpoolOptions(configuration), now: HostClock.wall())
            try fill(&spool)
            try spool.close()
            let topics = try Topics(id: "test")
            link = try Link(options: LinkOptions(configuration, topics: topics)) { _ in }
            thread = try StorageThread(configuration, topics: topics, link: link, log: Log(level: .error))
            try thread.start()
        }

        /// The last outcome of an order, and the seconds that it took.
        func ask(_ query: StorageOrder, room: Int? = nil) throws -> (OrderOutcome, Double) {
            last += 1
            let begin = HostClock.monotonic()
            #expect(thread.orders.put(StorageThread.Order(query, room: room), number: last))
            var all: [OrderOutcome] = []
            _ = eventually {
                all += self.thread.orders.takeOutcomes().map(\.outcome)
                return all.contains { if case .began = $0 { false } else { true } }
            }
            return (try #require(all.last), Double(HostClock.monotonic() - begin) / 1e9)
        }

        func object(_ query: StorageOrder, room: Int? = nil) throws -> Value {
            guard case .made(let result) = try ask(query, room: room).0 else { throw CancellationError() }
            return try JSONReader.read(result.bytes)
        }

        /// Sends a message as the sampling thread does.
        func publish(_ header: PublicationHeader, _ payload: String) {
            Array(payload.utf8).withUnsafeBytes { link.publish(header, $0) }
        }

        /// What waits on disk for the broker below a topic.
        func stored(_ topic: String) throws -> [StoredMessage] {
            #expect(thread.stop(within: 10))
            var configuration = Configuration()
            configuration.storage.directory = directory.path
            var spool = try Spool.open(SpoolOptions(configuration), now: HostClock.wall())
            return try spool.next(.rest).filter { $0.header.topic == topic }
        }

        deinit {
            _ = thread.stop(within: 5)
            try? FileManager.default.removeItem(at: directory)
        }
    }

    private static func id(_ index: Int) -> String {
        "test-\(Timestamp(nanoseconds: start + Int64(index) * 3600 * second).stamp)"
    }

    /// Onset and end of an event an hour, as the pipeline writes them; MMI 1, 2 ... 8.
    private static func fill(_ spool: inout Spool, events: Int, boot: String = "b") throws {
        for index in 0..<events {
            for (part, name) in [(EventMark.Part.onset, "onset"), (.end, "end")] {
                var event: Value = [
                    "v": 1, "station": "test", "boot": .string(boot),
                    "seq": .int(Int64(2 * index + (part == .end ? 1 : 0))),
                    "event_type": .string(name), "event_id": .string(id(index)),
                    "filler": .string(String(repeating: "x", count: 2000)),
                ]
                // (As in messages of versions without `mmi`, too.)
                let mmi = Double(index % 8 + 1)
                event =
                    index % 2 == 0
                    ? event.with("mmi", .double(mmi))
                    : event.with(
                        "intensity", [["scale": "jma", "value": 7.0], ["scale": "mmi", "value": .double(mmi)]])
                if index % 3 == 0 { event = event.with("class", ["likely": "earthquake"]) }
                var header = Messages.Stream.trigger.delivery.header(topic: "seismote/test/event/trigger")
                header.event = EventMark(id: id(index), part: part)
                let bytes = event.json()
                let key = try bytes.withUnsafeBytes { try spool.put(header, $0, made: HostClock.wall()) }
                try spool.settle(key, .delivered)
            }
        }
        try spool.commit()
    }

    private func events(
        _ storage: Storage, _ range: ClosedRange<Int64> = .min ... .max, minimum: Double? = nil,
        likely: String? = nil, limit: Int = 20, after: Int64 = 0
    ) throws -> (ids: [String], matches: Int64?, next: Int64?) {
        let object = try storage.object(
            .events(range, minimum: minimum, likely: likely, limit: limit, after: after))
        guard case .array(let all)? = object["events"] else { throw CancellationError() }
        let ids = all.compactMap { one in if case .string(let id)? = one["event_id"] { id } else { String?.none } }
        return (ids, object["matches"]?.integer, object["next"]?.integer)
    }

    @Test func eventsAreListedByTimeIntensityAndClassPageByPage() throws {
        let storage = try Storage { try Self.fill(&$0, events: 50) }
        let all = try events(storage, limit: 100)
        #expect(all.ids == (0..<50).reversed().map(Self.id) && all.matches == 50 && all.next == nil)
        var (pages, after) = ([String](), Int64(0))
        for _ in 0..<10 {
            let page = try events(storage, limit: 7, after: after)
            #expect(page.matches == 50 && page.ids.count <= 7)
            pages += page.ids
            guard let next = page.next else { break }
            after = next
        }
        #expect(pages == all.ids)
        let from = Self.start + 10 * 3600 * Self.second
        #expect(try events(storage, from...(from + 7200 * Self.second)).ids == [12, 11, 10].map(Self.id))
        #expect(try events(storage, minimum: 8, limit: 100).ids == [47, 39, 31, 23, 15, 7].map(Self.id))
        #expect(try events(storage, likely: "earthquake", limit: 2).ids == [48, 45].map(Self.id))
        #expect(try events(storage, minimum: 7.5, likely: "earthquake", limit: 100).ids == [39, 15].map(Self.id))
        #expect(try events(storage, likely: "disturbance").matches == 0)
    }

    /// The least seconds of three that a query for many events takes.
    private static func seconds(_ storage: Storage) throws -> Double {
        try (0..<3).reduce(Double.infinity) { least, _ in
            min(least, try storage.ask(.events(.min ... .max, minimum: 1, likely: nil, limit: 100, after: 0)).1)
        }
    }

    /// Ten times the events take ten times the time (quadratic work takes a hundred times), and an answer has no more than
    /// 256 kB.
    @Test func manyEventsAreAnsweredInTimeInProportion() throws {
        let few = try Self.seconds(Storage { try Self.fill(&$0, events: 100) })
        let storage = try Storage { try Self.fill(&$0, events: 1000) }
        let many = try Self.seconds(storage)
        #expect(many < 40 * few, "100 events take \(few) s, 1000 take \(many) s")
        let query = StorageOrder.events(.min ... .max, minimum: 1, likely: nil, limit: 100, after: 0)
        guard case .made(let result) = try storage.ask(query).0 else { throw CancellationError() }
        #expect(result.bytes.count < 280_000)
        let sent = try storage.ask(.resend(stream: "event/trigger", boot: "b", 100...103)).0
        #expect(sent.done?["sent"] == 4)
    }

    @Test func oneEventComesWithItsWaveform() throws {
        var waveform: [[UInt8]] = []
        var ring = try RingWriter(
            codes: ChannelCodes(network: "XX", station: "TEST", location: "00", id: "test"), rate: 100, format: .v2,
            scale: CountScale(resolution: 1e-5))
        for i in 0..<12_000 {
            ring.append(Double(i % 97), 1, 2, time: Self.start + Int64(i) * 10_000_000, inEvent: false) {
                waveform.append(Array($1))
            }
        }
        let storage = try Storage { spool in
            try Self.fill(&spool, events: 2)
            for part in waveform {
                var header = Messages.Stream.waveform.delivery.header(
                    topic: "seismote/test/data/waveform/\(Self.id(1))")
                header.event = EventMark(id: Self.id(1), part: .waveform)
                let key = try part.withUnsafeBytes { try spool.put(header, $0, made: HostClock.wall()) }
                try spool.settle(key, .delivered)
            }
        }
        let plain = try #require(try storage.ask(.event(Self.id(1), topic: nil)).0.done)
        #expect(plain["event"]?["event_type"] == "end" && plain["event"]?["event_id"] == .string(Self.id(1)))
        let topic = "seismote/test/data/history/waveform/q"
        let told = try #require(try storage.ask(.event(Self.id(1), topic: topic)).0.done)
        #expect(told["samples"] == 12_000 && told["gaps"] == 0 && told["event"] == plain["event"])
        #expect(try storage.ask(.event("none", topic: nil)).0.error?.code == .unavailable)
        let none = try #require(try storage.ask(.event(Self.id(0), topic: topic)).0.done)
        #expect(none["messages"] == 0)
        let sent = try storage.stored(topic)
        #expect(sent.flatMap(\.payload) == waveform.flatMap { $0 })
        #expect(told["messages"] == .int(Int64(sent.count)))
    }

    @Test func whatAReaderHasMissedIsSentAgainAndTheRestIsNamed() throws {
        let storage = try Storage { spool in
            try Self.fill(&spool, events: 30)
            try Self.fill(&spool, events: 5, boot: "other")
        }
        let told = try #require(try storage.ask(.resend(stream: "event/trigger", boot: "b", 7...12)).0.done)
        #expect(told["sent"] == 6 && told["gone"] == [] && told["waiting"] == 6)
        let far = try #require(try storage.ask(.resend(stream: "event/trigger", boot: "b", 58...70)).0.done)
        #expect(far["sent"] == 2 && far["gone"] == [[60, 70]])
        for (stream, boot) in [("event/trigger", "c"), ("data/trace", "b")] {
            let none = try #require(try storage.ask(.resend(stream: stream, boot: boot, 0...3)).0.done)
            #expect(none["sent"] == 0 && none["gone"] == [[0, 3]])
        }
        let sent = try storage.stored("seismote/test/data/history/event/trigger")
        let numbers = try sent.map { try JSONReader.read($0.payload)["seq"]?.integer }
        #expect(numbers == [12, 10, 11, 8, 9, 7, 58, 59] || Set(numbers) == [7, 8, 9, 10, 11, 12, 58, 59])
        #expect(sent.allSatisfy { $0.header.isHistory && $0.header.priority == .trace && $0.header.expiry == nil })
    }

    /// Levels at any step, of the ring and of minutes, in both encodings.
    @Test func theLevelsOfThePastHaveNoStepTooMany() throws {
        var pieces: [(WaveformSegment, [UInt8])] = []
        var ring = try RingWriter(
            codes: ChannelCodes(network: "XX", station: "TEST", location: "00", id: "test"), rate: 100, format: .v2,
            scale: CountScale(resolution: 1e-5))
        // Two minutes, a gap of one, and one more; each second has its number as the largest value of x.
        for i in 0..<24_000 where !(12_000..<18_000).contains(i) {
            let x = i % 100 == 50 ? Double(i / 100) : 0
            ring.append(x, -x, 9.8, time: Self.start + Int64(i) * 10_000_000, inEvent: false) {
                pieces.append(($0, Array($1)))
            }
        }
        ring.flush { pieces.append(($0, Array($1))) }
        let storage = try Storage { spool in
            for (segment, bytes) in pieces {
                let one = RingSegment(
                    start: segment.start, end: segment.end, samples: segment.samples, rate: segment.rate, format: .v2,
                    unit: segment.unit)
                try bytes.withUnsafeBytes { try spool.appendSegment(one, $0) }
            }
        }
        func column(_ object: Value, _ axis: String, _ name: String) -> [Double?] {
            guard case .array(let all)? = object[axis]?[name] else { return [] }
            return all.map(\.number)
        }
        let end = Self.start + 240 * Self.second
        let fine = try storage.object(.history(Self.start...end, step: 1, cbor: false))
        #expect(fine["n"] == 240 && fine["step_s"] == 1 && fine["unit"] == "m/s^2")
        let most = column(fine, "x", "max")
        let expected: [Double?] = (0..<240).map { (i: Int) -> Double? in (120..<180).contains(i) ? nil : Double(i) }
        #expect(most == expected)
        #expect(column(fine, "y", "min")[7] == -7 && column(fine, "z", "rms")[3] == 0)
        let coarse = try storage.object(.history(Self.start...end, step: 60, cbor: false))
        #expect(column(coarse, "x", "max") == [59, 119, nil, 239])
        let whole = try storage.object(.history((Self.start - 600 * Self.second)...end, step: 600, cbor: false))
        #expect(column(whole, "x", "max") == [nil, 239])
        guard case .made(let packed) = try storage.ask(.history(Self.start...end, step: 60, cbor: true)).0 else {
            throw CancellationError()
        }
        let tree = try #require(CBORReader.read(packed.bytes))
        #expect(packed.isCBOR && column(tree, "x", "max") == [59, 119, nil, 239])
        // Of steps that end in the future the rest is not known.
        let future = try storage.object(.history((end - Self.second)...(end + 5 * Self.second), step: 1, cbor: false))
        #expect(column(future, "x", "max") == [239, nil, nil, nil, nil, nil])
    }

    /// What the station says of vibration it has stored, once.
    @Test func whatIsSaidOfVibrationIsStored() throws {
        let storage = try Storage { _ in }
        let message = """
            {"start":"2026-01-05T10:20:00Z","interval_s":60,"seconds":59.5,"gaps":1,"pvs":3.5,\
            "pvs_t":"2026-01-05T10:20:12.25Z","interrupted":["gap","stop","x"],"band":{"lower_hz":1,"upper_hz":80},\
            "x":{"ppv":3.25,"t":"2026-01-05T10:20:12.5Z","frequency_hz":12.5,"rms":0.5,"displacement":0.25,\
            "acceleration":0.125,"weighting":"wd","vdv":0.25},\
            "y":{"ppv":1,"frequency_hz":null,"rms":0.5},"z":{"ppv":2,"rms":0.5,"floor":{"ppv":0.125}}}
            """
        let topics = try Topics(id: "test")
        for _ in 0..<2 { storage.publish(Messages.Stream.vibration.delivery.header(topic: topics.vibration), message) }
        storage.publish(Messages.Stream.alert.delivery.header(topic: topics.vibration + "x"), message)
        var records: [VibrationRecord] = []
        let range = Self.start...Self.start + 86_400 * Self.second
        #expect(
            eventually {
                let reply = try? storage.object(.vibration(range, cbor: false))
                records = reply.flatMap { VibrationColumns($0) }?.records ?? []
                return !records.isEmpty
            })
        #expect(try records == [#require(VibrationRecord(JSONReader.read(Array(message.utf8))))])
        #expect(records.first?.axes[0].peak == 12.5 && records.first?.axes[0].frequency == 12.5)
        #expect(records.first?.pvsPeak == 12.25 && records.first?.interruptions == [.gap, .stop])
        #expect(records.first?.axes[0].displacement == 0.25 && records.first?.axes[0].acceleration == 0.125)
        #expect(records.first?.axes[2].floor == 0.125 && records.first?.axes[1].frequency == nil)
    }

    /// Intervals of vibration, page by page: a reply has those that were measured in one way.
    @Test func vibrationIsToldAsItWasMeasured() throws {
        func record(_ index: Int, upper: Double = 80) -> VibrationRecord {
            var record = VibrationRecord()
            record.start = Self.start + Int64(index) * 60 * Self.second
            (record.length, record.seconds, record.gaps, record.pvs) = (60, 59.5, 2, Double(index) / 4)
            (record.lower, record.upper) = (1, upper)
            for k in 0..<3 {
                record.axes[k].weighting = ["wd", "wd", "wk"][k]
                (record.axes[k].ppv, record.axes[k].peak) = (Double(index + k) / 8, 12.5)
                record.axes[k].frequency = index % 2 == 0 ? 12.25 : nil
                (record.axes[k].rms, record.axes[k].kbFmax, record.axes[k].kbFTm) = (0.5, 0.25, 0.125)
                (record.axes[k].weightedRMS, record.axes[k].dose) = (0.0625, 0.75)
                record.axes[k].floor = k == 0 ? nil : 0.03125
                (record.axes[k].displacement, record.axes[k].acceleration) = (0.125, index < 3 ? nil : 0.375)
            }
            record.pvsPeak = index < 3 ? nil : 7.5
            if index % 50 == 3 {
                record.halfCycles = [
                    .init(axis: 1, value: 0.25, time: record.start + 5_500_000_000, frequency: nil),
                    .init(axis: nil, value: 0.5, time: record.start + 7_500_000_000, frequency: nil),
                ]
            }
            record.interruptions = index % 5 == 0 ? [.start, .gap] : []
            return record
        }
        let stored = (0..<2300).map { record($0, upper: $0 < 2100 ? 80 : 315) }
        let storage = try Storage { spool in
            for one in stored { try spool.storeVibration(one) }
            try spool.commit()
        }
        var (from, pages, sizes) = (Self.start + 60 * Self.second, [VibrationRecord](), [Int]())
        for _ in 0..<9 {
            let object = try storage.object(.vibration(from...Self.start + 100 * 86_400 * Self.second, cbor: false))
            let page = try #require(VibrationColumns(object))
            pages += page.records
            sizes.append(page.records.count)
            guard let next = page.next else { break }
            from = next
        }
        #expect(pages == Array(stored.dropFirst()))
        #expect(sizes == [2000, 99, 200])
        let end = stored[9].start
        guard case .made(let packed) = try storage.ask(.vibration(Self.start...end, cbor: true)).0 else {
            throw CancellationError()
        }
        #expect(packed.isCBOR)
        let unpacked = CBORReader.read(packed.bytes).flatMap { VibrationColumns($0) }
        #expect(unpacked == VibrationColumns(Array(stored[..<10])))
        let nothing = try storage.object(.vibration(0...Self.second, cbor: false))
        #expect(VibrationColumns(nothing)?.records == [] && nothing["next"] == nil)
        // What a small packet has no room for comes with the next.
        for (room, fits) in [(1800, 2...9), (1, 1...1)] {
            let part = try storage.object(.vibration(Self.start...end, cbor: false), room: room)
            let columns = try #require(VibrationColumns(part))
            #expect(fits.contains(columns.records.count) && columns.next == stored[columns.records.count].start)
            #expect(columns.records == Array(stored.prefix(columns.records.count)))
        }
    }

    /// Modes of the past, with what the disk has no room for in a reply.
    @Test func modesAreToldAsTheyWereFound() throws {
        let topics = try Topics(id: "test")
        let message = """
            {"start":"2026-01-05T10:20:00Z","seconds":3560.5,"segments":87,"resolution_hz":0.0125,"temperature_c":21.5,\
            "modes":[{"frequency_hz":2.375,"damping":0.015625,"x":1,"y":0.25,"z":0,"prominence_db":20.5}]}
            """
        let stored = try #require(ModesMessage(JSONReader.read(Array(message.utf8))))
        func later(_ hours: Int64) -> ModesMessage {
            var other = stored
            other.start += hours * 3600 * Self.second
            return other
        }
        let storage = try Storage { spool in
            for hours in 1..<900 { try spool.storeModes(later(Int64(hours))) }
            try spool.commit()
        }
        storage.publish(Messages.Stream.modes.delivery.header(topic: topics.modes), message)
        let range = Self.start...Self.start + 86_400 * 60 * Self.second
        #expect(
            eventually {
                (try? storage.object(.modes(range, cbor: false))).flatMap { ModesColumns($0) }?.periods.first == stored
            })
        let first = try #require(ModesColumns(try storage.object(.modes(range, cbor: false))))
        #expect(first.periods == (0..<800).map { later($0) } && first.next == later(800).start)
        guard case .made(let packed) = try storage.ask(.modes(first.next!...range.upperBound, cbor: true)).0 else {
            throw CancellationError()
        }
        let rest = CBORReader.read(packed.bytes).flatMap { ModesColumns($0) }
        #expect(rest == ModesColumns((800..<900).map { later($0) }))
        let part = try #require(ModesColumns(try storage.object(.modes(range, cbor: false), room: 2000)))
        #expect(part.periods.count > 1 && part.next == later(Int64(part.periods.count)).start)
    }

    // MARK: What cannot be read

    /// Defect: with a flipped bit in an index `events` listed 87 of 343 events, and said that 87 matched. What one index has
    /// lost the other has.
    @Test func aListThatMetDamageSaysSoAndTheFilesAreMended() throws {
        let storage = try Storage { spool in
            try Self.fill(&spool, events: 1000)
            try spool.checkpoint(whole: true)
            let root = try #require(
                try spool.database.number("SELECT rootpage FROM sqlite_schema WHERE name = 'ends'"))
            let path = spool.options.directory + "/spool.db"
            let pages = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
            // The first child of the top: its number is where the first cell begins.
            let top = Int(root - 1) * 4096
            #expect(pages[top] == 2)
            let cell = top + Int(pages[top + 12]) << 8 + Int(pages[top + 13])
            let child = pages[cell..<cell + 4].reduce(0) { $0 << 8 + Int($1) }
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            try file.seek(toOffset: UInt64(child - 1) * 4096)
            try file.write(contentsOf: Data([0x4A]))
            try file.close()
        }
        let answer = try storage.ask(.events(.min ... .max, minimum: nil, likely: nil, limit: 100, after: 0)).0
        guard case .made(let result) = answer else { throw CancellationError() }
        let object = try JSONReader.read(result.bytes)
        // Found by the opening, which said so and mended it, or by the answer.
        #expect(result.isIncomplete || storage.thread.status.now.setAside != nil)
        #expect(object["matches"] == 1000)
        #expect(eventually { storage.thread.status.now.setAside != nil })
        let again = try storage.ask(.events(.min ... .max, minimum: nil, likely: nil, limit: 100, after: 0)).0
        guard case .made(let mended) = again else { throw CancellationError() }
        #expect(try !mended.isIncomplete && JSONReader.read(mended.bytes)["matches"] == 1000)
    }

    /// What the opening drops it says; an answer that comes upon more than that says so itself.
    @Test func rowsThatAreNotAsWrittenAreNeverMissingInSilence() throws {
        let from = Self.start
        let storage = try Storage { spool in
            try Self.fill(&spool, events: 50)
            try spool.database.execute("UPDATE essential SET sum = sum + 1 WHERE part = 2 AND event = '\(Self.id(7))'")
            for block in 0..<3 {
                let number = StepLevels.block(at: from) + Int64(block)
                let columns = [UInt8](repeating: 0, count: 600).map { "\($0)0" }.joined()
                try spool.database.execute(
                    "INSERT OR REPLACE INTO levels VALUES(\(number % spool.levelSlots), \(number), 1, x'\(columns)')")
            }
        }
        func isTold(_ query: StorageOrder) throws -> Bool {
            try !storage.ask(query).0.isWhole || storage.thread.status.now.setAside != nil
        }
        #expect(try isTold(.events(.min ... .max, minimum: nil, likely: nil, limit: 1, after: 0)))
        #expect(eventually { storage.thread.status.now.setAside != nil })
        #expect(storage.thread.status.now.statistics.damaged >= 1)
        let minutes = 600 * Self.second
        #expect(try isTold(.history(from...(from + minutes), step: 60, cbor: false)))
        #expect(try storage.ask(.event(Self.id(8), topic: nil)).0.isWhole)
        // 15 is the end of event 7.
        let sent = try storage.ask(.resend(stream: "event/trigger", boot: "b", 14...17)).0
        guard case .done(let told) = sent else { throw CancellationError() }
        #expect(told["sent"] == 3 && told["gone"] == [[15, 15]])
    }
}

extension OrderOutcome {
    fileprivate var isWhole: Bool {
        switch self {
        case .done: true
        case .made(let result): !result.isIncomplete
        case .began, .partly, .failed: false
        }
    }
}
