import Association
import DatabaseFiles
import Messages
import Testing

@testable import seismote_network

/// The database: what was written down before the program died.
struct Rows {
    private(set) var past = DiskJournal.Past()

    mutating func perform(_ operation: DiskJournal.Operation) {
        switch operation {
        case .message(let station, let payload, let arrival): past.log.append((station, payload, arrival))
        case .info(let station, let payload):
            past.stations.removeAll { $0.id == station }
            past.stations.append((station, payload))
            past.stations.sort { $0.id < $1.id }
        case .mark(let station, let mark):
            past.marks.removeAll { $0.station == station && $0.mark.boot == mark.boot }
            past.marks.append((station, mark))
        case .version(_, let version):
            if !past.versions.contains(where: { $0.version.isSame(version) }) { past.versions.append((version, false)) }
        case .sent(let id, let version, let andBefore):
            guard
                let at = past.versions.firstIndex(where: { $0.version.eventID == id && $0.version.version == version })
            else { return }
            for i in (andBefore ? 0 : at)...at { past.versions[i].isSent = true }
        case .trim(let time): past.log.removeAll { $0.arrival < time }
        }
    }
}

/// A detector on one broker of MQTT, which retains messages and keeps a session.
struct DiskBench: Bench {
    var rows = Rows()
    /// The real one, where it is to have the same.
    var store: NetworkStore?
    var log = PublishedLog()
    var lines: [String] = []
    var machine: NetworkMachine<DiskJournal>
    var runs = 0
    var options = NetworkOptions()
    /// What the broker has for the detector, and what it has given it that is not written down yet.
    var session: [(topic: String, payload: [UInt8], arrival: Int64)] = []
    var retained: [String: [UInt8]] = [:]
    private var given: [(topic: String, payload: [UInt8], arrival: Int64)] = []
    /// Publications that the broker has, and the detector does not know yet.
    private var unacknowledged: [Int] = []
    /// Whether the broker acknowledges, and gives back what the detector has published itself.
    var answers = true

    init(_ change: (inout NetworkOptions) -> Void) {
        change(&options)
        machine = NetworkMachine(options, AssociationOptions(), boot: "run-0", past: rows.past)
        connect(Field.start)
    }

    init() { self.init { _ in } }

    var stations: Int { machine.stations }

    private func hears(_ topic: String) -> Bool {
        let ends = [
            "/event/trigger", "/state/info", "/state/online", "/network/event", "/event/current", "/event/last",
            "/sync",
            "/network/status",
        ]
        return ends.contains { topic.hasSuffix($0) } || topic.hasPrefix("seismote/network/place/")
    }

    mutating func send(_ topic: String, _ payload: [UInt8], _ now: Int64, isRetained: Bool = false) {
        if isRetained { retained[topic] = payload.isEmpty ? nil : payload }
        if hears(topic) { session.append((topic, payload, now)) }
    }

    mutating func connect(_ now: Int64) {
        // Places come first, because they are subscribed to first.
        func rank(_ topic: String) -> (Int, String) { (topic.contains("/place/") ? 0 : 1, topic) }
        for (topic, payload) in retained.sorted(by: { rank($0.key) < rank($1.key) }) where hears(topic) {
            session.append((topic, payload, now))
        }
        machine.connected(clock: Field.clock(now))
    }

    mutating func loseConnection(_ now: Int64) {
        unacknowledged = []
        machine.disconnected()
        connect(now)
    }

    mutating func die(_ now: Int64) {
        runs += 1
        (session, given, unacknowledged) = (given + session, [], [])
        machine = NetworkMachine(options, AssociationOptions(), boot: "run-\(runs)", past: rows.past)
        connect(now)
    }

    mutating func perform(_ left: inout Int, _ now: Int64) {
        while left > 0 {
            let effects = machine.takeEffects()
            if effects.isEmpty { break }
            lines += effects.lines
            if !effects.operations.isEmpty {
                left -= 1
                log.done += 1
                for operation in effects.operations { rows.perform(operation) }
                do { try store?.perform(effects.operations) } catch { Issue.record(error) }
            }
            for case .version(let number, _) in effects.operations { machine.confirmed(number) }
            for one in effects.publications where left > 0 {
                left -= 1
                log.done += 1
                log.add(one.topic, one.payload) { id, version in
                    rows.past.versions.contains { $0.version.eventID == id && $0.version.version == version }
                }
                guard answers || one.topic == "seismote/network/sync" else { continue }
                send(one.topic, one.payload, now, isRetained: one.isRetained)
                if let number = one.number { unacknowledged.append(number) }
            }
        }
        if left > 0 { given = [] }
    }

    mutating func step(_ now: Int64, atMost count: Int) {
        var left = count
        for _ in 0..<4 where left > 0 {
            for number in unacknowledged { machine.confirmed(number) }
            unacknowledged = []
            (given, session) = (session, [])
            let messages = given.map { NetworkMessage(name: $0.topic, payload: $0.payload, arrival: $0.arrival) }
            machine.take(messages, now: now, clock: Field.clock(now))
            machine.beat(now: now, clock: Field.clock(now))
            perform(&left, now)
        }
    }
}
