import Association
import Messages

/// A database on the detector's own disk, for one broker that retains messages and keeps a session. All that follows from some
/// messages is written down with them, in one transaction.
struct DiskJournal: NetworkJournal {
    enum Operation: Sendable, Equatable {
        /// A message of a station on an event.
        case message(station: String, payload: [UInt8], arrival: Int64)
        case info(station: String, payload: [UInt8])
        case mark(station: String, SequenceWatch.Mark)
        /// The machine is told of its number when it is written down.
        case version(number: Int, NetworkVersion)
        /// The broker has this version, and with `andBefore` all that were written down before it.
        case sent(eventID: String, version: Int, andBefore: Bool)
        /// Messages that came before this time (nanoseconds of UTC), and very old versions, are forgotten.
        case trim(before: Int64)
    }

    /// Content of the database when the program starts.
    struct Past: Sendable {
        /// The last versions, in their order.
        var versions: [(version: NetworkVersion, isSent: Bool)] = []
        /// Runs of each station, the one heard of last at the end.
        var marks: [(station: String, mark: SequenceWatch.Mark)] = []
        /// Each station with its newest `state/info`.
        var stations: [(id: String, info: [UInt8])] = []
        /// Messages on events, in the order in which they came.
        var log: [(station: String, payload: [UInt8], arrival: Int64)] = []
    }

    static let brokerRetains = true
    static let keepsMarks = true
    static let learningSeconds = 5.0
    /// Versions that are kept in mind.
    private static let most = 2000
    /// Seconds from one tidying to the next.
    private static let trimSeconds = 60.0
    /// Nanoseconds that messages are kept longer than is needed: cheap, and a clock may jump.
    private static let margin: Int64 = 1800 * 1_000_000_000

    private let topics: NetworkTopics
    /// The last versions in their order. Those that the broker has had have lost their payload.
    private var versions: [(version: NetworkVersion, isSent: Bool)] = []
    private var nextTrim = 0.0

    init(_ topics: NetworkTopics, _ past: Past) {
        self.topics = topics
        versions = past.versions
        for i in versions.indices where versions[i].isSent { versions[i].version.payload = [] }
    }

    // MARK: Learning

    private func marker(_ boot: String) -> [UInt8] { Array(#"{"boot":"\#(boot)"}"#.utf8) }

    /// Publishes a marker. All that was published and not noted comes back before it, because a session has one order.
    func mark(_ boot: String, _ effects: inout Effects) { effects.publish(topics.sync, marker(boot)) }

    func learn(_ message: NetworkMessage, _ boot: String, _ effects: inout Effects) -> LearningStep {
        guard message.name == topics.sync else { return .take }
        return message.payload == marker(boot) ? .end : .wait
    }

    func takePast() -> [NetworkMessage] { [] }

    func unsent(_ past: [NetworkMessage]) -> [NetworkVersion] {
        versions.filter { !$0.isSent }.map(\.version)
    }

    // MARK: Versions of network events

    mutating func keep(_ version: NetworkVersion, number: Int, _ effects: inout Effects) {
        effects.operations.append(.version(number: number, version))
        guard !versions.contains(where: { $0.version.isSame(version) }) else { return }
        versions.append((version, false))
        if versions.count > Self.most, versions[0].isSent { versions.removeFirst() }
    }

    mutating func setSent(_ version: NetworkVersion, _ effects: inout Effects) {
        setSent(version, andBefore: false, &effects)
    }

    private mutating func setSent(_ version: NetworkVersion, andBefore: Bool, _ effects: inout Effects) {
        if let at = versions.lastIndex(where: { $0.version.isSame(version) }) {
            let news = ((andBefore ? 0 : at)...at).filter { !versions[$0].isSent }
            guard !news.isEmpty else { return }
            for i in news { (versions[i].isSent, versions[i].version.payload) = (true, []) }
        }
        effects.operations.append(
            .sent(eventID: version.eventID, version: version.version, andBefore: andBefore))
    }

    /// Whatever run published it, it is said; and with what the broker retains, all that was before it.
    mutating func note(
        _ version: NetworkVersion, _ message: NetworkMessage, isEnd: Bool, isNewest: Bool, _ effects: inout Effects
    ) {
        if !message.isAgain { setSent(version, andBefore: isNewest, &effects) }
    }

    // MARK: Messages of stations

    func hold(_ message: NetworkMessage, of station: String, _ effects: inout Effects) {
        guard !message.isAgain, let arrival = message.arrival else { return }
        effects.operations.append(.message(station: station, payload: message.payload, arrival: arrival))
    }

    func release(_ message: NetworkMessage, _ effects: inout Effects) {}

    func setHeard(_ station: String, _ arrival: Int64?) {}

    func setMark(_ mark: SequenceWatch.Mark, of station: String, _ effects: inout Effects) {
        effects.operations.append(.mark(station: station, mark))
    }

    /// The broker retains it.
    func setOnline(
        _ isOnline: Bool, _ station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {}

    func setInfo(
        _ record: StationRecord, of station: String, _ message: NetworkMessage, _ effects: inout Effects
    ) {
        if !message.isAgain { effects.operations.append(.info(station: station, payload: record.info)) }
    }

    /// The broker retains it.
    func setEntered(_ station: String, _ message: NetworkMessage, _ effects: inout Effects) {}

    /// (Its rows are given to the machine at the start.)
    func read(_ message: NetworkMessage, _ effects: inout Effects) -> (StationRecord, isNews: Bool)? { nil }

    // MARK: By the clock

    mutating func beat(
        now: Int64, clock: Double, oldestNeeded: Int64?, _ watch: SequenceWatch, _ effects: inout Effects
    ) {
        guard clock >= nextTrim else { return }
        nextTrim = clock + Self.trimSeconds
        effects.operations.append(.trim(before: min(oldestNeeded ?? .max, now) - Self.margin))
    }
}

extension NetworkMachine where Journal == DiskJournal {
    /// Goes on where the run before has ended.
    init(
        _ options: NetworkOptions, _ association: AssociationOptions, boot: String, past: DiskJournal.Past
    ) {
        let topics = NetworkTopics(root: options.root)
        self.init(options, association, boot: boot, journal: DiskJournal(topics, past))
        let versions = past.versions.map { one in
            NetworkMessage(kind: .version, name: "", payload: one.version.payload, arrival: nil, isAgain: true)
        }
        let stations = past.stations.map { one in
            NetworkMessage(
                name: "\(options.root)/\(one.id)/state/info", payload: one.info, arrival: nil, isAgain: true)
        }
        let log = past.log.map { one in
            NetworkMessage(
                name: "\(options.root)/\(one.station)/event/trigger", payload: one.payload, arrival: one.arrival,
                isAgain: true)
        }
        restore(versions + stations + log, marks: past.marks)
    }
}
