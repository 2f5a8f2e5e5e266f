import Association
import Messages
import Settings
import Values

/// The detector of a network, on one broker and on a cluster alike: messages and time in, what is to be done out. Pure.
///
/// What comes is in the journal before anything follows from it, and what follows is in the journal before it is published. A
/// successor is given again what the one before has had, computes it in silence, learns which versions the broker has had,
/// publishes those that it has not, and goes on.
struct NetworkMachine<Journal: NetworkJournal>: Sendable {
    private let options: NetworkOptions
    let topics: NetworkTopics
    /// This run, in the envelope of all that it says.
    let boot: String
    private(set) var journal: Journal
    private(set) var detector: NetworkDetector
    private var watch = SequenceWatch()
    private var effects = NetworkEffects<Journal.Operation>()

    /// It is not known which versions the broker has had.
    private var isLearning = true
    private var learningEnd = Double.infinity
    private var number = 0
    /// Versions that are being written down, in their order; those that are written down wait for those before them.
    private var writing: [(number: Int, due: DueVersion, version: NetworkVersion, isWritten: Bool)] = []
    /// Versions that the broker has not acknowledged.
    private var publishing: [Int: NetworkVersion] = [:]
    /// The newest version of a network event.
    private var last: [UInt8]?

    private var sequence = 0
    private var statusSequence = 0
    /// The status as it was said last.
    private var status: [UInt8] = []
    private var statusWatch = RetainedCorrection()
    private var lastWatch = RetainedCorrection()
    private var confirmations = 0
    /// Confirmations that this run has sent to stations; a successor sends those of open events once more.
    private var confirmed = ConfirmationBook()
    private var asked = 0
    /// Until when stations that were asked for their place are not asked again.
    private var askedForPlace: [String: Double] = [:]
    /// Stations of which was said that they state another place.
    private var toldMoved: Set<String> = []
    private var home: NetworkHomeAssistant?
    /// When Home Assistant, which has just been told of new sensors, is told their values.
    private var valuesDue: Double?
    private var nextSecond = 0.0
    private var nextStatus = 0.0

    /// Seconds after which a station without a place is asked again.
    private static var placePause: Double { 60 }
    /// Stations that are kept in mind of those that were asked.
    private static var mostAsked: Int { 10_000 }

    init(_ options: NetworkOptions, _ association: AssociationOptions, boot: String, journal: Journal) {
        (self.options, self.boot, self.journal) = (options, boot, journal)
        topics = NetworkTopics(root: options.root)
        detector = NetworkDetector(association, isEarly: !options.isSettled)
        home = NetworkHomeAssistant(
            root: options.root, prefix: options.homeAssistant, version: options.version, confirms: options.confirms)
    }

    var stations: Int { detector.stations }
    /// Whether it knows what the broker has had, and publishes.
    var isActive: Bool { !isLearning }
    /// When time alone brings something next, nanoseconds of UTC; nil: not before another message.
    var due: Int64? { isLearning ? nil : detector.due }

    /// Effects to be carried out since the last call.
    mutating func takeEffects() -> NetworkEffects<Journal.Operation> {
        defer { effects = .init() }
        return effects
    }

    // MARK: Connection

    /// - Parameter clock: seconds of a clock that does not go back.
    mutating func connected(clock: Double) {
        isLearning = true
        learningEnd = clock + Journal.learningSeconds
        journal.mark(boot, &effects)
    }

    /// Takes back publications that failed.
    mutating func takeBack(_ publications: [NetworkPublication]) {
        effects.publications = publications + effects.publications
    }

    /// The connection is lost. Versions that the broker may not have had go out when it has told what it has; what else was to
    /// be published goes out with the next connection.
    mutating func disconnected() {
        isLearning = true
        statusWatch.disconnected()
        lastWatch.disconnected()
        publishing = [:]
        // (These are said anew with each connection.)
        let own = [topics.event, topics.last, topics.status, topics.sync]
        effects.publications.removeAll { own.contains($0.topic) }
    }

    /// Notes that the effect of this number is done: a version is written down, or the broker has it.
    mutating func confirmed(_ number: Int) {
        if let at = writing.firstIndex(where: { $0.number == number }) {
            writing[at].isWritten = true
            while let first = writing.first, first.isWritten {
                writing.removeFirst()
                // While it is not known what the broker has had, it goes out with what waits, in order and once.
                if !isLearning { publish(first.version) }
                if options.confirms { confirm(first.due) }
            }
        } else if let version = publishing.removeValue(forKey: number) {
            journal.setSent(version, &effects)
        }
    }

    // MARK: Learning

    /// Goes on where another one has ended; nothing is said of that.
    /// - Parameter past: messages that it has had, in their order, and others, of which only the places of stations are taken.
    mutating func restore(
        _ past: [NetworkMessage], marks: [(station: String, mark: SequenceWatch.Mark)] = [], clock: Double = 0
    ) {
        for message in past where isVersion(message) {
            guard let tree = note(message) else { continue }
            detector.restore(tree)
            last = message.payload
        }
        detector.isMuted = true
        for (station, mark) in marks { watch.restore(station, mark) }
        for message in past where isPlace(message) { _ = take(message, clock) }
        for message in past where message.isAgain && !isVersion(message) && !isPlace(message) {
            if let arrival = message.arrival { _ = detector.pass(clock: arrival) }
            _ = take(message, clock)
        }
        detector.isMuted = false
    }

    /// Begins when every message that was sent before has come.
    private mutating func begin(_ now: Int64, _ clock: Double) {
        isLearning = false
        let past = journal.takePast()
        if !past.isEmpty { restore(past, clock: clock) }
        let unsent = journal.unsent(past).filter { one in !writing.contains { $0.version.isSame(one) } }
        for version in unsent { publish(version) }
        // A broker that has forgotten what it retained is told again.
        if unsent.isEmpty, Journal.brokerRetains { publishLast() }
        // What nobody has had yet is news.
        if !past.isEmpty {
            var versions: [DueVersion] = []
            for message in past where !message.isAgain && !isVersion(message) && !isPlace(message) {
                if let arrival = message.arrival { versions += detector.pass(clock: arrival) }
                versions += take(message, clock)
            }
            announce(versions + detector.pass(clock: now))
            for one in detector.moved { askForPlace(one.station, clock) }
        }
        // Where nobody is known, or the broker retains nothing for wildcards, everybody says again who it is.
        if detector.stations == 0 { effects.publish("\(options.root)/group/all/cmd/rebirth", Array("{}".utf8)) }
        (nextSecond, nextStatus) = (clock, clock)
        home?.forget()
    }

    private func isVersion(_ message: NetworkMessage) -> Bool {
        message.kind == .version
            || message.kind == .published && (message.name == topics.event || message.name == topics.last)
    }

    private func isPlace(_ message: NetworkMessage) -> Bool {
        message.kind == .station
            || message.kind == .published && (message.name.hasSuffix("/state/info") || placed(by: message) != nil)
    }

    /// The station whose place the operator has entered by this message.
    private func placed(by message: NetworkMessage) -> String? {
        Topics.stationPlaced(by: message.name, root: options.root)
    }

    // MARK: In

    /// - Parameters:
    ///   - now: nanoseconds of UTC: nothing that came later, and was not read yet, is late.
    ///   - clock: seconds of a clock that does not go back.
    mutating func take(_ messages: [NetworkMessage], now: Int64, clock: Double) {
        if isLearning, clock >= learningEnd { begin(now, clock) }
        var versions: [DueVersion] = []
        var hasTaken = false
        for message in messages {
            if isLearning {
                switch journal.learn(message, boot, &effects) {
                case .take: break
                case .wait: continue
                case .end:
                    begin(now, clock)
                    continue
                }
            }
            hasTaken = true
            versions += take(message, clock)
        }
        guard hasTaken || !isLearning else { return }
        announce(versions + detector.pass(clock: now))
    }

    /// Takes one message; it is in the journal, or released.
    private mutating func take(_ message: NetworkMessage, _ clock: Double) -> [DueVersion] {
        switch message.kind {
        case .marker: journal.release(message, &effects)
        case .version: _ = note(message)
        case .station: takeStation(message, clock)
        case .published:
            lookForOthers(message, clock)
            if isVersion(message) {
                _ = note(message)
            } else if message.name == home?.birthTopic {
                if message.payload.elementsEqual("online".utf8) { home?.forget() }
                journal.release(message, &effects)
            } else if let station = placed(by: message) {
                enterPlace(station, message, clock)
            } else if let (station, rest) = Topics.split(message.name, root: options.root) {
                return take(station, rest, message, clock)
            } else {
                journal.release(message, &effects)
            }
        }
        return []
    }

    /// Notices what another client has written on a retained topic of ours. (What comes while it is learnt what the broker
    /// has is of before, and is followed by ours.)
    private mutating func lookForOthers(_ message: NetworkMessage, _ clock: Double) {
        guard Journal.brokerRetains, !isLearning else { return }
        if message.name == topics.status {
            statusWatch.heard(isOwn: message.payload == status, now: Self.nanoseconds(clock))
        } else if message.name == topics.last, let last {
            lastWatch.heard(isOwn: message.payload == last, now: Self.nanoseconds(clock))
        }
    }

    private static func nanoseconds(_ clock: Double) -> UInt64 { UInt64(max(0, clock) * 1e9) }

    /// Notes a version that is written down, or published by whatever run.
    private mutating func note(_ message: NetworkMessage) -> Value? {
        guard let tree = try? JSONReader.read(message.payload), let read = NetworkEventReading(tree)
        else {
            journal.release(message, &effects)
            return nil
        }
        let version = NetworkVersion(eventID: read.eventID, version: read.version, payload: message.payload)
        journal.note(
            version, message, isEnd: read.kind == .end, isNewest: message.name == topics.last, &effects)
        return tree
    }

    private mutating func take(
        _ station: String, _ rest: String, _ message: NetworkMessage, _ clock: Double
    ) -> [DueVersion] {
        journal.setHeard(station, message.arrival)
        if rest == "state/online" {
            let isOnline = !message.payload.elementsEqual("offline".utf8)
            _ = detector.take(
                station: station, topic: rest, payload: .string(isOnline ? "online" : "offline"),
                arrival: message.arrival)
            journal.setOnline(isOnline, station, message, &effects)
            return []
        }
        // An empty message takes away what a broker has retained; other bytes that are no JSON are refused.
        guard !message.payload.isEmpty else {
            journal.release(message, &effects)
            return []
        }
        let tree = (try? JSONReader.read(message.payload)) ?? .null
        if rest == "state/info" {
            setInfo(station, tree, .init(info: message.payload, heard: message.arrival ?? 0), message, clock)
            return []
        }
        // What is retained has the same bytes as the message on event/trigger, which nearly always has come.
        guard note(station, tree, message, clock) || ["event/trigger", "data/history/event/trigger"].contains(rest)
        else {
            journal.release(message, &effects)
            return []
        }
        switch detector.take(station: station, topic: "event/trigger", payload: tree, arrival: message.arrival) {
        case .success(let versions):
            journal.hold(message, of: station, &effects)
            return versions
        case .failure(let reason):
            journal.release(message, &effects)
            if reason == .unplaced { askForPlace(station, clock) }
            return []
        }
    }

    /// Notes the number of a message.
    /// - Returns: whether it is known to be new.
    private mutating func note(
        _ station: String, _ tree: Value, _ message: NetworkMessage, _ clock: Double
    ) -> Bool {
        let stamp = MessageStamp(tree)
        guard let boot = stamp.boot, let number = stamp.number,
            !(message.isAgain && Journal.keepsMarks),
            watch.note(station, boot: boot, number: number, made: stamp.time, at: clock)
        else { return false }
        if let mark = watch.mark(of: station) { journal.setMark(mark, of: station, &effects) }
        return true
    }

    // MARK: Stations

    private mutating func setInfo(
        _ station: String, _ tree: Value, _ record: StationRecord, _ message: NetworkMessage, _ clock: Double
    ) {
        switch detector.take(station: station, topic: "state/info", payload: tree, arrival: message.arrival) {
        case .success:
            journal.setInfo(record, of: station, message, &effects)
            askedForPlace[station] = nil
            toldMoved.remove(station)
        case .failure(let reason):
            journal.release(message, &effects)
            guard reason == .moved, !detector.isMuted, toldMoved.insert(station).inserted else { return }
            effects.lines.append(
                "\(station) states another place than it is known at, and takes no part: see `seismote network stations`"
            )
            nextStatus = clock
        }
    }

    /// Takes what the operator has entered of a station, and says in the next second what follows.
    private mutating func enterPlace(_ station: String, _ message: NetworkMessage, _ clock: Double) {
        let tree = message.payload.isEmpty ? nil : (try? JSONReader.read(message.payload)) ?? .null
        switch detector.enterPlace(tree, of: station, arrival: message.arrival) {
        case .success: journal.setEntered(station, message, &effects)
        case .failure(let reason):
            journal.release(message, &effects)
            effects.lines.append("network/place/\(station) is refused: \(reason.rawValue)")
        }
        // What is in force may be older than what the station says now.
        if detector.isMoved(station) { askForPlace(station, clock) } else { toldMoved.remove(station) }
        nextStatus = clock
    }

    /// Takes what a detector has written down of a station.
    private mutating func takeStation(_ message: NetworkMessage, _ clock: Double) {
        guard let (record, isNews) = journal.read(message, &effects) else { return }
        if watch.mark(of: message.name) == nil {
            for mark in record.marks { watch.restore(message.name, mark) }
        }
        guard isNews else { return }
        setInfo(message.name, (try? JSONReader.read(record.info)) ?? .null, record, message, clock)
    }

    private mutating func askForPlace(_ station: String, _ clock: Double) {
        guard !detector.isMuted, clock > askedForPlace[station] ?? -.infinity else { return }
        if askedForPlace.count > Self.mostAsked { askedForPlace.removeAll() }
        askedForPlace[station] = clock + Self.placePause
        effects.publish("\(options.root)/\(station)/cmd/rebirth", Array("{}".utf8))
    }

    // MARK: Out

    /// Writes down what is to be published.
    private mutating func announce(_ versions: [DueVersion]) {
        for one in versions {
            let payload = one.message.json(boot: boot, number: sequence, time: one.time)
            sequence += 1
            number += 1
            let version = NetworkVersion(
                eventID: one.message.eventID, version: one.message.version, payload: payload)
            journal.keep(version, number: number, &effects)
            writing.append((number, one, version, false))
        }
    }

    private mutating func publish(_ version: NetworkVersion) {
        number += 1
        publishing[number] = version
        effects.publish(topics.event, version.payload, number: number)
        last = version.payload
        publishLast()
    }

    private mutating func publishLast() {
        if let last { effects.publish(topics.last, last, isRetained: true) }
    }

    private mutating func confirm(_ due: DueVersion) {
        var notices: [ConfirmationBook.Notice] = []
        confirmed.announce(due.message) { notices.append($0) }
        for notice in notices {
            switch notice {
            case .message(let message):
                let bytes = message.json(boot: boot, number: confirmations, time: due.time)
                confirmations += 1
                effects.publish("\(options.root)/network/confirmed/\(message.station)", bytes, isRetained: true)
            case .command(let station, let request):
                effects.publish("\(options.root)/\(station)/cmd/confirm-event", request.json())
            }
        }
    }

    // MARK: By the clock

    /// - Parameters: as of `take`.
    mutating func beat(now: Int64, clock: Double) {
        guard !isLearning, clock >= nextSecond else { return }
        nextSecond = clock + 1
        for gap in watch.due(at: clock) {
            asked += 1
            effects.publish(
                "\(options.root)/\(gap.station)/cmd/resend", gap.request(run: boot, number: asked).json())
        }
        journal.beat(now: now, clock: clock, oldestNeeded: detector.oldestNeeded, watch, &effects)
        tellHomeAssistant(clock)
        if lastWatch.takeDue(now: Self.nanoseconds(clock)) {
            effects.lines.append("\(topics.last) was overwritten by another client: published again")
            publishLast()
        }
        if statusWatch.takeDue(now: Self.nanoseconds(clock)) {
            effects.lines.append("\(topics.status) was overwritten by another client: published again")
            nextStatus = clock
        }
        guard clock >= nextStatus else { return }
        nextStatus = clock + options.statusSeconds
        sayStatus(isOnline: true, now: now)
        // For those who have come since.
        if !Journal.brokerRetains { publishLast() }
    }

    /// Where nothing is retained, Home Assistant is told of sensors when it comes up, and of their values once it has subscribed.
    private mutating func tellHomeAssistant(_ clock: Double) {
        let news = home?.news(of: detector) ?? []
        for (topic, message) in news { effects.publish(topic, message.json(), isRetained: true) }
        if !news.isEmpty, !Journal.brokerRetains { valuesDue = clock + 2 }
        guard let due = valuesDue, clock >= due else { return }
        valuesDue = nil
        nextStatus = clock
    }

    /// The last word of one that ends by itself. (On a cluster one that stands by is nobody's.)
    mutating func sayGoodbye(now: Int64) {
        if isActive || Journal.brokerRetains { sayStatus(isOnline: false, now: now) }
    }

    private mutating func sayStatus(isOnline: Bool, now: Int64) {
        let message = NetworkStatusMessage(
            isOnline: isOnline, version: options.version, detector, watch, asked: asked, published: sequence)
        status = message.json(boot: boot, number: statusSequence, time: now)
        effects.publish(topics.status, status, isRetained: true)
        statusSequence += 1
    }

    /// The last will: the broker publishes it when the program is gone.
    func will(now: Int64) -> (topic: String, payload: [UInt8]) {
        var message = NetworkStatusMessage()
        (message.isOnline, message.version) = (false, options.version)
        return (topics.status, message.json(boot: boot, number: 0, time: now))
    }
}
