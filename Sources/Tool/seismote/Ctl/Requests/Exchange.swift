import Commands
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// A request to one or several stations, and their replies.
///
/// Replies go to `<root>/<station>/res/<request id>`, which is the one place where a station may always write and a person
/// can tell whose reply it is. No response topic goes along: a bridge with a prefix maps topics, and not what is in
/// messages. What a station does not get within the time for an answer it gets never: MQTT 5 lets the message expire, `expires` does it
/// with 3.1.1.
final class Exchange {
    private struct Waiting {
        var deadline: Double
        var wasAccepted = false
    }

    /// For an answer of a station that the broker calls offline.
    private static let seconds = 2.0

    let id: String
    private let client: BrokerClient
    private let verb: String
    private let request: Value
    private let targets: Targets
    private let patience: Double
    private var waiting: [String: Waiting] = [:]
    /// Stations of a group that are expected to answer; others may.
    private var settled: Set<String> = []
    private var started = monotonicSeconds()
    private var root: String { client.options.mqtt.root }

    /// Further filters to subscribe to before the request goes out.
    var filters: [String] = []
    /// Is given every message that is not a reply.
    var onMessage: (InboundMessage) -> Void = { _ in }
    /// Is given each end, as it comes.
    var onAnswer: (Answer) -> Void = { _ in }
    /// Says for how many seconds from `accepted` on a station may be busy.
    var onAccepted: (_ station: String, Reply) -> Double = { _, _ in 0 }
    /// Whether there is still something to wait for although all have answered.
    var isIncomplete: () -> Bool = { false }
    let line: WaitingLine

    /// - Parameters:
    ///   - request: members of the payload.
    ///   - patience: seconds for an answer, of each station; a group gets as much more as its stations wait at random.
    ///   - id: that of a request of before which this one repeats.
    init(
        _ client: BrokerClient, _ verb: String, _ request: Value, _ targets: Targets, patience: Double,
        line: WaitingLine, id: String = Exchange.newID()
    ) {
        self.id = id
        (self.client, self.verb, self.targets, self.line) = (client, verb, targets, line)
        if case .group = targets {
            self.patience = patience + (Command.named(verb)?.groupDelay ?? 0)
        } else {
            self.patience = patience
        }
        var members = request.members ?? []
        members.append(.init("id", .string(id)))
        members.append(.init("source", "seismote ctl"))
        self.request = .object(members)
    }

    static func newID() -> String { "ctl-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))" }

    /// Sends and waits. Ends before the time when all who are expected have answered, or at Ctrl-C.
    func run() throws(ClientError) {
        switch targets {
        case .stations(let stations): try ask(stations)
        case .group(let group): try ask(group: group)
        }
        try wait()
        // What came too late to be awaited.
        for station in waiting.keys.sorted() { settle(station, .silent, nil) }
        line.clear()
    }

    // MARK: sending

    private func ask(_ stations: [String]) throws(ClientError) {
        try client.subscribe(filters)
        for station in stations {
            try client.subscribe(["\(root)/\(station)/res/\(id)", "\(root)/\(station)/state/online"])
        }
        let offline = try silentStations(among: offlineStations(of: stations))
        started = monotonicSeconds()
        for station in stations {
            if offline.contains(station) {
                settle(station, .offline, nil)
                continue
            }
            waiting[station] = Waiting(deadline: monotonicSeconds() + patience)
            try client.publish(
                "\(root)/\(station)/cmd/\(verb)", payload(request, patience), expiry: UInt32(patience.rounded(.up)))
        }
    }

    /// Looks at the retained `state/online`; a broker that keeps none costs 0.3 s.
    private func offlineStations(of stations: [String]) throws(ClientError) -> Set<String> {
        var known: [String: Bool] = [:]
        let deadline = monotonicSeconds() + 0.3
        while known.count < stations.count, let message = try client.next(until: deadline) {
            guard let (station, rest) = split(message.topic), rest == "state/online" else {
                onMessage(message)
                continue
            }
            known[station] = message.payload != Array("offline".utf8)
        }
        return Set(known.filter { !$0.value }.keys)
    }

    /// Returns the stations that do not answer a `ping`. A cluster keeps the last will of a lost connection on the node that had it
    /// (RabbitMQ), or delivers it late, when the station has long been back on another node.
    private func silentStations(among stations: Set<String>) throws(ClientError) -> Set<String> {
        guard !stations.isEmpty else { return [] }
        line.show("asking whether \(stations.sorted().prefix(3).joined(separator: ", ")) is there")
        let (ping, seconds) = ("\(id)-there", min(Self.seconds, patience))
        let question: Value = ["id": .string(ping), "source": "seismote ctl"]
        for station in stations {
            let topic = "\(root)/\(station)/res/\(ping)"
            try client.subscribe([topic])
            // (Whoever may not ask this takes the broker's word.)
            _ = try client.offer(
                "\(root)/\(station)/cmd/ping", payload(question, seconds), expiry: UInt32(seconds.rounded(.up)))
        }
        var silent = stations
        let deadline = monotonicSeconds() + seconds
        while !silent.isEmpty, let message = try client.next(until: deadline) {
            switch split(message.topic) {
            case (let station, "res/\(ping)")?: silent.remove(station)
            case (let station, "state/online")?:
                if !message.isRetained, message.payload == Array("online".utf8) { silent.remove(station) }
            default: onMessage(message)
            }
        }
        return silent
    }

    private func ask(group: String) throws(ClientError) {
        try client.subscribe(filters)
        try client.subscribe(["\(root)/+/res/\(id)"])
        var fleet = Fleet(root: root)
        try fleet.look(client, filters: ["state/online", "state/info"], within: 3)
        started = monotonicSeconds()
        for (station, view) in fleet.stations where view.isOnline == true && view.isMember(of: group) {
            waiting[station] = Waiting(deadline: started + patience)
        }
        if waiting.isEmpty {
            printError("no station of group \(group) is known to be online; sending the request anyway")
        }
        try client.publish(
            "\(root)/group/\(group)/cmd/\(verb)", payload(request, patience), expiry: UInt32(patience.rounded(.up)))
    }

    private func payload(_ request: Value, _ patience: Double) -> [UInt8] {
        guard client.version == .v311, case .object(var members) = request else { return request.json() }
        let end = HostClock.wall() / 1_000_000_000 + Int64(patience.rounded(.up))
        members.append(.init("expires", .string(Timestamp(nanoseconds: end * 1_000_000_000).description)))
        return Value.object(members).json()
    }

    // MARK: replies

    private func wait() throws(ClientError) {
        let isGroupOfNobody: Bool
        if case .group = targets { isGroupOfNobody = waiting.isEmpty } else { isGroupOfNobody = false }
        let least = isGroupOfNobody ? started + patience : 0
        while !Interrupt.came {
            let now = monotonicSeconds()
            for (station, state) in waiting where state.deadline <= now { settle(station, .silent, nil) }
            if waiting.isEmpty, now >= least, !isIncomplete() { return }
            show(now)
            let first = waiting.values.map(\.deadline).min() ?? max(least, now + 0.2)
            guard let message = try client.next(until: min(first, now + 0.2)) else { continue }
            take(message)
        }
    }

    private func show(_ now: Double) {
        guard !waiting.isEmpty else { return }
        let busy = waiting.values.filter(\.wasAccepted).count
        let left = (waiting.values.map(\.deadline).max() ?? now) - now
        let who = waiting.count == 1 ? waiting.keys.first ?? "" : "\(waiting.count) stations"
        let what = busy == waiting.count ? "is at it" : "asked"
        line.show(
            "\(verb): \(who) \(what), \(Int(now - started)) s (at most \(Int(max(0, left).rounded(.up))) s more)"
                + (settled.isEmpty ? "" : ", \(settled.count) answered"))
    }

    private func take(_ message: InboundMessage) {
        guard let (station, rest) = split(message.topic), rest == "res/\(id)" else { return onMessage(message) }
        guard !message.isRetained, !settled.contains(station), var reply = Reply(message.payload, request: id) else {
            return
        }
        (reply.station, reply.seconds) = (station, monotonicSeconds() - started)
        switch reply.phase {
        case .accepted:
            let busy = min(max(0, onAccepted(station, reply)), 86_400)
            waiting[station] = Waiting(deadline: monotonicSeconds() + patience + busy, wasAccepted: true)
        case .done: settle(station, .done, reply)
        case .failed: settle(station, .failed, reply)
        }
    }

    private func settle(_ station: String, _ outcome: Answer.Outcome, _ reply: Reply?) {
        waiting[station] = nil
        guard settled.insert(station).inserted else { return }
        line.clear()
        onAnswer(Answer(station: station, outcome: outcome, reply: reply, seconds: monotonicSeconds() - started))
    }

    /// Station and what comes after it in a topic.
    private func split(_ topic: String) -> (station: String, rest: String)? { Topics.split(topic, root: root) }
}

extension BrokerClient {
    /// Subscribes and takes in what the broker has kept, until nothing new has come for half a second. (A broker sends what it has
    /// kept at once after it has granted a subscription.)
    /// - Parameters:
    ///   - seconds: at most.
    ///   - take: says whether a message was one of those that are looked for.
    func gather(
        _ filters: [String], within seconds: Double, _ take: (InboundMessage) -> Bool
    ) throws(ClientError) {
        try subscribe(filters)
        let end = monotonicSeconds() + seconds
        var quiet = monotonicSeconds() + min(0.5, seconds)
        while !Interrupt.came, let message = try next(until: min(end, quiet)) {
            if take(message), message.isRetained { quiet = monotonicSeconds() + 0.5 }
        }
    }
}

/// One of the replies to a request (interface.md), as far as it is one.
struct Reply {
    let phase: ReplyMessage.Phase
    private let reading: ReplyReading
    var revision: Int? { reading.revision }
    var result: ResultReading { reading.result }
    /// As it was sent.
    var object: Value { reading.tree }
    /// Part of what the station stores could not be read.
    var isIncomplete: Bool { reading.isIncomplete }

    static let incomplete =
        "this is not complete: part of what the station stores could not be read (see its alert storage_set_aside and its log)"
    /// Station that answers, by the topic.
    var station = ""
    /// From the request to this reply.
    var seconds = 0.0

    /// Nil when it is none, or one to another request.
    init?(_ payload: [UInt8], request: String) {
        guard let reading = (try? JSONReader.read(payload)).map(ReplyReading.init), reading.id == request,
            let phase = reading.phase
        else { return nil }
        (self.phase, self.reading) = (phase, reading)
    }

    /// One line for each error.
    var complaints: [String] { Self.complaints(reading.errors) }

    /// One line for each of some error objects.
    static func complaints(_ errors: [CodedErrorReading]) -> [String] { errors.prefix(200).map(complaint) }

    private static func complaint(_ error: CodedErrorReading) -> String {
        var text = ""
        if let path = error.path?.printable, !path.isEmpty { text += path + ": " }
        text += error.message?.printable ?? "refused"
        var details = [error.code?.printable ?? "?"]
        if let got = error.got { details.append("got \(safe(got.jsonText, limit: 80))") }
        if let allowed = error.allowed?.printable { details.append("allowed: \(allowed)") }
        if let nearest = error.nearest?.printable { details.append("did you mean `\(nearest)`?") }
        return text + " [" + details.joined(separator: "; ") + "]"
    }
}

/// Outcome of a request at one station.
struct Answer {
    enum Outcome: String {
        case done, failed
        /// Said by the broker, and no `ping` was answered; nothing else was sent to it.
        case offline
        /// No reply at all, or none after `accepted`.
        case silent
    }

    var station: String
    var outcome: Outcome
    var reply: Reply?
    /// From the request to this end.
    var seconds = 0.0

    /// One line of `--json`.
    var value: Value {
        var members: [Value.Member] = [
            .init("station", .string(station)), .init("outcome", .string(outcome.rawValue)),
        ]
        if let reply { members.append(.init("reply", reply.object)) }
        return .object(members)
    }
}
