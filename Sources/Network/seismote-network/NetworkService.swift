import Association
import Client
import DatabaseFiles
import Glibc
import Messages
import Settings
import Threads
import Values

/// The detector on one broker. What comes is in the store before anything follows from it, and
/// what follows is in the store before it is published.
final class NetworkService {
    private let settings: NetworkSettings
    private let access: BrokerAccess
    private let store: NetworkStore
    private var detector: NetworkDetector
    private var watch = SequenceWatch()
    private let boot = RandomUUID.text()
    private var sequence = 0
    private var statusSequence = 0
    private var confirmations = 0
    private var confirmed = ConfirmationBook()
    /// Versions that the broker has not acknowledged, by the number of their message.
    private var waiting: [Int32: NetworkStore.Version] = [:]
    /// It is not known yet which versions the broker has had.
    private var isLearning = false
    private var asked = 0
    /// Stations that were asked for their place, and when (monotonic seconds).
    private var askedForPlace: [String: Double] = [:]
    /// Stations of which was said that they state another place.
    private var toldMoved: Set<String> = []
    private var home: NetworkHomeAssistant?
    private var nextSecond = 0.0
    private var nextStatus = 0.0
    private var nextTrim = 0.0

    private var root: String { access.root }
    private var eventTopic: String { "\(root)/network/event" }
    private var statusTopic: String { "\(root)/network/status" }
    private var syncTopic: String { "\(root)/network/sync" }
    /// Nanoseconds by which the clock is behind while messages wait to be read: nobody's wait is longer.
    private static let backlog: Int64 = 3_000_000_000
    /// Seconds after which a station without a place is asked again.
    private static let placePause = 60.0

    init(_ access: BrokerAccess, _ settings: NetworkSettings) throws(DatabaseError) {
        (self.access, self.settings) = (access, settings)
        store = try NetworkStore(folder: settings.folder)
        home = NetworkHomeAssistant(
            root: access.root, prefix: settings.homeAssistant, version: productVersion, confirms: settings.confirms)
        detector = NetworkDetector(settings.association, isEarly: !settings.isSettled)
        try restore()
    }

    /// Goes on where the run before has ended: the log is taken again in its order, and nothing is said of it.
    private func restore() throws(DatabaseError) {
        for version in try store.published() {
            if let tree = try? JSONReader.read(version.payload) { detector.restore(tree) }
        }
        detector.isMuted = true
        for (station, mark) in try store.marks() { watch.restore(station, mark) }
        for station in try store.stations() {
            guard let tree = try? JSONReader.read(station.info) else { continue }
            _ = detector.take(station: station.id, topic: "state/info", payload: tree, arrival: nil)
        }
        let log = try store.log()
        for message in log {
            _ = detector.pass(clock: message.arrival)
            guard let tree = try? JSONReader.read(message.payload) else { continue }
            _ = detector.take(
                station: message.station, topic: message.topic, payload: tree, arrival: message.arrival)
        }
        detector.isMuted = false
        if !log.isEmpty || detector.stations > 0 {
            say("continuing with \(detector.stations) stations and \(log.count) logged messages")
        }
    }

    /// What comes while it is started again is not lost. (Older onsets are of no use, and a broker of mosquitto 2.0 has to be
    /// started again for a new account while it keeps the session of somebody who is away.)
    private static let sessionSeconds: UInt32 = 3600

    /// Until a signal.
    func run() throws(DatabaseError) {
        Interrupt.listen()
        var pause = 0.5
        while !Interrupt.came {
            let will = NetworkStatusMessage.offline(boot: boot, version: productVersion)
            let client = BrokerClient(
                access,
                session: BrokerSession(
                    id: settings.clientID, expiry: Self.sessionSeconds,
                    will: (statusTopic, will.json(boot: boot, number: 0, time: realNanoseconds()))))
            do {
                try client.connect()
                say("connected\(client.isResumed ? ", session resumed" : "")")
                try serve(client) { pause = 0.5 }
                _ = try? client.send(statusTopic, status(isOnline: false), retain: true)
                _ = try? client.next(until: monotonicSeconds() + 0.2)
                client.disconnect()
            } catch let error as DatabaseError {
                throw error
            } catch {
                if Interrupt.came { return }
                say((error as? ClientError)?.description ?? "\(error)")
                waiting.removeAll()
                let end = monotonicSeconds() + pause
                pause = min(10, pause * Double.random(in: 1.5...2))
                while monotonicSeconds() < end, !Interrupt.came { usleep(50_000) }
            }
        }
    }

    /// - Parameter isUp: is told when the broker has taken what waited.
    private func serve(_ client: BrokerClient, isUp: () -> Void) throws {
        try client.subscribe([
            // (Before what stations state, so that what was confirmed is known by then.)
            Topics.place(of: "+", root: root),
            "\(root)/+/event/trigger", "\(root)/+/data/history/event/trigger", "\(root)/+/state/info",
            "\(root)/+/state/online", eventTopic, "\(eventTopic)/last", syncTopic,
        ])
        // What a broker has lost between its word and its death is noticed by what it retains.
        try client.subscribe(["\(root)/+/event/current", "\(root)/+/event/last"])
        // What was published and not noted comes back before this, because a session has one order.
        let mark = Array(#"{"boot":"\#(boot)"}"#.utf8)
        _ = try client.send(syncTopic, mark)
        let end = monotonicSeconds() + 5
        isLearning = true
        while isLearning, monotonicSeconds() < end, let message = try client.next(until: end) {
            if message.topic == syncTopic {
                isLearning = message.payload != mark
            } else {
                try take([message], client)
            }
        }
        isLearning = false
        let unsent = try store.unsent()
        for version in unsent { try publish(version, client) }
        // A broker that has forgotten what it retained is told again.
        if unsent.isEmpty, let last = try store.published().last { try retain(last, client) }
        // Where nobody is known, or the broker retains nothing for wildcards, everybody says again who it is.
        if detector.stations == 0 { _ = try client.send("\(root)/group/all/cmd/rebirth", Array("{}".utf8)) }
        isUp()
        nextStatus = 0
        home?.forget()
        while !Interrupt.came {
            var batch: [InboundMessage] = []
            // The first one is waited for, or until time alone brings something; what is there already comes with it.
            var until = monotonicSeconds() + Pause.until(detector.due)
            while batch.count < 500, let message = try client.next(until: until) {
                batch.append(message)
                until = monotonicSeconds()
            }
            try take(batch, client)
            for (id, reason) in client.takeAcknowledged() {
                guard let version = waiting.removeValue(forKey: id) else { continue }
                if reason >= 128 {
                    say("the broker refuses \(eventTopic): reason \(reason)")
                } else {
                    try store.setSent(version.eventID, version.version)
                }
            }
            try beat(client)
        }
    }

    /// What is done by the clock.
    private func beat(_ client: BrokerClient) throws {
        let now = monotonicSeconds()
        guard now >= nextSecond else { return }
        nextSecond = now + 1
        for gap in watch.due(at: now) { try ask(gap, client) }
        for (topic, message) in home?.news(of: detector) ?? [] {
            _ = try client.send(topic, message.json(), retain: true)
        }
        if now >= nextStatus {
            nextStatus = now + settings.statusSeconds
            _ = try client.send(statusTopic, status(isOnline: true), retain: true)
        }
        if now >= nextTrim {
            nextTrim = now + 60
            // Half an hour more than is needed: cheap, and a clock may jump.
            let needed = min(detector.oldestNeeded ?? .max, realNanoseconds())
            try store.trim(logBefore: needed - 1800 * 1_000_000_000)
        }
    }

    /// Takes messages; what follows from them is in the store together with them.
    private func take(_ batch: [InboundMessage], _ client: BrokerClient) throws {
        let now = realNanoseconds()
        // What has come and was not read yet is not late, after whatever pause.
        let clock = client.isDrained ? now : now - Self.backlog
        var spoken: [Spoken] = []
        var homeless: Set<String> = []
        if batch.isEmpty {
            // Nearly always nothing follows from time alone; then the disk is left alone.
            spoken = detector.pass(clock: clock)
            if spoken.isEmpty { return }
        }
        var versions: [NetworkStore.Version] = []
        try store.transaction { () throws(DatabaseError) in
            for message in batch { spoken += try take(message, now, &homeless) }
            spoken += detector.pass(clock: clock)
            for one in spoken {
                let payload = one.message.json(boot: boot, number: sequence, time: one.time)
                sequence += 1
                let version = NetworkStore.Version(
                    eventID: one.message.eventID, version: one.message.version, payload: payload)
                try store.add(version)
                versions.append(version)
            }
        }
        // What is found out before it is known what the broker has goes out with what waits, in order and once.
        if !isLearning { for version in versions { try publish(version, client) } }
        for one in spoken where settings.confirms { try confirm(one, client) }
        for station in homeless where monotonicSeconds() > askedForPlace[station] ?? 0 {
            if askedForPlace.count > 10_000 { askedForPlace.removeAll() }
            askedForPlace[station] = monotonicSeconds() + Self.placePause
            _ = try client.send("\(root)/\(station)/cmd/rebirth", Array("{}".utf8))
        }
    }

    /// - Parameter homeless: gets the stations of which no place is known, though they have an onset.
    private func take(
        _ message: InboundMessage, _ now: Int64, _ homeless: inout Set<String>
    ) throws(DatabaseError) -> [Spoken] {
        if message.topic == eventTopic || message.topic == "\(eventTopic)/last" {
            // Our own: whatever run published it, it is said; and with what the broker retains, all that was before it.
            guard let tree = try? JSONReader.read(message.payload), let id = tree["event_id"]?.rawText,
                id.hasPrefix("net-"), let version = tree["version"]?.whole
            else { return [] }
            try store.setSent(id, version, andBefore: message.topic != eventTopic)
            return []
        }
        if let station = Topics.stationPlaced(by: message.topic, root: root) {
            enterPlace(message.payload, of: station, now, &homeless)
            return []
        }
        guard let (station, rest) = Topics.split(message.topic, root: root), !message.isTooLarge else { return [] }
        if rest == "state/online" {
            _ = detector.take(
                station: station, topic: rest, payload: .string(String(decoding: message.payload, as: UTF8.self)),
                arrival: now)
            return []
        }
        guard let tree = try? JSONReader.read(message.payload) else { return [] }
        guard rest != "state/info" else {
            switch detector.take(station: station, topic: rest, payload: tree, arrival: now) {
            case .success:
                try store.setInfo(station, message.payload)
                askedForPlace[station] = nil
                toldMoved.remove(station)
            case .failure(.moved):
                if toldMoved.insert(station).inserted {
                    say(
                        "\(station) states another place than it is known at, and takes no part: see `seismote network stations`"
                    )
                    nextStatus = 0
                }
            case .failure: break
            }
            return []
        }
        var isNew = false
        if let boot = tree["boot"]?.rawText, let number = tree["seq"]?.whole {
            isNew = watch.note(
                station, boot: boot, number: number, made: tree["t"]?.rawText.flatMap(Timestamp.init)?.nanoseconds,
                at: monotonicSeconds())
            if isNew, let mark = watch.mark(of: station) { try store.setMark(station, mark) }
        }
        // What is retained has the same bytes as the message on event/trigger, which nearly always has come.
        guard isNew || rest == "event/trigger" || rest == "data/history/event/trigger" else { return [] }
        switch detector.take(station: station, topic: "event/trigger", payload: tree, arrival: now) {
        case .success(let spoken):
            try store.add(.init(station: station, topic: "event/trigger", payload: message.payload, arrival: now))
            return spoken
        case .failure(let reason):
            if reason == .unplaced { homeless.insert(station) }
            return []
        }
    }

    /// Takes what the operator has entered of a station, and says in the next second what follows.
    private func enterPlace(_ payload: [UInt8], of station: String, _ now: Int64, _ homeless: inout Set<String>) {
        let tree = payload.isEmpty ? nil : (try? JSONReader.read(payload)) ?? .null
        if case .failure(let reason) = detector.enterPlace(tree, of: station, arrival: now) {
            say("network/place/\(station) is refused: \(reason.rawValue)")
        }
        // What is in force may be older than what the station says now.
        if detector.isMoved(station) { homeless.insert(station) } else { toldMoved.remove(station) }
        nextStatus = 0
    }

    private func publish(_ version: NetworkStore.Version, _ client: BrokerClient) throws(ClientError) {
        waiting[try client.send(eventTopic, version.payload)] = version
        try retain(version, client)
    }

    private func retain(_ version: NetworkStore.Version, _ client: BrokerClient) throws(ClientError) {
        _ = try client.send("\(eventTopic)/last", version.payload, retain: true)
    }

    private func confirm(_ spoken: Spoken, _ client: BrokerClient) throws(ClientError) {
        try confirmed.announce(spoken.message) { notice throws(ClientError) in
            switch notice {
            case .message(let message):
                let bytes = message.json(boot: boot, number: confirmations, time: spoken.time)
                confirmations += 1
                _ = try client.send("\(root)/network/confirmed/\(message.station)", bytes, retain: true)
            case .command(let station, let request):
                _ = try client.send("\(root)/\(station)/cmd/confirm-event", request.json())
            }
        }
    }

    /// Asks a station for what is missing.
    private func ask(_ gap: SequenceWatch.Gap, _ client: BrokerClient) throws(ClientError) {
        asked += 1
        _ = try client.send("\(root)/\(gap.station)/cmd/resend", gap.request(run: boot, number: asked).json())
    }

    private func status(isOnline: Bool) -> [UInt8] {
        let message = NetworkStatusMessage(
            isOnline: isOnline, version: productVersion, detector, watch, asked: asked, published: sequence)
        defer { statusSequence += 1 }
        return message.json(boot: boot, number: statusSequence, time: realNanoseconds())
    }
}

extension NetworkStatusMessage {
    /// What the broker says when the program is gone.
    fileprivate static func offline(boot: String, version: String) -> NetworkStatusMessage {
        var message = NetworkStatusMessage()
        (message.isOnline, message.version) = (false, version)
        return message
    }
}
