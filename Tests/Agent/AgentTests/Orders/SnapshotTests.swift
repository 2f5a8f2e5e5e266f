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

/// Stretches of the waveform ring, by command.
@Suite(.timeLimit(.minutes(10))) struct SnapshotTests {
    static let start: Int64 = 1_767_608_430_120_000_000

    /// Pieces of ten seconds each, 100 Hz; `missing` is left out.
    private func pieces(_ count: Int, missing: Int? = nil) throws -> [SegmentQueue.Item] {
        var ring = try RingWriter(
            codes: ChannelCodes(network: "XX", station: "TEST", location: "00", id: "test"), rate: 100, format: .v3,
            scale: CountScale(resolution: 1e-5))
        var items: [SegmentQueue.Item] = []
        var noise: UInt64 = 5
        for i in 0..<count * 1000 where i / 1000 != missing {
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Of many digits, so that there are many bytes.
            let value = Double(noise >> 40) / Double(1 << 20)
            ring.append(value, -value, value / 2, time: Self.start + Int64(i) * 10_000_000, inEvent: false) {
                items.append(.init(segment: $0, records: Array($1)))
            }
        }
        ring.flush { items.append(.init(segment: $0, records: Array($1))) }
        return items
    }

    private func samples(_ bytes: [UInt8]) throws -> Int {
        var reader = MiniSEEDReader(bytes)
        var count = 0
        while let record = try reader.next() { count += record.samples.values.count }
        return count
    }

    private func messages(_ items: [SegmentQueue.Item], from: Int64, to: Int64) -> ([[UInt8]], OrderOutcome) {
        var snapshot = Snapshot(from: from, to: to, topic: "t", now: 0)
        var messages: [[UInt8]] = []
        for item in items {
            snapshot.add(item.records)
            while let message = snapshot.message(isLast: false) { messages.append(message) }
        }
        while let message = snapshot.message(isLast: true) { messages.append(message) }
        return (messages, snapshot.outcome)
    }

    @Test func messagesHaveWholeRecordsAndAreNotTooLarge() throws {
        let items = try pieces(30)
        let (messages, outcome) = messages(items, from: .min, to: .max)
        let all = messages.flatMap { $0 }
        #expect(all == items.flatMap(\.records) && messages.count > 5)
        #expect(messages.allSatisfy { $0.count <= 65_536 })
        #expect(messages.dropLast().allSatisfy { $0.count > 60_000 })
        var records = 0
        for message in messages {
            var reader = MiniSEEDReader(message)
            while try reader.next() != nil { records += 1 }
        }
        let told = try #require(outcome.done)
        #expect(told["bytes"] == .int(Int64(all.count)) && told["messages"] == .int(Int64(messages.count)))
        #expect(told["records"] == .int(Int64(records)) && told["samples"] == .int(30_000))
        #expect(told["gaps"] == .int(0))
        var hash = SHA256()
        hash.update(all)
        #expect(told["sha256"] == .string(hash.hexDigest()))
    }

    @Test func onlyWhatWasAskedForComes() throws {
        let from = Self.start + 12_340_000_000
        let (messages, outcome) = messages(try pieces(5), from: from, to: from + 20_000_000_000)
        #expect(try samples(messages.flatMap { $0 }) == 3 * 2001)
        let told = try #require(outcome.done)
        #expect(told["from"] == .string(Timestamp(nanoseconds: from).description))
        #expect(told["to"] == .string(Timestamp(nanoseconds: from + 20_000_000_000).description))
        #expect(told["samples"] == .int(2001))
    }

    @Test func gapsAreCountedAndNothingIsNothing() throws {
        let items = try pieces(6, missing: 3)
        #expect(messages(items, from: .min, to: .max).1.done?["gaps"] == .int(1))
        let (sent, outcome) = messages(items, from: 0, to: 1_000_000_000)
        #expect(sent.isEmpty && outcome.error?.code == .unavailable)
    }

    @Test func damagedRecordsAreLeftOut() throws {
        var items = try pieces(3)
        items[1].records[items[1].records.count / 2] ^= 0x55
        let (messages, outcome) = messages(items, from: .min, to: .max)
        #expect(try samples(messages.flatMap { $0 }) == 3 * 2000)
        #expect(outcome.done?["gaps"] == .int(1))
    }

    // MARK: With the thread

    /// A storage thread without a broker.
    private final class Storage {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("snapshot-\(UUID().uuidString)")
        let thread: StorageThread
        let link: Link
        var dropped: Int { thread.status.now.statistics.dropped.total }

        init(_ change: (inout Configuration) -> Void = { _ in }) throws {
            var configuration = Configuration()
            configuration.station.id = "test"
            configuration.storage.directory = directory.path
            change(&configuration)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let topics = try Topics(id: "test")
            link = try Link(options: LinkOptions(configuration, topics: topics)) { _ in }
            thread = try StorageThread(configuration, topics: topics, link: link, log: Log(level: .error))
            try thread.start()
        }

        func outcomes(_ order: StorageOrder, _ count: Int) -> [OrderOutcome] {
            _ = thread.orders.put(StorageThread.Order(order), number: 1)
            var all: [OrderOutcome] = []
            _ = eventually {
                all += self.thread.orders.takeOutcomes().map(\.outcome)
                return all.count >= count
            }
            return all
        }

        /// What waits on disk for the broker.
        func stored() throws -> [StoredMessage] {
            #expect(thread.stop(within: 10))
            var configuration = Configuration()
            configuration.storage.directory = directory.path
            var spool = try Self.opened(SpoolOptions(configuration))
            return try spool.next(.rest)
        }

        /// A program that another test is starting has this process's files, and the lock on them, until it runs.
        private static func opened(_ options: SpoolOptions) throws -> Spool {
            for _ in 0..<200 {
                do { return try Spool.open(options, now: HostClock.wall()) } catch { usleep(50_000) }
            }
            return try Spool.open(options, now: HostClock.wall())
        }

        deinit {
            _ = thread.stop(within: 5)
            try? FileManager.default.removeItem(at: directory)
        }
    }

    @Test func theRingIsReadAndWaitsOnDiskForTheBroker() throws {
        let storage = try Storage()
        let items = try pieces(40)
        for item in items {
            item.records.withUnsafeBytes { storage.thread.segments.put(item.segment, $0) }
        }
        let end = Self.start + 400_000_000_000
        let outcomes = storage.outcomes(.snapshot(from: Self.start, to: end - 20_000_000, topic: "seismote/test/x"), 2)
        #expect(outcomes.first?.began?["topic"] == .string("seismote/test/x"))
        let told = try #require(outcomes.last?.done)
        #expect(told["samples"] == .int(39_999))
        let messages = try storage.stored().filter { $0.header.topic == "seismote/test/x" }
        #expect(told["messages"] == .int(Int64(messages.count)) && messages.count > 5)
        #expect(messages.allSatisfy { $0.header.isHistory && $0.header.qos == 1 && !$0.header.retain })
        #expect(messages.allSatisfy { $0.header.contentType == .mseed })
        var hash = SHA256()
        for message in messages { hash.update(message.payload) }
        #expect(told["sha256"] == .string(hash.hexDigest()))
    }

    /// Defect: a snapshot was essential itself, and pushed undelivered waveforms of events out of a full storage.
    @Test func aSnapshotThatFindsNoRoomIsRefusedAndNothingGoesForIt() throws {
        let storage = try Storage { $0.storage.budget = 16 }
        for item in try pieces(300) {
            item.records.withUnsafeBytes { storage.thread.segments.put(item.segment, $0) }
            _ = eventually { storage.thread.status.now.statistics.ringSegments > 0 }
        }
        // Waveforms that wait for the broker, so many that the storage is full of them.
        let chunk = [UInt8](repeating: 7, count: 60_000)
        var header = Messages.Stream.waveform.delivery.header(topic: "seismote/test/data/waveform/e")
        header.event = EventMark(id: "e", part: .waveform)
        for index in 0..<400 {
            chunk.withUnsafeBytes { storage.link.publish(header, $0) }
            #expect(eventually { storage.thread.status.now.statistics.messages[.essential] + storage.dropped > index })
            if storage.dropped > 0 { break }
        }
        let before = storage.thread.status.now.statistics
        #expect(before.messages[.essential] > 50)
        let outcomes = storage.outcomes(.snapshot(from: 0, to: .max, topic: "seismote/test/x"), 2)
        #expect(outcomes.last?.error?.code == .unavailable, "\(outcomes)")
        let after = storage.thread.status.now.statistics
        #expect(after.messages == before.messages && after.dropped == before.dropped)
        #expect(try storage.stored().isEmpty)
    }

    @Test func theNewestSecondsAreWaitedFor() throws {
        let storage = try Storage()
        let items = try pieces(3)
        for item in items.dropLast() {
            item.records.withUnsafeBytes { storage.thread.segments.put(item.segment, $0) }
        }
        _ = thread(storage, from: Self.start)
        #expect(eventually { storage.thread.segments.awaitsFlush })
        // As the sampling thread does.
        #expect(storage.thread.segments.takeFlush())
        items[2].records.withUnsafeBytes { storage.thread.segments.put(items[2].segment, $0) }
        var all: [OrderOutcome] = []
        _ = eventually {
            all += storage.thread.orders.takeOutcomes().map(\.outcome)
            return all.count >= 2
        }
        #expect(all.last?.done?["samples"] == .int(3000))
    }

    private func thread(_ storage: Storage, from: Int64) -> Bool {
        let order = StorageOrder.snapshot(from: from, to: from + 60_000_000_000, topic: "t")
        return storage.thread.orders.put(StorageThread.Order(order), number: 1)
    }

    @Test func withoutARingOrADiskOrSuchATimeItIsUnavailable() throws {
        let none = try Storage { $0.storage.ringMinutes = 0 }
        #expect(none.outcomes(.snapshot(from: 0, to: 9, topic: "t"), 1).first?.error?.code == .unavailable)
        let empty = try Storage()
        #expect(empty.outcomes(.snapshot(from: 0, to: 9, topic: "t"), 2).last?.error?.code == .unavailable)
        let broken = try Storage { $0.storage.directory = "/proc/no-such-folder" }
        #expect(broken.outcomes(.snapshot(from: 0, to: 9, topic: "t"), 1).first?.error?.code == .unavailable)
    }
}
