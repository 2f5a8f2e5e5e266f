import Association
import Messages

@testable import seismote_network

/// A queue as RabbitMQ has it: one reader at a time; what a reader that is gone has not acknowledged comes again, first.
struct Queue {
    struct Entry {
        var kind: NetworkMessage.Kind
        var name: String
        var payload: [UInt8]
        var arrival: Int64
        var wasGiven = false
    }

    var entries: [Entry] = []
    /// Entries by the tag under which the reader knows them.
    private var given: [UInt64: Entry] = [:]
    private var tag: UInt64 = 0

    mutating func put(_ kind: NetworkMessage.Kind, _ name: String, _ payload: [UInt8], _ arrival: Int64) {
        entries.append(Entry(kind: kind, name: name, payload: payload, arrival: arrival))
    }

    mutating func give() -> [NetworkMessage] {
        defer { entries = [] }
        return entries.map { entry in
            tag += 1
            given[tag] = entry
            return NetworkMessage(
                token: tag, kind: entry.kind, name: entry.name, payload: entry.payload, arrival: entry.arrival,
                isAgain: entry.wasGiven)
        }
    }

    /// - Returns: whether the reader has it.
    mutating func acknowledge(_ tag: UInt64) -> Bool { given.removeValue(forKey: tag) != nil }

    mutating func loseReader() {
        let back = given.sorted { $0.key < $1.key }.map { one in
            var entry = one.value
            entry.wasGiven = true
            return entry
        }
        entries = back + entries
        given = [:]
        tag = 0
    }

    var unacknowledged: Int { given.count }
}

/// A detector on a cluster.
struct QueueBench: Bench {
    var queue = Queue()
    var log = PublishedLog()
    var wrongTags = 0
    var lines: [String] = []
    /// What the queue has, and the detector does not know yet: the cluster's answers come a step later.
    private var unconfirmed: [(number: Int?, version: String?)] = []
    /// Versions that the queue is known to have.
    private var written: Set<String> = []
    var machine: NetworkMachine<QueueJournal>
    var runs = 0
    var options = NetworkOptions()
    var limits = QueueJournal.Limits()

    init(_ change: (inout NetworkOptions) -> Void) { self.init(change, limits: { _ in }) }

    init(
        _ change: (inout NetworkOptions) -> Void = { _ in }, limits: (inout QueueJournal.Limits) -> Void
    ) {
        change(&options)
        limits(&self.limits)
        machine = NetworkMachine(options, AssociationOptions(), boot: "run-0", self.limits)
        machine.connected(clock: 0)
    }

    init() { self.init { _ in } }

    var stations: Int { machine.stations }

    mutating func send(_ topic: String, _ payload: [UInt8], _ now: Int64, isRetained: Bool = false) {
        queue.put(.published, topic, payload, now)
    }

    private mutating func perform(_ left: inout Int, _ now: Int64) {
        while left > 0 {
            let effects = machine.takeEffects()
            if effects.isEmpty { return }
            lines += effects.lines
            for operation in effects.operations where left > 0 {
                left -= 1
                log.done += 1
                switch operation {
                case .acknowledge(let tag): if !queue.acknowledge(tag) { wrongTags += 1 }
                case .keep(let number, let kind, let name, let payload):
                    queue.put(kind, name, payload, now)
                    unconfirmed.append((number, kind == .version ? name : nil))
                }
            }
            for one in effects.publications where left > 0 {
                left -= 1
                log.done += 1
                log.add(one.topic, one.payload) { written.contains("\($0)/\($1)") }
                if one.topic.hasPrefix("seismote/network/place/") || one.topic == "seismote/network/event" {
                    queue.put(.published, one.topic, one.payload, now)
                }
                unconfirmed.append((one.number, nil))
            }
        }
    }

    /// The cluster answers what was sent in the step before.
    private mutating func confirm() {
        for (number, version) in unconfirmed {
            if let version { written.insert(version) }
            if let number { machine.confirmed(number) }
        }
        unconfirmed = []
    }

    mutating func die(_ now: Int64 = 0) {
        runs += 1
        queue.loseReader()
        // A successor reads in the queue what the cluster has not answered any more.
        written.formUnion(unconfirmed.compactMap(\.version))
        unconfirmed = []
        machine = NetworkMachine(options, AssociationOptions(), boot: "run-\(runs)", limits)
        machine.connected(clock: Field.clock(now))
    }

    mutating func step(_ now: Int64, atMost count: Int) {
        var left = count
        for _ in 0..<4 where left > 0 {
            confirm()
            machine.take(queue.give(), now: now, clock: Field.clock(now))
            machine.beat(now: now, clock: Field.clock(now))
            perform(&left, now)
        }
    }
}
