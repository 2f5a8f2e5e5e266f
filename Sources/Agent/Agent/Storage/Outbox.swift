import MQTT
import Messages
import MiniSEED
import Settings
import Spool
import Station
import Values
import Vibration

/// Moves messages between the link's memory and the disk, one round after the other, each with the time. For the
/// storage thread alone.
struct Outbox: ~Copyable {
    /// Settings that it needs.
    final class Context: Sendable {
        let configuration: Configuration
        let topics: Topics
        /// Number of the change whose brokers are on trial, and of the one that was confirmed last; 0: none.
        let trial: Int
        let confirmed: Int

        init(_ configuration: Configuration, topics: Topics, trial: Int = 0, confirmed: Int = 0) {
            (self.configuration, self.topics, self.trial, self.confirmed) = (configuration, topics, trial, confirmed)
        }
    }

    /// Age from which a message that waits for the broker is no longer live data (ns).
    static let liveTime: UInt64 = 10_000_000_000
    /// Half of what the link's memory takes.
    private static let spillBytes = 2 << 20
    private static let spillMessages = 2048
    private static let withdrawPause: Int64 = 10_000_000_000
    private static let trimPause: Int64 = 60_000_000_000
    /// The log is folded into the file so long after an essential message, and this often in any case: what stands in the
    /// log is lost with a single bad page, and it is written twice anyway.
    private static let quiet: Int64 = 10_000_000_000
    private static let foldPause: Int64 = 600_000_000_000
    private static let checkPause: Int64 = 3_600_000_000_000
    /// Messages in one transaction.
    private static let batch = 64
    /// Batches that are read from disk in one round.
    private static let batchesInARow = 16

    private var context: Context
    private let link: Link
    private let status: StorageStatus
    private let log: Log
    var spool: Spool
    private var backfill = Backfill()
    private var trial = TrialDeliveries()
    private var payload: [UInt8] = []
    private var settled: [Settlement] = []
    private var kept: [(ticket: KeepTicket, key: Int64, bytes: Int)] = []
    /// Number of the last look at held messages.
    private var holdNumber: UInt64 = 0
    private var withdrawDue: Int64 = 0
    private var trimDue: Int64 = 0
    /// Messages of delivered events that were deleted, as of the last time that it was said.
    private var deleted = (age: 0, room: 0)
    /// True when the stored modes have been handed to the thread that finds new ones.
    private var hasRecalledModes = false
    private var foldDue: Int64 = 0
    private var lastFold: Int64 = 0
    /// Damage that somebody has come upon since the last round, such as an answer: the next round begins with it.
    private var damage: SpoolError?
    private var damages = 0
    /// Task under way, and the rows that could not be read when it began.
    private var reading: (task: Int, gaps: Int)?
    /// Messages stored under the host's name; nil: the station is called so.
    private var former: FormerName?
    /// Messages of it that were sent under the station's name or given up, the last of each line, and how many of them
    /// the log has.
    private var renamed = (essential: Int64(0), rest: Int64(0), count: 0, lost: 0, said: 0)
    /// When this run began (ns of UTC).
    private let begun = HostClock.wall()
    /// (The opening has looked at all of it.)
    private var checkDue = HostClock.monotonic() + checkPause
    /// Withdrawn from memory, and not yet on the disk.
    private var withdrawn: [(header: PublicationHeader, payload: [UInt8], made: Int64)] = []

    /// Opens the files, closes events that the agent before this one could not close, and says again what the last one
    /// was.
    static func open(
        _ context: Context, link: Link, status: StorageStatus, log: Log
    ) throws(SpoolError) -> Outbox {
        var spool = try Spool.open(SpoolOptions(context.configuration), now: HostClock.monotonic())
        report(spool.setAsideFile, status, log)
        do throws(SpoolError) {
            try begin(&spool, context, link: link, log: log)
            // Before any interval of this run is there.
            let vibration = context.configuration.vibration
            let past = try spool.vibrationPast(
                vibration.measurement, offset: vibration.utcOffset, now: HostClock.wall())
            if past.newest != nil { status.vibration.put(past) }
        } catch {
            // Damage that is found only now is no other than that which the opening finds.
            guard error.isDamage || error.isGone else { throw error }
            log.error("storage files damaged or removed, new ones are created: \(error)")
            try spool.recover()
            report(spool.setAsideFile, status, log)
            try begin(&spool, context, link: link, log: log)
        }
        return Outbox(spool, context, link: link, status: status, log: log)
    }

    private static func begin(
        _ spool: inout Spool, _ context: Context, link: Link, log: Log
    ) throws(SpoolError) {
        let closed = try InterruptedEvents.close(&spool, context)
        if closed > 0 {
            log.notice("events that were open when the agent last stopped are closed", ["events": .int(closed)])
        }
        if let last = try spool.lastEnd() {
            let header = Stream.last.delivery.header(topic: context.topics.last)
            let former = FormerName(host: HostStatus.stationID(), topics: context.topics)
            let payload = former?.renamed(last) ?? last.payload
            payload.withUnsafeBytes { link.publish(header, $0) }
        }
    }

    // Apart from what may fail: Swift 6.0.3 cannot compile the two together.
    private init(
        _ spool: consuming Spool, _ context: Context, link: Link, status: StorageStatus, log: Log
    ) {
        self.context = context
        self.link = link
        self.status = status
        self.log = log
        self.spool = spool
        former = FormerName(host: HostStatus.stationID(), topics: context.topics)
        _ = trial.change(trial: context.trial, confirmed: context.confirmed)
        let statistics = self.spool.statistics
        deleted = (statistics.deletedForAge, statistics.deletedForRoom)
    }

    /// Other settings, from now on.
    mutating func take(_ new: Context) throws(SpoolError) {
        let isOther = new.configuration.vibration.keepDays != context.configuration.vibration.keepDays
        if isOther || new.configuration.storage != context.configuration.storage {
            try spool.reconfigure(SpoolOptions(new.configuration))
            trimDue = 0
        }
        context = new
        former = FormerName(host: HostStatus.stationID(), topics: new.topics)
        guard let counting = trial.change(trial: new.trial, confirmed: new.confirmed) else { return }
        for one in counting { try settle(one) }
        try spool.commit()
        backfill.beginAnew()
    }

    private static func report(_ file: SetAsideFile?, _ status: StorageStatus, _ log: Log) {
        guard let file else { return }
        let words = file.description
        if file.kind == .gone {
            status.change { $0.taken = (words, HostClock.monotonic()) }
        } else {
            log.error("stored data was damaged", ["file": .text(words)])
            status.change { $0.setAside = words }
        }
    }

    /// Closes an event of a run before this one that the broker retains as open, unless the disk knows of its end.
    mutating func close(_ message: InboundMessage) throws(SpoolError) {
        guard let left = LeftOpenEvent(message, topics: context.topics, boot: Identity.boot) else { return }
        let (isClosed, last) = try InterruptedEvents.close(left, until: begun, &spool, context)
        guard isClosed else { return }
        log.notice(
            "an event of the former run that only the broker knew of is closed", ["event": .text(left.id)])
        let header = Stream.last.delivery.header(topic: context.topics.last)
        last?.withUnsafeBytes { link.publish(header, $0) }
    }

    /// Does all storage work that is due now.
    /// - Parameters:
    ///   - segments: of the ring; emptied when they are on the disk.
    ///   - now: of the monotonic clock; `wall`: of UTC (ns).
    ///   - isLast: the process ends: all that is in memory goes to the disk.
    mutating func round(
        _ segments: inout [SegmentQueue.Item], now: Int64, wall: Int64, isLast: Bool
    ) throws(SpoolError) {
        do throws(SpoolError) {
            if let damage { throw damage }
            try work(&segments, now: now, wall: wall, isLast: isLast)
        } catch {
            guard error.isDamage || error.isGone || spool.isWithoutFile else { throw error }
            try beginAnew(after: error)
            try work(&segments, now: now, wall: wall, isLast: isLast)
        }
        if let finding = spool.takeFinding() {
            log.error("stored data was damaged", ["found": .text(finding)])
            status.change { $0.setAside = finding }
            // What an index has hidden is offered now.
            backfill.beginAnew()
        }
        let (statistics, inMemory, bytes) = (spool.statistics, backfill.count, backfill.bytes)
        status.change {
            $0.statistics = statistics
            ($0.inMemory, $0.bytesInMemory) = (inMemory, bytes)
        }
    }

    /// The files are damaged, or are not there any more: what is in memory goes to the new ones.
    private mutating func beginAnew(after error: SpoolError) throws(SpoolError) {
        log.error("storage files damaged or removed, new ones are created: \(error)")
        let known = settled.filter(\.outcome.isFinal).map(\.key)
        try spool.recover(except: link.keptKeys().union(known))
        damage = nil
        link.keepAgain(all: true)
        settled.removeAll()
        backfill = Backfill()
        Self.report(spool.setAsideFile, status, log)
    }

    /// An error of a command that read the files: the next round begins with it.
    mutating func note(_ error: SpoolError) {
        if error.isDamage || error.isGone { damage = error }
    }

    private mutating func work(
        _ segments: inout [SegmentQueue.Item], now: Int64, wall: Int64, isLast: Bool
    ) throws(SpoolError) {
        if try keep(wall: wall) { foldDue = min(lastFold + Self.foldPause, now + Self.quiet) }
        try settle()
        for item in segments {
            let segment = RingSegment(item.segment, item.records.starts(with: [0x4D, 0x53, 3]) ? .v3 : .v2)
            try item.records.withBytes { bytes throws(SpoolError) in try spool.appendSegment(segment, bytes) }
        }
        if !segments.isEmpty {
            try spool.commit()
            segments.removeAll()
        }
        let waiting = link.statistics
        // Before memory is full and drops something, all of it that may goes to the disk.
        let isTight = waiting.queueBytes > Self.spillBytes || waiting.queueMessages > Self.spillMessages
        // What is on disk need not take the place of what is not: it comes back when the broker is there.
        if isTight, !waiting.connected { link.setOverflow(true) }
        if now >= withdrawDue || isLast || isTight {
            withdrawDue = now + Self.withdrawPause
            try withdraw(waitedLonger: isLast || isTight ? 0 : Self.liveTime, wall: wall)
        }
        if waiting.connected, !isLast {
            try feed(wall: wall)
            sayRenamed()
        }
        if now >= trimDue || isLast {
            trimDue = now + Self.trimPause
            try spool.trim(now: now)
            try spool.checkpoint()
            sayDeleted()
            if context.configuration.vibration.modes, !hasRecalledModes {
                status.modes.put(try spool.followedModes())
                hasRecalledModes = true
            }
        }
        if now >= checkDue {
            checkDue = now + Self.checkPause
            try spool.check()
        }
        if now >= foldDue {
            (lastFold, foldDue) = (now, now + Self.foldPause)
            try spool.checkpoint(whole: true)
        }
        if isLast {
            try spool.storeLevels()
            try spool.storeVibration()
            try spool.makeDurable()
        }
    }

    /// Says what of delivered events had to go since the last time.
    private mutating func sayDeleted() {
        let statistics = spool.statistics
        let (age, room) = (statistics.deletedForAge - deleted.age, statistics.deletedForRoom - deleted.room)
        deleted = (statistics.deletedForAge, statistics.deletedForRoom)
        if age > 0 {
            log.notice("stored events were older than storage.keep_events_days: deleted", ["messages": .int(age)])
        }
        if room > 0 {
            log.notice("stored events that the broker has were deleted for want of room", ["messages": .int(room)])
        }
    }

    /// Without a disk messages leave at once.
    static func letPass(_ link: Link) {
        var payload: [UInt8] = []
        while let message = link.takeUnkept(into: &payload) { link.cannotKeep(message.ticket) }
    }

    // MARK: Answers

    /// Settings of vibration.
    var vibration: VibrationConfiguration { mutating get { context.configuration.vibration } }

    /// Bytes of a packet that the broker takes; nil: nobody has said it.
    var packetLimit: Int? { link.statistics.packetLimit }

    /// Rows that could not be read, and errors that reading met.
    private var gaps: Int { spool.unread + damages }

    /// An error that an answer came upon: of damage the answer says that it is not whole, and the files are mended with the
    /// next round.
    mutating func met(_ error: SpoolError) throws(SpoolError) {
        guard error.isDamage else { throw error }
        damage = damage ?? error
        damages += 1
    }

    /// To be called before each step of a task.
    mutating func begins(_ task: Int) {
        if reading?.task != task { reading = (task, gaps) }
    }

    /// Whether the task under way could read all that it wanted.
    var isWhole: Bool { reading.map { $0.gaps == gaps } ?? true }

    /// Whether the ring goes on beyond a time.
    func hasAll(until end: Int64) -> Bool {
        guard let newest = spool.newestSegment else { return false }
        return newest.end >= end
    }

    // MARK: Live messages

    /// Writes down what must survive, lets it go, and then makes it safe from a power cut too: so that an alert is not
    /// late by the time that a memory card takes.
    /// - Returns: whether there was anything.
    private mutating func keep(wall: Int64) throws(SpoolError) -> Bool {
        var any = false
        while true {
            kept.removeAll(keepingCapacity: true)
            while kept.count < Self.batch, let message = link.takeUnkept(into: &payload) {
                do throws(SpoolError) {
                    let made = wall - Int64(clamping: message.waited)
                    let key = try payload.withBytes { bytes throws(SpoolError) in
                        try spool.put(message.header, bytes, made: made)
                    }
                    try store(message.header)
                    kept.append((message.ticket, key, payload.count))
                } catch {
                    link.cannotKeep(message.ticket)
                    for one in kept { link.cannotKeep(one.ticket) }
                    throw error
                }
            }
            guard !kept.isEmpty else { return any }
            any = true
            do throws(SpoolError) { try spool.commit() } catch {
                for one in kept { link.cannotKeep(one.ticket) }
                throw error
            }
            // Where the broker cannot tell the next run which event was open, the disk has to know before anybody hears.
            let mustBeDurable = link.statistics.canReadBack == false
            if mustBeDurable { try spool.makeDurable() }
            for one in kept {
                switch link.markKept(one.ticket, key: one.key) {
                case .waiting: backfill.took(one.key, bytes: one.bytes)
                case .settled(let outcome): settled.append(Settlement(key: one.key, outcome: outcome))
                }
            }
            if !mustBeDurable { try spool.makeDurable() }
        }
    }

    /// Stores the part of the message in `payload` that is kept when the broker has it: intervals of vibration, and
    /// modes.
    private mutating func store(_ header: PublicationHeader) throws(SpoolError) {
        let topics = context.topics
        guard header.topic == topics.vibration || header.topic == topics.modes,
            let message = try? JSONReader.read(payload)
        else { return }
        if header.topic == topics.modes {
            if let modes = ModesMessage(message) { try spool.storeModes(modes) }
        } else if let record = VibrationRecord(message) {
            try spool.storeVibration(record)
        }
    }

    /// Hears from the link how messages ended. To be called before other settings are taken: the link has them later, so that
    /// no broker on trial is heard of that is not known as one.
    mutating func hear() { link.takeSettled(into: &settled) }

    /// Takes down how messages ended.
    private mutating func settle() throws(SpoolError) {
        guard !settled.isEmpty else { return }
        for one in settled { try settle(one) }
        settled.removeAll(keepingCapacity: true)
        try spool.commit()
    }

    private mutating func settle(_ one: Settlement) throws(SpoolError) {
        var outcome: Settlement.Outcome? = one.outcome
        if case .onTrial(let number, let end) = one.outcome {
            switch trial.take(one.key, end, trial: number) {
            case .counts(let end): outcome = end
            case .waits: outcome = nil
            case .isVoid: outcome = .displaced
            }
        }
        // What is held is looked at once more, and passed over if it still is.
        backfill.settled(one.key, isDisplaced: outcome == .displaced || outcome == .held)
        let line = one.key & 3 == 0 ? SpoolLine.essential : .rest
        switch outcome {
        case .delivered: _ = try spool.settle(one.key, .delivered)
        case .refused(let reason): _ = try spool.settle(one.key, .refused(reason: reason))
        // Brokers change. 149: packet too large.
        case .tooLarge where line == .essential: backfill.held(one.key, line)
        case .tooLarge: _ = try spool.settle(one.key, .refused(reason: 149))
        case .abandoned where backfill.struck(one.key): backfill.held(one.key, line)
        // What was given up counts as an unspecified error.
        case .abandoned: _ = try spool.settle(one.key, .refused(reason: 128))
        case .displaced, .held, .onTrial, nil: break
        }
    }

    /// Writes down traces and the like that the broker has not taken for a while.
    private mutating func withdraw(waitedLonger nanoseconds: UInt64, wall: Int64) throws(SpoolError) {
        while true {
            while withdrawn.count < Self.batch,
                let (header, waited) = link.withdraw(waitedLonger: nanoseconds, into: &payload)
            { withdrawn.append((header, payload, wall - Int64(clamping: waited))) }
            guard !withdrawn.isEmpty else { return }
            for one in withdrawn {
                _ = try one.payload.withBytes { bytes throws(SpoolError) in
                    try spool.put(one.header, bytes, made: one.made)
                }
            }
            try spool.commit()
            withdrawn.removeAll(keepingCapacity: true)
        }
    }

    // MARK: What is on disk

    /// Offers the link what waits on disk, the important first, as far as it has room.
    private mutating func feed(wall: Int64) throws(SpoolError) {
        // More of it could not be remembered.
        if trial.isFull { return }
        let number = link.holdNumber
        if number != holdNumber { backfill.rewind() }
        holdNumber = number
        // What is held may be much: a part in each round, so that what is new need not wait.
        var batches = 0
        for line in [SpoolLine.essential, .rest] {
            while true {
                batches += 1
                guard batches <= Self.batchesInARow else { return }
                let messages = try spool.next(
                    line, after: backfill.cursor(line), messages: Self.batch, bytes: 262_144)
                guard !messages.isEmpty else { break }
                for message in messages {
                    if backfill.isInMemory(message.key) || trial.holds(message.key) {
                        backfill.passed(message.key, line)
                        continue
                    }
                    guard let message = try named(message, line) else { continue }
                    let header = Self.lateHeader(message, context, wall: wall)
                    // What was passed over just now may be offered, and is older: the next round begins with it.
                    guard link.holdNumber == number else { return }
                    // One over which a connection ended takes turns with the others of its topic.
                    let isForTrial = number % 2 == 0 || !backfill.isStruck(message.key)
                    guard link.mayOffer(header, key: message.key, isForTrial: isForTrial) else {
                        try pass(message, line)
                        continue
                    }
                    let taken = message.payload.withUnsafeBytes {
                        link.offerBackfill(header, key: message.key, $0)
                    }
                    guard taken else { return }
                    backfill.offered(message.key, line, bytes: message.payload.count)
                }
            }
        }
        // Everything older is on its way: what comes now may be sent from memory again.
        if link.isOverflowing, backfill.count == 0 { link.setOverflow(false) }
    }

    /// The message as it is sent: under the station's name. Nil: it cannot be, and is given up.
    private mutating func named(_ message: StoredMessage, _ line: SpoolLine) throws(SpoolError) -> StoredMessage? {
        guard let former else { return message }
        let isNew = message.key > (line == .essential ? renamed.essential : renamed.rest)
        let outcome = former.rename(message)
        if case .unchanged = outcome { return message }
        if isNew {
            if line == .essential { renamed.essential = message.key } else { renamed.rest = message.key }
            renamed.count += 1
        }
        if case .changed(let present) = outcome { return present }
        renamed.lost += isNew ? 1 : 0
        try spool.giveUp(message.key)
        return nil
    }

    private mutating func sayRenamed() {
        guard renamed.count > renamed.said, let former else { return }
        renamed.said = renamed.count
        log.notice(
            "messages that were stored under the host's name are sent under that of the station",
            [
                "stored_as": .text(former.former), "messages": .int(renamed.count),
                "given_up": .int(renamed.lost),
            ])
    }

    /// A message that is refused for now waits, until it is older than events are kept.
    private mutating func pass(_ message: StoredMessage, _ line: SpoolLine) throws(SpoolError) {
        let longest = max(spool.options.keepEventsSeconds, 86_400)
        guard Double(spool.age(of: message.key)) / 1e9 <= longest else { return try spool.giveUp(message.key) }
        backfill.held(message.key, line)
    }

    /// How a message from disk is sent: what has outlived its time goes below `data/history`, as do traces and summaries
    /// always; the others keep their topic, and what is left of their time.
    private static func lateHeader(
        _ message: StoredMessage, _ context: Context, wall: Int64
    ) -> PublicationHeader {
        var header = message.header
        header.qos = 1
        guard !header.isHistory else { return header }
        let age = max(0, (wall - message.made) / 1_000_000_000)
        if header.priority == .essential {
            guard let expiry = header.expiry else { return header }
            if age < Int64(expiry) {
                header.expiry = expiry - UInt32(age)
                return header
            }
        }
        header.topic = context.topics.history(of: header.topic)
        header.isHistory = true
        header.expiry = nil
        return header
    }
}

extension [UInt8] {
    /// The bytes, for a body that throws the spool's errors.
    func withBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws(SpoolError) -> R
    ) throws(SpoolError) -> R {
        let result = withUnsafeBytes { bytes -> Result<R, SpoolError> in
            do throws(SpoolError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension RingSegment {
    fileprivate init(_ segment: WaveformSegment, _ format: MiniSEEDFormat) {
        self.init(
            start: segment.start, end: segment.end, samples: segment.samples, rate: segment.rate, format: format,
            unit: segment.unit)
    }
}

extension Link {
    /// True while a broker has accepted us.
    var isConnected: Bool { statistics.connected }
}
