import Feed
import Link
import Messages
import MiniSEED
import Servers

/// Samples on their way to the ring.
extension Hub {
    func takeTrace(_ id: String, _ message: InboundMessage, _ now: Double, unit: Double? = nil)
        throws(DatabaseError)
    {
        guard let codes = codes[id] else { return try wait(id, message, now) }
        let isHistory = message.topic.contains("/data/history/")
        guard let blocks = reading.blocks(message.payload, codes: codes, unit: unit ?? TraceReading.unitPerCount) else {
            contents.counts.unreadable += 1
            return
        }
        let latest = realNanoseconds() + 3_600_000_000_000
        for block in blocks {
            // What was asked for is at the sensor's rate: other channels are none of it.
            if unit != nil, ways[block.source] == nil { continue }
            // A clock that is wrong must not keep the right one out.
            guard block.start < latest, try open(block, id) else { continue }
            let steps = ways[block.source]?.flow.take(
                block, now: now, patience: settings.patience, isHistory: isHistory)
            try follow(steps ?? [], block.source)
        }
    }

    /// Keeps it until the station has said who it is, and asks.
    func wait(_ id: String, _ message: InboundMessage, _ now: Double) throws(DatabaseError) {
        if let info = contents.states[id]?.info, !settings.serves(info) { return }
        if homeless.count < 1000 || homeless[id] != nil, homeless[id, default: []].count < 30 {
            homeless[id, default: []].append(message)
        }
        if let info = contents.states[id]?.info {
            learn(id, "state/info", info, now)
            guard codes[id] != nil else { return }
            for one in homeless.removeValue(forKey: id) ?? [] { try takeTrace(id, one, now) }
            return
        }
        guard now > askedWho[id] ?? 0 else { return }
        askedWho[id] = now + 60
        send("\(settings.root)/\(id)/cmd/rebirth", Array("{}".utf8))
    }

    /// Makes a place for a channel that is new.
    /// - Returns: false where there is none for it.
    func open(_ block: ChannelBlock, _ id: String) throws(DatabaseError) -> Bool {
        if let way = ways[block.source] {
            let identifier = contents.stations[way.station].identifier
            guard contents.ids[identifier] == id else { return refuse(id, identifier) }
            if way.packetiser.rate == block.rate { return true }
            // Another rate: another series from now on.
            try emit(block.source) { $0.flush() }
            guard let packetiser = try? Packetiser(source: block.source, rate: block.rate) else { return false }
            ways[block.source]?.packetiser = packetiser
            return true
        }
        guard ways.count < settings.mostChannels,
            let packetiser = try? Packetiser(source: block.source, rate: block.rate)
        else { return false }
        let identifier = "\(block.source.network)_\(block.source.station)"
        if stationIndex[identifier] == nil {
            let station = FeedStation(
                network: block.source.network, code: block.source.station, description: id)
            add(station, number: try ring.addStation(id, station.network, station.code), id: id)
            if let info = contents.states[id]?.info { learn(id, "state/info", info) }
        }
        guard let index = stationIndex[identifier] else { return false }
        guard contents.ids[identifier] == id else { return refuse(id, identifier) }
        let number = try ring.addChannel(
            contents.numbers[index], block.source.location, block.source.channel, block.rate)
        contents.channels[index][FeedStream.key(block.source.location, block.source.channel)] = number
        ways[block.source] = Way(station: index, number: number, flow: ChannelFlow(), packetiser: packetiser)
        return true
    }

    /// Two stations cannot have the same codes.
    func refuse(_ id: String, _ identifier: String) -> Bool {
        if refusedCodes.count < 1000, refusedCodes.insert(id).inserted {
            printError(
                "station \(id) is not served: \(contents.ids[identifier] ?? "another one") has the codes \(identifier) "
                    + "already. Give it station.code in its settings, or feed.codes here.")
        }
        return false
    }

    func follow(_ steps: [ChannelFlow.Step], _ source: SourceIdentifier) throws(DatabaseError) {
        for step in steps {
            switch step {
            case .block(let block):
                try emit(source) { $0.take(block, seconds: settings.recordSeconds) }
                if shake.isOn, let way = ways[source],
                    let id = contents.ids[contents.stations[way.station].identifier]
                {
                    shake.take(id, block)
                }
            case .missing(let from, let to, let count):
                // Records end where samples are missing.
                try emit(source) { $0.flush() }
                guard let way = ways[source] else { continue }
                contents.counts.missing += count
                try ring.addMissing(way.number, from, to, count)
                printError(
                    "\(contents.stations[way.station].identifier) \(source.channel): \(count) samples are missing from "
                        + "\(Timestamp(nanoseconds: from)) on")
            case .late(let block):
                guard let way = ways[source] else { continue }
                contents.counts.late += block.samples.count
                try addLate(block, way.number)
            }
        }
    }

    /// Has samples on the disk that are not in the order of packets: for dataselect alone.
    func addLate(_ block: ChannelBlock, _ channel: Int64) throws(DatabaseError) {
        guard var packetiser = try? Packetiser(source: block.source, rate: block.rate) else { return }
        for made in packetiser.take(block, seconds: .infinity) + packetiser.flush() {
            let key = min(0, try ring.file.number("SELECT min(key) FROM packet")) - 1
            try ring.add(made, key: key, channel: channel)
        }
    }

    /// Gives the records that a channel makes their numbers.
    func emit(_ source: SourceIdentifier, _ make: (inout Packetiser) -> [Packetiser.Made]) throws(DatabaseError) {
        guard var way = ways[source] else { return }
        let made = make(&way.packetiser)
        way.isChanged = true
        ways[source] = way
        guard !made.isEmpty else { return }
        var station = contents.stations[way.station]
        for one in made {
            station.last += 1
            let number = contents.numbers[way.station]
            try ring.add(one, key: Ring.key(number, station.last), channel: way.number)
            contents.recent[way.station].append(
                FeedPacket(
                    sequence: station.last, location: source.location, channel: source.channel, start: one.start,
                    end: one.end, record: one.bytes))
            contents.counts.packets += 1
            station.extend(source.location, source.channel, one.start, one.end)
        }
        let excess = contents.recent[way.station].count - Self.recentPackets
        if excess > 16 { contents.recent[way.station].removeFirst(excess) }
        contents.stations[way.station] = station
        try ring.setLast(contents.numbers[way.station], station.last)
    }

    /// Packets of a station in memory.
    static let recentPackets = 48

    /// What is given up, and what is asked for.
    func settle(_ source: SourceIdentifier, _ now: Double) throws(DatabaseError) {
        guard let way = ways[source], let hole = way.flow.hole else { return }
        let steps = ways[source]?.flow.tick(now: now, patience: settings.patience) ?? []
        try follow(steps, source)
        guard steps.isEmpty, let id = contents.ids[contents.stations[way.station].identifier] else { return }
        ask(id, way.packetiser.rate, hole, now)
    }

    func writeTails() throws(DatabaseError) {
        for source in Array(ways.keys) {
            guard let way = ways[source], way.isChanged else { continue }
            ways[source]?.isChanged = false
            try ring.setTail(way.number, way.packetiser.waiting, next: way.flow.next ?? 0)
        }
        var duplicates = 0
        for way in ways.values { duplicates += way.flow.duplicates }
        contents.counts.duplicates = duplicates
    }
}

extension FeedStream {
    static func key(_ location: String, _ channel: String) -> String { "\(location).\(channel)" }
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
