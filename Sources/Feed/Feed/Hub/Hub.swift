import DatabaseFiles
import Exchange
import Messages
import MiniSEED
import Settings
import Values

/// A point in time, of both clocks.
public struct Moment: Sendable, Equatable {
    /// Seconds since some beginning; never goes back.
    public var monotonic: Double
    /// Nanoseconds of UTC.
    public var utc: Int64
    public init(monotonic: Double, utc: Int64) { (self.monotonic, self.utc) = (monotonic, utc) }
}

/// Takes what stations publish, brings it into order, packs it, and has it on the disk before anybody is told. It has no
/// clock, no connection and no thread: a program around it hands it what has come, with the time.
public final class Hub {
    /// Functions that the hub needs of the program around it.
    public struct Surroundings {
        /// Sends a command: its topic and payload.
        public var send: (String, [UInt8]) -> Void
        /// Writes a line of the log.
        public var say: (String) -> Void
        /// Gets the samples of stations in order, by the station's id.
        public var follow: ((String, ChannelBlock) -> Void)?
        /// Records that another server has been given, where that has changed.
        public var given: () -> [String: UInt64]?

        public init(
            send: @escaping (String, [UInt8]) -> Void, say: @escaping (String) -> Void,
            follow: ((String, ChannelBlock) -> Void)? = nil, given: @escaping () -> [String: UInt64]? = { nil }
        ) { (self.send, self.say, self.follow, self.given) = (send, say, follow, given) }
    }

    /// One channel on its way into the ring.
    private struct Channel {
        /// Its station's place in the archive, and its own number in the ring.
        var station: Int
        var number: Int64
        var flow: ChannelFlow
        var packetiser: Packetiser
        /// Whether the disk's copy is out of date.
        var isChanged = false
        /// Holes since the oldest of them were forgotten.
        var holes = 0
    }

    /// Packets of a station in memory.
    private static let recentPackets = 48
    private static let mostChannels = 20_000
    /// Channels of one station, and station codes that it may have had.
    private static let (mostOfStation, mostCodes) = (32, 8)
    private static let mostHoles = 4096
    private static let missingLines = 10

    private let settings: FeedSettings
    private let ring: Ring
    private let shared: SharedState
    private let wishes: FetchWishes
    private let surroundings: Surroundings
    private let reading: TraceReading
    private var directory: StationDirectory
    private var requests: SampleRequests
    private var refusals = Refusals()
    private let events: EventArchive
    private var messages: MessageArchive
    private var channels: [SourceIdentifier: Channel] = [:]
    private var stationIndex: [String: Int] = [:]
    /// Packets of each channel in the ring, by its number.
    private var packetCounts: [Int64: Int]
    private var contents = SharedState.Contents()
    private var nextTrim = -Double.infinity
    private var nextForwarded = -Double.infinity
    /// How often holes of a station were said in a minute.
    private var said: [Int: (minute: Double, lines: Int)] = [:]
    private var now = Moment(monotonic: 0, utc: 0)

    /// - Parameters:
    ///   - ring: the connection that writes.
    ///   - wishes: what clients want that the ring does not have.
    ///   - run: what tells this run of the feed from others, for the ids of its commands.
    ///   - now: when it begins.
    public init(
        _ settings: FeedSettings, ring: Ring, shared: SharedState, wishes: FetchWishes, run: String, at now: Moment,
        _ surroundings: Surroundings
    ) throws(DatabaseError) {
        (self.settings, self.ring, self.shared, self.wishes) = (settings, ring, shared, wishes)
        self.surroundings = surroundings
        reading = TraceReading(signals: settings.signals)
        directory = StationDirectory(settings: settings)
        requests = SampleRequests(run: run)
        events = try EventArchive(ring: ring, mostBytes: settings.megabytes * 250_000)
        messages = MessageArchive(ring: ring, mostBytes: settings.megabytes * 250_000)
        packetCounts = try ring.packetCounts()
        self.now = now
        try restore()
        publish(isConnected: false)
    }

    // MARK: What a former run has left

    private func restore() throws(DatabaseError) {
        let kept = try ring.channels()
        for station in try ring.stations() {
            let streams = kept.filter { $0.station == station.number }.compactMap { channel -> FeedStream? in
                guard let begin = channel.begin, let end = channel.end else { return nil }
                // (With none in order, all of it was fetched later.)
                return FeedStream(
                    location: channel.location, channel: channel.code, begin: begin, end: end,
                    orderedBegin: channel.orderedBegin ?? end)
            }
            add(
                FeedStation(
                    network: station.network, code: station.code, description: station.id, first: station.first,
                    last: station.last, streams: streams), number: station.number, id: station.id)
        }
        for message in try ring.messages() {
            learn(message.station, message.topic, message.payload)
            messages.know(message.station, message.topic, bytes: message.payload.count)
        }
        let tails = Dictionary(try ring.tails().map { ($0.channel, $0) }) { $1 }
        for channel in kept {
            guard let index = contents.numbers.firstIndex(of: channel.station) else { continue }
            let station = contents.stations[index]
            contents.channels[index][FeedStream.key(channel.location, channel.code)] = channel.number
            let source = SourceIdentifier(
                network: station.network, station: station.code, location: channel.location, channel: channel.code)
            guard var packetiser = try? Packetiser(source: source, rate: channel.rate) else { continue }
            if let tail = tails[channel.number] {
                packetiser.restore(
                    ChannelBlock(source: source, start: tail.start, rate: channel.rate, samples: tail.samples))
            }
            // (What a wrong clock has left in the future does not keep the right time out.)
            let next = channel.next.flatMap { $0 > now.utc + ahead ? nil : $0 }
            channels[source] = Channel(
                station: index, number: channel.number, flow: ChannelFlow(next: next), packetiser: packetiser)
        }
        try messages.limit(hasSamples)
        if !contents.stations.isEmpty { surroundings.say("continuing with \(contents.stations.count) stations") }
        let old = try ring.takeOldEvents()
        for event in old { try takeEvent(event.owner, event.payload, isNetwork: event.owner == "network") }
    }

    private func hasSamples(_ id: String) -> Bool { contents.ids.values.contains(id) }

    private func add(_ station: FeedStation, number: Int64, id: String) {
        stationIndex[station.identifier] = contents.stations.count
        contents.stations.append(station)
        contents.numbers.append(number)
        contents.channels.append([:])
        contents.recent.append([])
        contents.ids[station.identifier] = id
    }

    // MARK: A round

    /// Nanoseconds that a time may be ahead of the clock.
    private var ahead: Int64 { Int64(settings.aheadSeconds * 1e9) }
    /// Nanoseconds of UTC before which nothing is kept.
    private var oldest: Int64 { now.utc - Int64(settings.days * 86_400e9) }

    /// Takes what has come, and does what is due.
    /// - Parameters:
    ///   - isConnected: to the broker.
    ///   - shakeSent: datagrams that were sent so far of what is followed.
    /// - Returns: whether there are new packets for clients.
    public func round(
        _ taken: FairInbox.Taken, at now: Moment, isConnected: Bool, shakeSent: Int = 0
    ) throws(DatabaseError) -> Bool {
        self.now = now
        contents.counts.shakeSent = shakeSent
        contents.counts.dropped += taken.dropped
        contents.counts.messages += taken.messages.count
        for (id, count) in taken.refused {
            refuse(
                id, .messages, count: count, "\(count) messages came faster than the feed takes them, and were dropped")
        }
        let packets = contents.counts.packets
        var rest = taken.messages[...]
        while let parcel = nextParcel(&rest) {
            try ring.transaction { () throws(DatabaseError) in for message in parcel { try take(message) } }
            // What came at once does not go beyond the folder's limit until the next minute.
            if try ring.usedBytes() > mostBytes { try ring.transaction { () throws(DatabaseError) in try trim() } }
        }
        try ring.transaction { () throws(DatabaseError) in
            for source in Array(channels.keys) { try settle(source) }
            try writeTails()
            if now.monotonic >= nextForwarded {
                nextForwarded = now.monotonic + 1
                if let given = surroundings.given() { try ring.set(given: given, to: settings.dataLink) }
            }
        }
        for wish in wishes.take() { requests.take(wish, now: now.monotonic) }
        for command in requests.advance(now: now.monotonic) { send(command) }
        if now.monotonic >= nextTrim {
            nextTrim = now.monotonic + 60
            try ring.transaction { () throws(DatabaseError) in try trim() }
        }
        publish(isConnected: isConnected)
        return contents.counts.packets != packets
    }

    /// Bytes that the file may have beside its log.
    private var mostBytes: Int {
        let folder = settings.megabytes * 1_000_000
        return folder - Ring.logBytes(of: folder)
    }

    /// The next messages that go to the disk at once: not more than the log has room for, and one at least.
    private func nextParcel(_ rest: inout ArraySlice<InboundMessage>) -> ArraySlice<InboundMessage>? {
        guard !rest.isEmpty else { return nil }
        var bytes = 0
        let most = Ring.logBytes(of: settings.megabytes * 1_000_000) / 2
        let count = rest.prefix { message in
            bytes += message.payload.count
            return bytes <= most
        }.count
        defer { rest = rest.dropFirst(max(1, count)) }
        return rest.prefix(max(1, count))
    }

    private func publish(isConnected: Bool) {
        contents.isConnected = isConnected
        contents.states = directory.states
        contents.rates = directory.rates
        contents.events = events.index
        contents.counts.refused = refusals.counts
        shared.change { $0 = contents }
    }

    private func refuse(_ id: String, _ reason: FeedRefusal, count: Int = 1, _ words: @autoclosure () -> String) {
        if let line = refusals.note(reason, of: id, count: count, at: now.monotonic, words()) { surroundings.say(line) }
    }

    private func send(_ command: SampleRequests.Command) {
        contents.counts.asked += 1
        let body: Value = [
            "id": .string(command.id), "source": "seismote feed",
            "from": .string(Timestamp(nanoseconds: command.from).description),
            "to": .string(Timestamp(nanoseconds: command.to).description),
        ]
        surroundings.send("\(settings.root)/\(command.station)/cmd/snapshot", body.json())
    }

    // MARK: Messages

    private func take(_ message: InboundMessage) throws(DatabaseError) {
        if let topic = Topics.rest(of: message.topic, below: "\(settings.root)/network") {
            guard topic == "event" || topic == "event/last" else { return }
            guard !message.isTooLarge else { return refuse("network", .size, "a message of \(message.size) bytes") }
            return try takeEvent("network", message.payload, isNetwork: true)
        }
        guard let (id, topic) = Topics.split(message.topic, root: settings.root) else { return }
        guard !message.isTooLarge else { return refuse(id, .size, "\(topic) has \(message.size) bytes") }
        if topic == "data/trace" || topic == "state/level", !message.isRetained { directory.isAlive(id) }
        switch topic {
        case "data/trace", "data/history/trace": try takeTrace(id, message)
        case "state/online": directory.setOnline(id, message.payload == Array("online".utf8))
        case "state/info", "state/config", "state/level", "state/health", "data/vibration":
            guard learn(id, topic, message.payload) else { return }
            if topic == "state/info" || topic == "state/config" {
                try messages.set(id, topic, message.payload, hasSamples: hasSamples)
                for one in directory.release(id) { try takeTrace(id, one) }
            }
        case "event/trigger", "event/last", "data/history/event/trigger":
            if directory.serves(id) != false { try takeEvent(id, message.payload, isNetwork: false) }
        default:
            let waveform = "data/history/waveform/"
            if topic.hasPrefix(waveform + "feed-") {
                let isWanted = requests.isWanted(id, String(topic.dropFirst(waveform.count)))
                guard let unit = directory.identity(of: id)?.unit else { return }
                isWanted ? try takeFetched(id, message, unit: unit) : try takeTrace(id, message, unit: unit)
            } else if topic.hasPrefix("res/feed-"), let reply = try? JSONReader.read(message.payload) {
                requests.reply(id, ReplyReading(reply), now: now.monotonic)
            }
        }
    }

    /// - Returns: whether it is believed.
    @discardableResult
    private func learn(_ id: String, _ topic: String, _ payload: [UInt8]) -> Bool {
        do throws(StationDirectory.Problem) {
            try directory.learn(id, topic, payload, now: now.monotonic)
        } catch {
            refuse(id, error.reason, error.words)
            if error.reason != .codes { return false }
        }
        guard let identity = directory.identity(of: id) else { return true }
        if let index = stationIndex["\(identity.codes.network)_\(identity.codes.station)"],
            contents.ids[contents.stations[index].identifier] == id, !identity.description.isEmpty
        {
            contents.stations[index].description = identity.description
        }
        return true
    }

    private func takeEvent(_ owner: String, _ payload: [UInt8], isNetwork: Bool) throws(DatabaseError) {
        let window = EventReading.Window(oldest: oldest, now: now.utc, ahead: ahead)
        let read: EventReading.Reading
        do throws(StationDirectory.Problem) {
            read =
                isNetwork
                ? try EventReading.network(payload, window) : try EventReading.station(owner, payload, window)
        } catch {
            return refuse(owner, error.reason, error.words)
        }
        switch read {
        case .nothing: break
        case .withdrawn(let id, let version): try events.withdraw(id, version: version)
        case .event(let event):
            for (giver, count) in try events.add(event) {
                refuse(giver, .events, count: count, "has more events than are kept of a station; its oldest go")
            }
        }
    }

    // MARK: Samples

    private func takeTrace(_ id: String, _ message: InboundMessage, unit: Double? = nil) throws(DatabaseError) {
        guard let identity = directory.identity(of: id) else {
            if directory.hold(message, of: id, now: now.monotonic) {
                surroundings.send("\(settings.root)/\(id)/cmd/rebirth", Array("{}".utf8))
            }
            for one in directory.release(id) { try takeTrace(id, one, unit: unit) }
            return
        }
        let isHistory = message.topic.contains("/data/history/")
        guard
            let blocks = reading.blocks(
                message.payload, codes: identity.codes, unit: unit ?? TraceReading.unitPerCount)
        else {
            contents.counts.unreadable += 1
            return
        }
        for block in blocks {
            // What was asked for is at the sensor's rate: other channels are none of it.
            if unit != nil, channels[block.source] == nil { continue }
            guard isOfThisTime(block, id), try open(block, id) else { continue }
            let steps = channels[block.source]?.flow.take(
                block, now: now.monotonic, patience: settings.patience, isHistory: isHistory, clock: now.utc)
            try follow(steps ?? [], block.source)
        }
    }

    /// A clock that is wrong must not keep the right one out.
    private func isOfThisTime(_ block: ChannelBlock, _ id: String) -> Bool {
        if block.end > now.utc + ahead {
            refuse(
                id, .future,
                "samples of \(Timestamp(nanoseconds: block.start)) end after the feed's clock; feed.ahead_s allows "
                    + "\(Int(settings.aheadSeconds)) s. Check the clocks of both")
            return false
        }
        if block.end < oldest {
            refuse(
                id, .old,
                "samples of \(Timestamp(nanoseconds: block.start)) are older than what the ring keeps (feed.days)")
            return false
        }
        return true
    }

    /// Makes a place for a channel that is new.
    /// - Returns: false where there is none for it.
    private func open(_ block: ChannelBlock, _ id: String) throws(DatabaseError) -> Bool {
        let source = block.source
        if let channel = channels[source] {
            guard isOwner(id, of: contents.stations[channel.station].identifier) else { return false }
            if channel.packetiser.rate == block.rate { return true }
            // Another rate: another series from now on.
            try emit(source) { $0.flush() }
            guard let packetiser = try? Packetiser(source: source, rate: block.rate) else { return false }
            channels[source]?.packetiser = packetiser
            return true
        }
        guard let packetiser = try? Packetiser(source: source, rate: block.rate) else {
            refuse(id, .codes, "samples of \(source.channel) at \(block.rate) Hz do not fit into miniSEED 2")
            return false
        }
        let identifier = "\(source.network)_\(source.station)"
        let own = contents.stations.indices.filter { contents.ids[contents.stations[$0].identifier] == id }
        if stationIndex[identifier] != nil, !isOwner(id, of: identifier) { return false }
        guard channels.count < Self.mostChannels,
            own.reduce(0, { $0 + contents.channels[$1].count }) < Self.mostOfStation,
            stationIndex[identifier] != nil || own.count < Self.mostCodes
        else {
            refuse(
                id, .channels,
                "has \(Self.mostOfStation) channels or \(Self.mostCodes) codes already, or all stations \(Self.mostChannels) "
                    + "channels: no further ones are taken")
            return false
        }
        if stationIndex[identifier] == nil {
            let description = directory.identity(of: id)?.description ?? ""
            let station = FeedStation(
                network: source.network, code: source.station, description: description.isEmpty ? id : description)
            add(station, number: try ring.addStation(id, station.network, station.code), id: id)
        }
        guard let index = stationIndex[identifier] else { return false }
        let number = try ring.addChannel(contents.numbers[index], source.location, source.channel, block.rate)
        contents.channels[index][FeedStream.key(source.location, source.channel)] = number
        channels[source] = Channel(station: index, number: number, flow: ChannelFlow(), packetiser: packetiser)
        return true
    }

    /// Two stations cannot have the same codes.
    private func isOwner(_ id: String, of identifier: String) -> Bool {
        let owner = contents.ids[identifier] ?? ""
        if owner == id { return true }
        refuse(
            id, .codes,
            "is not served: \(owner) has the codes \(identifier) already. Give it station.code in its settings, or "
                + "feed.codes here")
        return false
    }

    private func follow(_ steps: [ChannelFlow.Step], _ source: SourceIdentifier) throws(DatabaseError) {
        for step in steps {
            switch step {
            case .block(let block):
                try emit(source) { $0.take(block, seconds: settings.recordSeconds) }
                if let follow = surroundings.follow, let channel = channels[source],
                    let id = contents.ids[contents.stations[channel.station].identifier]
                {
                    follow(id, block)
                }
            case .missing(let from, let to, let count): try declare(source, from, to, count)
            case .back(let time): try goBack(source, to: time)
            case .late(let block):
                guard let channel = channels[source] else { continue }
                contents.counts.late += block.samples.count
                try addLate(block, channel.number)
            }
        }
    }

    /// A record has samples of one order alone.
    private func goBack(_ source: SourceIdentifier, to time: Int64) throws(DatabaseError) {
        try emit(source) { $0.flush() }
        guard let channel = channels[source],
            let id = contents.ids[contents.stations[channel.station].identifier]
        else { return }
        refuse(
            id, .future,
            "its clock was ahead of the feed's, and is right again: records go on at \(Timestamp(nanoseconds: time)). "
                + "Those of the time ahead stay as they came")
    }

    private func declare(_ source: SourceIdentifier, _ from: Int64, _ to: Int64, _ count: Int) throws(DatabaseError) {
        // Records end where samples are missing.
        try emit(source) { $0.flush() }
        guard let channel = channels[source] else { return }
        contents.counts.missing += count
        try ring.addMissing(channel.number, from, to, count)
        channels[source]?.holes += 1
        if channel.holes >= Self.mostHoles {
            try ring.trimHoles(channel.number, to: Self.mostHoles)
            channels[source]?.holes = 0
        }
        var line = said[channel.station] ?? (now.monotonic, 0)
        if now.monotonic - line.minute >= 60 { line = (now.monotonic, 0) }
        line.lines += 1
        said[channel.station] = line
        guard line.lines <= Self.missingLines else { return }
        surroundings.say(
            "\(contents.stations[channel.station].identifier) \(source.channel): \(count) samples are missing from "
                + "\(Timestamp(nanoseconds: from)) on"
                + (line.lines == Self.missingLines ? "; further ones of this minute are not said" : ""))
    }

    /// Has samples on the disk that are not in the order of packets: for dataselect alone.
    private func addLate(_ block: ChannelBlock, _ channel: Int64) throws(DatabaseError) {
        guard var packetiser = try? Packetiser(source: block.source, rate: block.rate) else { return }
        for made in packetiser.take(block, seconds: .infinity) + packetiser.flush() {
            try ring.add(late: made, channel: channel)
            packetCounts[channel, default: 0] += 1
        }
    }

    /// Gives the records that a channel makes their numbers.
    private func emit(
        _ source: SourceIdentifier, _ make: (inout Packetiser) -> [Packetiser.Made]
    ) throws(DatabaseError) {
        guard var channel = channels[source] else { return }
        let made = make(&channel.packetiser)
        channel.isChanged = true
        channels[source] = channel
        guard !made.isEmpty else { return }
        let number = contents.numbers[channel.station]
        var station = contents.stations[channel.station]
        for one in made {
            station.last += 1
            try ring.add(one, number: station.last, of: number, channel: channel.number)
            contents.recent[channel.station].append(
                FeedPacket(
                    sequence: station.last, location: source.location, channel: source.channel, start: one.start,
                    end: one.end, record: one.bytes))
            contents.counts.packets += 1
            station.extend(source.location, source.channel, one.start, one.end)
        }
        packetCounts[channel.number, default: 0] += made.count
        let excess = contents.recent[channel.station].count - Self.recentPackets
        if excess > 16 { contents.recent[channel.station].removeFirst(excess) }
        contents.stations[channel.station] = station
        try ring.setLast(number, station.last)
    }

    /// Settles gaps: gives samples up, or asks for them.
    private func settle(_ source: SourceIdentifier) throws(DatabaseError) {
        guard let channel = channels[source], let hole = channel.flow.hole else { return }
        let steps =
            channels[source]?.flow.tick(
                now: now.monotonic, patience: settings.patience, clock: now.utc) ?? []
        try follow(steps, source)
        // Stations have samples at the sensor's rate on their disks; those of other rates come by themselves or not at all.
        guard steps.isEmpty, let id = contents.ids[contents.stations[channel.station].identifier],
            let identity = directory.identity(of: id),
            abs(identity.rate - channel.packetiser.rate) < 0.01 * channel.packetiser.rate,
            let command = requests.ask(id, hole, now: now.monotonic, patience: settings.patience)
        else { return }
        send(command)
    }

    private func writeTails() throws(DatabaseError) {
        for (source, channel) in channels where channel.isChanged {
            channels[source]?.isChanged = false
            try ring.setTail(channel.number, channel.packetiser.waiting, next: channel.flow.next ?? 0)
        }
        contents.counts.duplicates = channels.values.reduce(0) { $0 + $1.flow.duplicates }
    }

    // MARK: What clients want

    /// Has on the disk what of a station's answer is in no record, and is older than what still waits for its order.
    private func takeFetched(_ id: String, _ message: InboundMessage, unit: Double) throws(DatabaseError) {
        guard let identity = directory.identity(of: id) else { return }
        guard let blocks = reading.blocks(message.payload, codes: identity.codes, unit: unit) else {
            contents.counts.unreadable += 1
            return
        }
        for block in blocks where isOfThisTime(block, id) { try keep(block) }
    }

    private func keep(_ block: ChannelBlock) throws(DatabaseError) {
        guard let channel = channels[block.source], channel.packetiser.rate == block.rate, !block.samples.isEmpty,
            let next = channel.packetiser.waiting?.start ?? channel.flow.next
        else { return }
        let last = min(block.end, next - Int64(0.5e9 / block.rate))
        guard block.start <= last else { return }
        let records = try ring.spans(channel.number, block.start...last)
        for gap in Coverage.gaps(block.start...last, records: records, rate: block.rate) {
            guard let part = block.cut(gap) else { continue }
            try addLate(part, channel.number)
            contents.counts.fetched += part.samples.count
        }
    }

    // MARK: What goes

    private func trim() throws(DatabaseError) {
        let numbers = channels.values.map(\.number)
        var isTrimmed = deduct(try ring.trim(before: oldest, channels: numbers))
        try events.trim(before: oldest)
        contents.counts.ringBytes = try ring.usedBytes()
        let most = mostBytes
        if contents.counts.ringBytes > most {
            isTrimmed = try giveUp(contents.counts.ringBytes, most) || isTrimmed
            contents.counts.ringBytes = try ring.usedBytes()
        }
        if isTrimmed { try readBegins() }
    }

    private func deduct(_ removed: [Int64: Int]) -> Bool {
        for (channel, count) in removed { packetCounts[channel, default: 0] -= count }
        return !removed.isEmpty
    }

    /// The stations that have most of the ring give their oldest records, and a little more so that it is not done each
    /// minute. Those that have no more than an equal part of it give nothing.
    private func giveUp(_ used: Int, _ most: Int) throws(DatabaseError) -> Bool {
        var uses: [String: Int] = [:]
        for (index, station) in contents.stations.enumerated() {
            let packets = contents.channels[index].values.reduce(0) { $0 + packetCounts[$1, default: 0] }
            uses[contents.ids[station.identifier] ?? "", default: 0] += packets * Ring.bytesOfRecord
        }
        let records = uses.values.reduce(0, +)
        let total = max(0, most - most / 20 - max(0, used - records))
        guard let level = FairShare.level(Array(uses.values), total: total) else { return false }
        var isTrimmed = false
        for (id, use) in uses.sorted(by: { $0.key < $1.key }) where use > level {
            var left = (use - level) / Ring.bytesOfRecord + 1
            if use > total / uses.count * 5 / 4 {
                refuse(id, .records, count: left, "has much more than its share of the ring; its oldest records go")
            }
            let own = contents.stations.indices.filter { contents.ids[contents.stations[$0].identifier] == id }
            for index in own where left > 0 {
                let removed = try ring.trim(
                    contents.numbers[index], channels: Array(contents.channels[index].values), packets: left)
                left -= removed.values.reduce(0, +)
                isTrimmed = deduct(removed) || isTrimmed
            }
        }
        return isTrimmed
    }

    /// Reads the oldest times.
    private func readBegins() throws(DatabaseError) {
        for index in contents.stations.indices {
            contents.stations[index].first = try ring.firstSequence(
                contents.numbers[index], contents.stations[index].last)
        }
        for channel in try ring.channels() {
            guard let index = contents.numbers.firstIndex(of: channel.station), let begin = channel.begin else {
                continue
            }
            for place in contents.stations[index].streams.indices {
                let stream = contents.stations[index].streams[place]
                if stream.location == channel.location, stream.channel == channel.code {
                    contents.stations[index].streams[place].begin = begin
                    contents.stations[index].streams[place].orderedBegin = channel.orderedBegin ?? stream.end
                }
            }
        }
    }
}

extension FeedStream {
    /// Key that tells it from the other streams of its station.
    public static func key(_ location: String, _ channel: String) -> String { "\(location).\(channel)" }
}

extension FeedStation {
    /// A record of a channel has come.
    fileprivate mutating func extend(_ location: String, _ channel: String, _ start: Int64, _ end: Int64) {
        if let place = streams.firstIndex(where: { $0.location == location && $0.channel == channel }) {
            streams[place].end = max(streams[place].end, end)
        } else {
            streams.append(FeedStream(location: location, channel: channel, begin: start, end: end))
        }
    }
}
