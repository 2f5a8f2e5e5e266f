import Exchange
import Feed
import Glibc
import Link
import Messages
import MiniSEED
import Servers
import Settings
import Threads

/// Takes what stations publish, brings it into order, packs it, and has it on the disk before anybody is told.
final class Hub {
    /// One channel on its way.
    struct Way {
        var station: Int
        var number: Int64
        var flow: ChannelFlow
        var packetiser: Packetiser
        /// What the disk has of it is not what there is.
        var isChanged = false
    }

    let settings: FeedSettings
    let ring: Ring
    let board: Board
    let inbox: Inbox
    let link: Link
    let notify: @Sendable () -> Void
    let reading: TraceReading
    /// By station id: the names of its channels, once it has said who it is.
    var codes: [String: ChannelCodes] = [:]
    var units: [String: (rate: Double, unit: Double)] = [:]
    /// Traces of stations that have not said who they are.
    var homeless: [String: [InboundMessage]] = [:]
    var askedWho: [String: Double] = [:]
    /// Until when the settings of a station that has said who it is are waited for.
    var patience: [String: Double] = [:]
    static let configSeconds = 5.0
    var stationIndex: [String: Int] = [:]
    var ways: [SourceIdentifier: Way] = [:]
    /// Requests for what is missing, by station: the number of it, and until when it is waited for.
    var requests: [String: (id: String, until: Double)] = [:]
    var requestNumber = 0
    let boot = String(UInt32.random(in: .min ... .max), radix: 16)
    var contents: Board.Contents
    var nextTrim = 0.0
    var refusedCodes: Set<String> = []
    /// Newest versions of network events.
    var networkVersions: [String: Int64] = [:]
    let fetches: Fetches
    var stationFetches: [String: StationFetches] = [:]
    let shake: ShakeOutput
    private let forwarded: Forwarded?
    private var nextForwarded = 0.0

    init(
        _ settings: FeedSettings, ring: Ring, board: Board, inbox: Inbox, link: Link, fetches: Fetches,
        forwarded: Forwarded?, shake: ShakeOutput, notify: @escaping @Sendable () -> Void
    ) throws(DatabaseError) {
        (self.settings, self.ring, self.board, self.inbox) = (settings, ring, board, inbox)
        (self.link, self.fetches, self.forwarded) = (link, fetches, forwarded)
        (self.shake, self.notify) = (shake, notify)
        reading = TraceReading(signals: settings.signals)
        contents = Board.Contents()
        try restore()
        publish()
    }

    // MARK: What a former run has left

    private func restore() throws(DatabaseError) {
        let channels = try ring.channels()
        for station in try ring.stations() {
            let streams = channels.filter { $0.station == station.number }.compactMap { channel -> FeedStream? in
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
            guard let tree = try? JSONReader.read(message.payload) else { continue }
            learn(message.station, message.topic, tree)
        }
        let tails = Dictionary(try ring.tails().map { ($0.channel, $0) }) { $1 }
        for channel in channels {
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
            ways[source] = Way(
                station: index, number: channel.number, flow: ChannelFlow(next: channel.next), packetiser: packetiser)
        }
        if !contents.stations.isEmpty { printError("continuing with \(contents.stations.count) stations") }
    }

    func add(_ station: FeedStation, number: Int64, id: String) {
        stationIndex[station.identifier] = contents.stations.count
        contents.stations.append(station)
        contents.numbers.append(number)
        contents.channels.append([:])
        contents.recent.append([])
        contents.ids[station.identifier] = id
    }

    // MARK: The loop

    /// Until a signal.
    func run() throws(DatabaseError) {
        while !Signals.came {
            let now = monotonicSeconds()
            inbox.wake.clear()
            let (messages, dropped) = inbox.take()
            contents.counts.dropped += dropped
            contents.counts.messages += messages.count
            contents.counts.batches += 1
            let packets = contents.counts.packets
            try ring.file.transaction { () throws(DatabaseError) in
                for message in messages { try take(message, now) }
                for source in Array(ways.keys) { try settle(source, now) }
                try writeTails()
                if now >= nextForwarded { try writeForwarded(now) }
            }
            takeWishes(now)
            if now >= nextTrim {
                nextTrim = now + 60
                try trim()
            }
            publish()
            if contents.counts.packets != packets { notify() }
            // Many at once are cheaper than each alone.
            usleep(50_000)
            _ = inbox.wake.wait(milliseconds: 150)
        }
        // What waits for a full record is on the disk, and goes on in the next run.
    }

    private func publish() {
        let isConnected = link.statistics.connected
        contents.isConnected = isConnected
        (contents.counts.shakeSent, contents.counts.shakeFailed) = (shake.sent, shake.failed)
        board.change { $0 = contents }
    }

    private func writeForwarded(_ now: Double) throws(DatabaseError) {
        nextForwarded = now + 1
        if let given = forwarded?.takeChanged() { try ring.set(given: given, to: settings.dataLink) }
    }

    private func trim() throws(DatabaseError) {
        let numbers = ways.values.map(\.number)
        let age = realNanoseconds() - Int64(settings.days * 86_400e9)
        var removed = try ring.trim(before: age, channels: numbers)
        contents.counts.ringBytes = try ring.usedBytes()
        let most = settings.megabytes * 1_000_000
        if contents.counts.ringBytes > most, let oldest = try ring.oldest() {
            // The oldest part of it, and a little more so that it is not done each minute.
            let share = min(0.9, 1 - Double(most) / Double(contents.counts.ringBytes) + 0.05)
            let until = oldest + Int64(Double(realNanoseconds() - oldest) * share)
            removed += try ring.trim(before: until, channels: numbers)
            contents.counts.ringBytes = try ring.usedBytes()
        }
        guard removed > 0 else { return }
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
