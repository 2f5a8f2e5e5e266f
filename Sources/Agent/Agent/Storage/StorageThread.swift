import Alerts
import Commands
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Spool
import Station
import Vibration

/// The thread for the disk: writes down what must survive the process before the link sends it, keeps the waveform ring,
/// takes what has waited for long out of memory, and brings it back when the broker is there again. Neither sampling nor
/// the link ever waits for it: without a disk, messages leave as if there were none.
final class StorageThread: Sendable {
    /// Pauses between attempts after an error (ns).
    private static let pause: Int64 = 30_000_000_000
    private static let longestWait: Int32 = 1000

    /// Task of a command, and the bytes that its result may have; nil: any number.
    struct Order: Sendable {
        let order: StorageOrder
        let room: Int?

        init(_ order: StorageOrder, room: Int? = nil) { (self.order, self.room) = (order, room) }
    }

    /// One that is under way.
    private struct Running {
        let number: Int
        var task: any StorageTask
    }

    let status = StorageStatus()
    let segments: SegmentQueue
    /// Orders of commands to the storage.
    let orders: OrderBook<Order>
    /// Small files that others want written.
    let files: FileWrites
    /// Messages of a run before this one that the broker retains.
    private let leftOpen: LeftOpen
    private let link: Link
    private let log: Log
    private let context: Mutex<Outbox.Context>
    private let isChanged = Atomic<Bool>(false)
    private let mustStop = Atomic<Bool>(false)
    private let wake: Wake
    private let ended: Wake

    /// - Parameters:
    ///   - trial: number of the change whose brokers are on trial; 0: none is.
    ///   - answered: of the thread that takes the outcomes of ``orders``.
    init(
        _ configuration: Configuration, topics: Topics, trial: Int = 0, link: Link, log: Log,
        leftOpen: LeftOpen = LeftOpen(), answered: Wake? = nil
    ) throws(AgentError) {
        self.link = link
        self.leftOpen = leftOpen
        self.log = log
        context = Mutex(Outbox.Context(configuration, topics: topics, trial: trial))
        wake = try .make()
        ended = try .make()
        segments = SegmentQueue(wake: wake)
        orders = OrderBook(answered: answered, wake: wake)
        files = FileWrites(wake: wake, answered: answered)
    }

    /// Puts other settings and topics into force with the next round. What waits on disk goes out as it was addressed; the directory stays.
    /// - Parameters:
    ///   - trial: number of the change whose brokers are on trial, 0: none is; nil: as before.
    ///   - confirmed: a trial that was passed just now.
    func change(_ configuration: Configuration, topics: Topics, trial: Int? = nil, confirmed: Int? = nil) {
        context.withLock { context in
            context = Outbox.Context(
                configuration, topics: topics, trial: trial ?? context.trial, confirmed: confirmed ?? context.confirmed)
        }
        isChanged.store(true, ordering: .releasing)
        wake.signal()
    }

    func start() throws(AgentError) {
        if let reason = DetachedThread.start("storage", { self.run() }) {
            throw AgentError("the storage thread cannot be started: \(reason)")
        }
    }

    /// Writes down what is left and closes the files; to be called when the link has stopped.
    /// - Returns: false when it did not end in time.
    func stop(within seconds: Double) -> Bool {
        mustStop.store(true, ordering: .releasing)
        wake.signal()
        return ended.wait(milliseconds: Int32(max(0, min(seconds, 1e6)) * 1000))
    }

    private func run() {
        // (Swift 6.3.1 crashes where this is said in the closure that begins the thread.)
        defer { ended.signal() }
        var due: Int64 = 0
        while true {
            files.work()
            let now = HostClock.monotonic()
            if now >= due {
                do throws(SpoolError) {
                    isChanged.store(false, ordering: .releasing)
                    let context = self.context.withLock { $0 }
                    let outbox = try Outbox.open(context, link: link, status: status, log: log)
                    return work(outbox, hasFailed: due > 0)
                } catch {
                    say(error)
                    due = HostClock.monotonic() + Self.pause
                }
            }
            if mustStop.load(ordering: .acquiring) { return refuseOrders() }
            goWithout()
        }
    }

    private func say(_ error: SpoolError) {
        log.error("storage unavailable: \(error)")
        status.change { $0.problem = error.description }
    }

    /// One round without a disk. What is in memory waits there for the next attempt, as far as it has room.
    private func goWithout() {
        refuseOrders()
        Outbox.letPass(link)
        closeLeftOpen()
        wait(Self.longestWait)
    }

    /// Rounds until the stop. The files stay open through errors: what is in memory and what is on the disk go together.
    private func work(_ opened: consuming Outbox, hasFailed: Bool) {
        var outbox = opened
        var tasks: [Running] = []
        var (due, hasFailed) = (Int64(0), hasFailed)
        while true {
            let isLast = mustStop.load(ordering: .acquiring)
            files.work()
            let now = HostClock.monotonic()
            guard isLast || now >= due else {
                // It can be read, though nothing can be written.
                takeOrders(&tasks, outbox, canWrite: false)
                carryOn(&tasks, &outbox)
                Outbox.letPass(link)
                wait(tasks.isEmpty ? Self.longestWait : 0)
                continue
            }
            var pieces = segments.takeAll()
            let hasPieces = !pieces.isEmpty
            outbox.hear()
            do throws(SpoolError) {
                if isChanged.load(ordering: .acquiring) {
                    isChanged.store(false, ordering: .releasing)
                    try outbox.take(context.withLock { $0 })
                }
                if hasFailed { link.keepAgain(all: false) }
                for message in leftOpen.take() { try outbox.close(message) }
                try outbox.round(&pieces, now: now, wall: HostClock.wall(), isLast: isLast)
                if hasFailed { status.change { $0.problem = nil } }
                hasFailed = false
            } catch {
                say(error)
                // Settings that were not taken are tried again.
                isChanged.store(true, ordering: .releasing)
                segments.putBack(pieces)
                for one in tasks { orders.answer(one.number, .failed(.fullStorage)) }
                tasks.removeAll()
                (hasFailed, due) = (true, HostClock.monotonic() + Self.pause)
            }
            if isLast {
                for one in tasks { orders.answer(one.number, .failed(.noStorage)) }
                return
            }
            if hasFailed { continue }
            if hasPieces, !segments.awaitsFlush {
                // (It may have been the piece before the one that was asked for.)
                for i in tasks.indices {
                    if let wait = tasks[i].task.waitsFor {
                        tasks[i].task.waitsFor = (wait.end, min(wait.until, now + 50_000_000))
                    }
                }
            }
            takeOrders(&tasks, outbox, canWrite: true)
            guard !tasks.isEmpty else {
                wait(Self.longestWait)
                continue
            }
            carryOn(&tasks, &outbox)
            if let next = tasks.first { wait(next.task.waitsFor == nil ? 0 : 20) }
        }
    }

    /// One after the other, and a round between two steps.
    private func carryOn(_ tasks: inout [Running], _ outbox: inout Outbox) {
        guard !tasks.isEmpty else { return }
        do throws(SpoolError) {
            if let wait = tasks[0].task.waitsFor, !outbox.hasAll(until: wait.end), HostClock.monotonic() < wait.until {
                return
            }
            outbox.begins(tasks[0].number)
            guard let outcome = try tasks[0].task.step(&outbox, wall: HostClock.wall()) else { return }
            orders.answer(tasks.removeFirst().number, outbox.isWhole ? outcome : outcome.incomplete)
        } catch {
            outbox.note(error)
            orders.answer(tasks.removeFirst().number, .failed(CodedError("", .internal, error.description)))
        }
    }

    private func takeOrders(_ tasks: inout [Running], _ outbox: borrowing Outbox, canWrite: Bool) {
        guard orders.hasOrders else { return }
        let now = HostClock.monotonic()
        let (topics, hasRing) = context.withLock { ($0.topics, $0.configuration.storage.ringMinutes > 0) }
        for (number, asked) in orders.takeOrders() {
            if case .snapshot = asked.order, !hasRing {
                orders.answer(number, .failed(.noRing))
                continue
            }
            var task = asked.order.task(
                room: asked.room, topics: topics, packetLimit: link.statistics.packetLimit, now: now)
            guard canWrite || task.topic == nil else {
                orders.answer(number, .failed(.fullStorage))
                continue
            }
            if let topic = task.topic { orders.answer(number, .began(["topic": .string(topic)])) }
            // The last seconds are still with the thread that samples.
            if let wait = task.waitsFor, !outbox.hasAll(until: wait.end) {
                if canWrite, hasRing { segments.requestFlush() } else { task.waitsFor = (wait.end, now) }
            }
            tasks.append(Running(number: number, task: task))
        }
    }

    /// Closes what the broker retains as open while there is no disk to ask: from its newest message alone.
    private func closeLeftOpen() {
        let topics = context.withLock { $0.topics }
        for message in leftOpen.take() {
            guard let left = LeftOpenEvent(message, topics: topics, boot: Identity.boot) else { continue }
            let header = Stream.trigger.delivery.header(topic: topics.trigger)
            let event = InterruptedEvent(id: left.id, newest: left.payload, header: header, waveform: [])
            for end in event.messages(segments: [], from: left.onset, topic: nil) ?? [] {
                end.payload.withUnsafeBytes { link.publish(end.header, $0) }
            }
        }
    }

    private func refuseOrders() {
        for (number, _) in orders.takeOrders() { orders.answer(number, .failed(.noStorage)) }
    }

    private func wait(_ milliseconds: Int32) {
        var waited = [link.keeperWake, wake].map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&waited, 2, milliseconds) > 0 else { return }
        if waited[0].revents != 0 { link.keeperWake.clear() }
        if waited[1].revents != 0 { wake.clear() }
    }
}

extension StorageConfiguration {
    /// Reason why the file system has no room for the budget; nil: it has. Asks the disk.
    /// - Parameter used: bytes that the storage has there now.
    func problem(used: Int) -> String? {
        guard let space = DiskSpace(directory) else { return "\(directory): \(String(cString: strerror(errno)))" }
        let room = (Int(clamping: space.free) + used) / 1_000_000
        return budget <= room ? nil : "\(budget) MB is more than \(directory) has room for: at most \(room) MB."
    }
}

extension SpoolOptions {
    /// Values that the settings ask for.
    init(_ configuration: Configuration) {
        let storage = configuration.storage
        self.init(
            directory: storage.directory, budgetBytes: storage.budget * 1_000_000,
            ringSeconds: Double(storage.ringMinutes) * 60, keepEventsSeconds: Double(storage.keepEventsDays) * 86_400,
            keepVibrationSeconds: Double(configuration.vibration.keepDays) * 86_400)
    }
}

/// State of the storage thread for the others.
final class StorageStatus: Sendable {
    struct Words: Sendable {
        /// Reason why the storage is unavailable; nil: it works.
        var problem: String?
        /// The damaged file that was set aside at the start or since, in words.
        var setAside: String?
        /// The files were taken away while they were in use: what, in words, and when (monotonic, ns).
        var taken: (words: String, at: Int64)?
        var statistics = SpoolStatistics()
        /// Messages on disk that the link has in memory as well, and their bytes: they are counted there.
        var inMemory = 0
        var bytesInMemory = 0
    }

    private let words = Mutex(Words())
    /// Natural modes that are stored.
    let modes = Mailbox<FollowedModes>()
    /// Results of the intervals of vibration of the last days.
    let vibration = Mailbox<VibrationPast>()

    var now: Words { words.withLock { $0 } }

    func change(_ body: (inout Words) -> Void) { words.withLock { body(&$0) } }
}

extension AlertFacts.Storage {
    init(_ words: StorageStatus.Words) {
        self.init()
        (problem, setAside, taken) = (words.problem, words.setAside, words.taken)
        let statistics = words.statistics
        // (An alert is of what happens now: the file remembers what an earlier run dropped.)
        for priority in Priority.allCases {
            dropped[priority] = statistics.dropped[priority] - statistics.droppedBefore[priority]
        }
        (damaged, damagedOthers) = (statistics.damaged, statistics.damagedOthers)
        (unknownLosses, rebuiltIndices) = (statistics.unknownLosses, statistics.rebuiltIndices)
        damagedPages = statistics.damagedPages
    }
}

/// Hands findings of earlier runs from the storage thread to the thread that goes on with them.
final class Mailbox<Found: Sendable>: Sendable {
    private let found = Mutex<Found?>(nil)
    private let isThere = Atomic<Bool>(false)

    func put(_ value: Found) {
        found.withLock { $0 = value }
        isThere.store(true, ordering: .releasing)
    }

    /// Nil: there is nothing new. Takes no lock then.
    func take() -> Found? {
        guard isThere.load(ordering: .acquiring) else { return nil }
        isThere.store(false, ordering: .releasing)
        return found.withLock { $0.take() }
    }
}

/// Segments of the waveform ring on their way from the sampling thread to the storage thread, a bounded number of them.
final class SegmentQueue: Sendable {
    struct Item: Sendable {
        var segment: WaveformSegment
        var records: [UInt8]
    }

    private struct State {
        var items: [Item] = []
        var lost = 0

        /// The oldest go.
        mutating func trim() {
            var bytes = items.reduce(0) { $0 + $1.records.count }
            while items.count > SegmentQueue.limit || bytes > SegmentQueue.byteLimit && items.count > 1 {
                bytes -= items.removeFirst().records.count
                lost += 1
            }
        }
    }

    /// Ten minutes in the quiet, one while an event lasts.
    private static let limit = 64
    private static let byteLimit = 1 << 20

    private let state = Mutex(State())
    private let flush = Atomic<Bool>(false)
    /// Signalled when there is something; nil: nobody waits for it.
    private let wake: Wake?

    init(wake: Wake?) { self.wake = wake }

    /// Takes a copy; the oldest for which there is no room are lost, and counted.
    func put(_ segment: WaveformSegment, _ records: UnsafeRawBufferPointer) {
        let item = Item(segment: segment, records: [UInt8](records))
        state.withLock { state in
            state.items.append(item)
            state.trim()
        }
        wake?.signal()
    }

    /// Puts back items that could not be stored, for another try.
    func putBack(_ items: [Item]) {
        guard !items.isEmpty else { return }
        state.withLock { state in
            state.items.insert(contentsOf: items, at: 0)
            state.trim()
        }
    }

    /// Asks the sampling thread for what it has of the newest segment.
    func requestFlush() { flush.store(true, ordering: .releasing) }

    /// True until the sampling thread has heard of it.
    var awaitsFlush: Bool { flush.load(ordering: .acquiring) }

    /// Whether that has been asked for since the last time; without a lock.
    func takeFlush() -> Bool {
        guard flush.load(ordering: .acquiring) else { return false }
        flush.store(false, ordering: .releasing)
        return true
    }

    /// All there are, oldest first.
    func takeAll() -> [Item] {
        state.withLock { state in
            defer { state.items.removeAll() }
            return state.items
        }
    }

    /// Segments that did not fit since the start.
    var lost: Int { state.withLock { $0.lost } }
}

/// Work on the disk that a command orders, a part in each round of the storage thread, so that urgent writes never wait
/// for it.
protocol StorageTask {
    /// Where it sends what it finds; nil: all of it is in the reply, and nothing has to be written for it.
    var topic: String? { get }
    /// The newest samples may have to come from the thread that samples: the time up to which they are wanted (ns of UTC),
    /// and until when they are waited for (monotonic, ns); nil: they are here, or are not waited for.
    var waitsFor: (end: Int64, until: Int64)? { get set }

    /// Goes on with it.
    /// - Parameter wall: of UTC (ns).
    /// - Returns: what became of it, when it is over.
    mutating func step(_ outbox: inout Outbox, wall: Int64) throws(SpoolError) -> OrderOutcome?
}

extension StorageTask {
    var topic: String? { nil }
    var waitsFor: (end: Int64, until: Int64)? {
        get { nil }
        set {}
    }
}

extension StorageOrder {
    /// - Parameters:
    ///   - room: bytes that the result may have; nil: any number.
    ///   - packetLimit: bytes of a packet that the broker takes; nil: nobody has said it.
    ///   - now: of the monotonic clock (ns).
    func task(room: Int?, topics: Topics, packetLimit: Int?, now: Int64) -> any StorageTask {
        switch self {
        case .snapshot(let from, let to, let topic):
            Snapshot(from: from, to: to, topic: topic, now: now, packetLimit: packetLimit)
        case .history(let range, let step, let cbor):
            HistoryRead(range, step: step, cbor: cbor, room: room, now: now)
        case .vibration(let range, let cbor): VibrationRead(range, cbor: cbor, room: room)
        case .modes(let range, let cbor): ModesRead(range: range, isCBOR: cbor, room: room)
        case .resend(let stream, let boot, let wanted):
            Resending(stream: stream, boot: boot, wanted: wanted, topics: topics)
        case .events(let range, let minimum, let likely, let labelled, let limit, let after):
            EventList(
                range: range, minimum: minimum, likely: likely, isLabelled: labelled, limit: limit, after: after,
                room: room)
        case .event(let id, let topic): EventRead(id: id, topic: topic)
        case .label(let id, let label): Labelling(id: id, label: label)
        case .confirm(let confirmation): Confirming(confirmation: confirmation)
        }
    }
}
