import Foundation
import Messages
import Platform
import Settings
import TestSupport
import Values

@testable import Agent
@testable import MQTT

/// All threads of an agent, put together as the agent does it, but with a sensor that gives a block when the test says so.
final class AgentBench {
    let folder: TemporaryFolder
    let keeper: SettingsKeeper
    let link: Link
    let storage: StorageThread
    let status: SamplingStatus
    let orders: OrderBook<SamplingWork>
    let gate = GatedSensor.Gate()
    let modes: ModesThread
    let inbox: MessageInbox
    let topics: Topics
    let lines = Lines()
    /// What the pipeline has published.
    let published = Published()
    var reporter: Reporter
    var dispatcher: Dispatcher
    private let parts: Set<Part>
    private var number = 0

    enum Part { case sampling, storage, link }

    final class Published: Sendable {
        private let all = Mutex<[(header: PublicationHeader, bytes: [UInt8])]>([])
        func put(_ header: PublicationHeader, _ bytes: UnsafeRawBufferPointer) {
            all.withLock { $0.append((header, Array(bytes))) }
        }
        /// Everything on topics below the station, or with a slash in front, that begin so, as it was sent.
        func messages(_ beginning: String) -> [[UInt8]] {
            let beginning = beginning.hasPrefix("/") ? beginning : "seismote/test/" + beginning
            return all.withLock { $0 }.filter { $0.header.topic.hasPrefix(beginning) }
                .map { [UInt8($0.header.qos)] + $0.bytes }
        }
    }

    /// Lines of the log, and what happened to the connection.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        private let events = Mutex<[LinkEvent]>([])
        func put(_ line: String) { lines.withLock { $0.append(line) } }
        func put(_ event: LinkEvent) { events.withLock { $0.append(event) } }
        var all: [String] { lines.withLock { $0 } }
        var connection: [LinkEvent] { events.withLock { $0 } }
    }

    /// - Parameters:
    ///   - parts: the threads that run.
    ///   - files: how the settings are written.
    init(
        _ settings: String = "", _ parts: Set<Part> = [.sampling], files: any FileLayer = SystemFiles(),
        prepare: (TemporaryFolder) throws -> Void = { _ in }
    ) throws {
        self.parts = parts
        folder = try TemporaryFolder()
        try prepare(folder)
        // `storage` has the folder in any case.
        let place = "storage: {directory: \"\(folder.url.path)\""
        let isThere = settings.contains("storage: {")
        let file =
            isThere ? settings.replacingOccurrences(of: "storage: {", with: place + ", ") : settings + "\n\(place)}"
        let layers = SettingsLayers(file: Array(file.utf8), stationID: "test")
        let found = try SettingsLedger.stored(layers, now: HostClock.wall(), monotonic: HostClock.monotonic())
        keeper = SettingsKeeper(found.ledger, found.notes, files: files)
        let configuration = keeper.inForce.configuration
        let trial = keeper.ledger.connectionTrial
        topics = try Topics(configuration)
        inbox = try MessageInbox.commands()
        let lines = self.lines
        link = try Link(
            options: LinkOptions(configuration, topics: topics, trial: trial), report: { lines.put($0) },
            receive: { [inbox] in inbox.put($0) })
        let log = Log(level: configuration.log.level, journal: false) { lines.put($0) }
        storage = try StorageThread(
            configuration, topics: topics, trial: trial, link: link, log: log, answered: inbox.wake)
        status = try SamplingStatus()
        orders = OrderBook(answered: inbox.wake, wake: status.wake)
        reporter = Reporter(
            keeper, topics: topics, boot: "b", log: log, status: status, storage: storage.status,
            files: storage.files, link: link)
        dispatcher = Dispatcher(
            keeper, topics: topics, boot: "b", link: link, log: log, inbox: inbox, status: status, sampling: orders,
            storage: storage)
        let (gate, published, link) = (self.gate, self.published, self.link)
        modes = try ModesThread(boot: "b", status: status) { published.put($0, $1) }
        let sampling = SamplingThread(
            configuration: configuration, revision: keeper.ledger.revision, boot: "b",
            driver: GatedSensor(gate, configuration.sensor), choose: { GatedSensor(gate, $0) }, status: status,
            orders: orders, ring: storage.segments, modes: modes,
            sink: {
                published.put($0, $1)
                link.publish($0, $1)
            })
        if parts.contains(.storage) { try storage.start() }
        if parts.contains(.sampling) { try sampling.start() }
        if parts.contains(.link) { try link.start() }
    }

    deinit {
        status.requestStop()
        modes.stop()
        gate.open()
        let status = self.status
        if parts.contains(.sampling) { _ = eventually { status.now.finished } }
        if parts.contains(.link) { _ = link.stop(within: 1) }
        if parts.contains(.storage) { _ = storage.stop(within: 2) }
    }

    // MARK: Samples

    /// Lets so many blocks of 0.16 s come, and waits until they have gone through.
    func blocks(_ count: Int) -> Bool {
        let wanted = status.samples.load(ordering: .relaxed) + 16 * count
        gate.give(count)
        return eventually(within: 30) { self.status.samples.load(ordering: .relaxed) >= wanted }
    }

    // MARK: Commands

    func send(_ verb: String, _ members: String = "", group: String? = nil) {
        number += 1
        let payload = "{\"id\":\"q\(number)\"\(members.isEmpty ? "" : "," + members)}"
        let topic = group.map { "seismote/group/\($0)/cmd/\(verb)" } ?? topics.command(verb)
        inbox.put(InboundMessage(topic: topic, payload: Array(payload.utf8)))
    }

    /// Rounds of the main thread, until nothing waits for the disk.
    func round() {
        _ = eventually {
            if !parts.contains(.storage) { storage.files.work() }
            _ = dispatcher.round(&reporter)
            return !dispatcher.waitsForDisk
        }
        reporter.look()
    }

    /// Takes all orders that the sampling thread would, as it does.
    /// - Returns: how many of them prepare settings.
    @discardableResult
    func carryOutOrders() -> Int {
        orders.takeOrders().count { number, order in
            orders.answer(number, .done(.object([])))
            if case .settings(.prepare) = order { return true } else { return false }
        }
    }

    /// Replies that were made since the last time, when nobody else takes them (without storage and link).
    func replies() -> [(id: String, phase: String, codes: [String])] {
        var found: [(id: String, phase: String, codes: [String])] = []
        var payload: [UInt8] = []
        func take(_ header: PublicationHeader) {
            guard header.topic.contains("/res/"), let tree = try? JSONReader.read(payload),
                case .string(let id)? = tree["id"], case .string(let phase)? = tree["phase"],
                case .array(let errors)? = tree["errors"]
            else { return }
            let codes = errors.compactMap { error -> String? in
                if case .string(let code)? = error["code"] { code } else { nil }
            }
            found.append((id, phase, codes))
        }
        while let (header, _, ticket) = link.takeUnkept(into: &payload) {
            link.cannotKeep(ticket)
            take(header)
        }
        while let (header, _) = link.withdraw(waitedLonger: 0, into: &payload) { take(header) }
        return found
    }

    /// Changes settings by command, and waits until they are in force; a block goes through.
    /// - Returns: false when they were not taken.
    func change(_ patch: String, _ more: String = "") -> Bool {
        let before = keeper.ledger.revision
        let samples = status.samples.load(ordering: .relaxed)
        send("config", "\"set\":\(patch)\(more)")
        let isAsked = eventually {
            round()
            // (A sensor that is not open yet prepares them at a border of its own.)
            if dispatcher.stepUnderWay == .prepare, orders.hasOrders { gate.give(1) }
            return !dispatcher.isChanging || dispatcher.stepUnderWay == .commit
        }
        guard isAsked, dispatcher.isChanging else { return false }
        gate.give(1)
        let isThrough = eventually {
            round()
            return !dispatcher.isChanging && status.samples.load(ordering: .relaxed) >= samples + 16
        }
        return isThrough && keeper.ledger.revision == before + 1
    }

    // MARK: What others would see

    /// The value of a retained topic.
    func retained(_ topic: String) -> String? {
        link.store.withLock { store in
            store.retained.entries.last { $0.header.topic == topic && $0.version > 0 }
                .map { String(decoding: $0.payload, as: UTF8.self) }
        }
    }
}
