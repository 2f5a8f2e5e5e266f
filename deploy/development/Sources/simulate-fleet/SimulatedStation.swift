import Association
import MQTT
import Messages
import Platform
import Propagation
import Seismology
import Settings
import Station
import Values

/// One station of a simulated fleet: the agent's messages, made by the agent's code, over a connection of its own.
final class SimulatedStation {
    let id: String
    let place: Place
    /// Among all stations, and among those of its thread.
    let number: Int
    let index: Int
    unowned let fleet: SimulatedFleet
    var connection: MQTTConnection?
    var attempts = 0
    /// The broker has let it in, but may be busy with its subscriptions still.
    var isConnected = false
    /// It is on its way: connected or not, the broker has not answered to who it is.
    var isArriving = false {
        didSet { if isArriving != oldValue { fleet.board.arriving.add(isArriving ? 1 : -1) } }
    }
    /// The broker has answered to who it is, and so has taken its subscriptions.
    private var isKnown = false {
        didSet { if isKnown != oldValue { fleet.board.connected.add(isKnown ? 1 : -1) } }
    }
    /// libmosquitto's number of the message that says who it is.
    private var greeting: Int32?
    /// Monotonic seconds.
    var nextAttempt = 0.0
    var nextMisc = 0.0
    var nextLevel = 0.0
    var nextHealth = 0.0
    /// Earthquakes that shake it, or will, and how many of its events are open.
    private var shakings: [SimulatedEarthquake.Shaking] = []
    private var openEvents = 0
    /// Scatter of the site and the sensor.
    let scatter: Double
    private let topics: Topics
    private var messenger: Messenger
    /// Event messages that can be asked for again, by their number.
    private var kept: [(number: Int, payload: [UInt8])] = []
    private var eventNumber = 0
    private var isLosing = false
    /// Messages of QoS 1 without an answer, by libmosquitto's number; those of events are noted.
    private var waiting: [Int32: FleetBoard.Sent?] = [:]
    private let boot = RandomUUID.text()
    /// Whether epoll is told to wait until the socket takes more.
    var isWriting = false
    var socket: Int32 = -1

    init(
        _ id: String, _ place: Place, number: Int, index: Int, scatter: Double, fleet: SimulatedFleet
    ) throws(TopicError) {
        (self.id, self.place, self.number, self.index) = (id, place, number, index)
        (self.scatter, self.fleet) = (scatter, fleet)
        topics = try Topics(root: fleet.root, id: id)
        messenger = Messenger(topics: topics, boot: boot)
    }

    /// The connection is lost.
    func end() {
        (isConnected, isArriving, isKnown, greeting) = (false, false, false, nil)
        leave()
    }

    /// Gives the connection back, in the thread that made it: its open files are that thread's.
    func leave() {
        socket = -1
        connection = nil
        for case let sent? in waiting.values { fleet.board.note(sent) }
        waiting = [:]
    }

    /// The next event message is not sent, as if it had been lost on the way.
    func loseNext() { isLosing = true }

    // MARK: Messages

    private func publish(_ header: PublicationHeader, _ bytes: UnsafeRawBufferPointer) {
        guard let connection, isConnected else {
            if header.event != nil { fleet.board.unsent.add() }
            return
        }
        guard
            let number = try? connection.publish(
                header.topic, bytes, qos: header.qos, retain: header.retain, MQTTProperties(fleet.access.version))
        else { return }
        guard header.qos > 0 else { return fleet.board.published.0.add() }
        fleet.board.published.1.add()
        if header.topic == topics.info { greeting = number }
        waiting.updateValue(header.event.map { .init(event: $0, time: realNanoseconds()) }, forKey: number)
    }

    /// Takes an event of its connection, other than an end.
    func take(_ event: MQTTEvent) {
        switch event {
        case .connected: subscribe()
        case .message(let message) where !message.isRetained:
            take(message.topic, try? JSONReader.read(message.payload))
        case .finished(let id, let reason): take(answer: id, reason: Int32(reason))
        default: break
        }
    }

    private func subscribe() {
        isConnected = true
        for filter in ["\(fleet.root)/\(id)/cmd/+", "\(fleet.root)/group/all/cmd/+"] {
            _ = try? connection?.subscribe(filter)
        }
        sayWhoIAm()
    }

    /// The broker's answer to a message.
    private func take(answer number: Int32, reason: Int32) {
        // (libmosquitto tells of those of QoS 0, too.)
        guard let message = waiting.removeValue(forKey: number) else { return }
        (reason < 128 ? fleet.board.acknowledged : fleet.board.refused).add()
        if number == greeting { (isArriving, isKnown, greeting) = (false, true, nil) }
        guard var sent = message else { return }
        (sent.answer, sent.reason) = (realNanoseconds(), reason)
        fleet.board.note(sent)
    }

    func sayWhoIAm() {
        messenger.send(online: true, to: publish)
        var identity = StationIdentity()
        identity.id = id
        (identity.latitude, identity.longitude) = (place.latitude, place.longitude)
        identity.elevation = 0
        identity.groups = ["simulated"]
        let info = InfoMessage(
            agent: .init(version: productVersion, build: "simulated"), station: identity,
            sensor: .init(driver: "simulate", chip: "fleet", rate: 100),
            capabilities: .init(verbs: ["rebirth", "resend"], encodings: ["json"], scales: ["worden12"]))
        messenger.send(info, time: realNanoseconds(), to: publish)
    }

    /// The state of the ground at a time (seconds of UTC): noise, and above it what still shakes.
    /// - Parameter noise: m/s².
    func sayLevel(noise: Double, at time: Double) {
        var summary = SummaryMessage()
        summary.window = Self.window
        summary.pga = shakings.reduce(noise) { max($0, $1.peak(within: time - Self.window...time)) }
        shakings.removeAll { $0.isOver(at: time) }
        (summary.pgv, summary.intensity) = Self.measures(pga: summary.pga)
        summary.triggered = openEvents > 0
        // The agent sends both together; of a fleet the small one is enough.
        messenger.send(summary, time: realNanoseconds(), quality: Self.quality) { header, bytes in
            if header.topic == topics.level { publish(header, bytes) }
        }
    }

    func sayHealth() {
        messenger.send(HealthMessage(sensor: .ok, time: Self.quality), time: realNanoseconds(), to: publish)
    }

    /// Waves are on their way to it, or there: its levels follow.
    func feel(_ shaking: SimulatedEarthquake.Shaking) { shakings.append(shaking) }

    /// Peak velocity (m/s) of a motion with that peak acceleration at 1.6 Hz, and the intensity of both.
    private static func measures(pga: Double) -> (pgv: Double, [IntensityValue]) {
        let pgv = pga / 10
        return (pgv, IntensityValue(.worden12, .init(pga: pga, pgv: pgv), jma: nil).map { [$0] } ?? [])
    }

    /// Seconds that a level is taken over, as an agent's are.
    private static let window = 10.0
    private static let quality = TimeQuality(synced: true, source: .ntp, errorMs: 1)

    /// - Parameters:
    ///   - onset: nanoseconds of UTC.
    ///   - seconds: since the onset.
    ///   - peak: m/s².
    func sayEvent(_ kind: EventMessage.Kind, onset: Int64, seconds: Double, peak: Double) {
        var event = EventMessage(kind: kind, eventID: topics.eventID(onset: onset), onset: onset)
        event.pga = peak
        event.pgaPercentG = peak / 0.0980665
        (event.pgv, event.intensity) = Self.measures(pga: peak)
        event.duration = seconds
        if kind == .onset { openEvents += 1 }
        if kind == .end {
            event.end = onset + Int64(seconds * 1e9)
            openEvents -= 1
        }
        let isLost = isLosing
        isLosing = false
        messenger.send(event, time: onset + Int64(seconds * 1e9), quality: Self.quality) { header, bytes in
            guard header.topic == topics.trigger else { return publish(header, bytes) }
            kept.append((eventNumber, Array(bytes)))
            if kept.count > 20 { kept.removeFirst() }
            if !isLost { publish(header, bytes) }
        }
        eventNumber += 1
    }

    // MARK: Commands

    private func take(_ topic: String, _ payload: Value?) {
        if topic.hasSuffix("/cmd/rebirth") {
            fleet.later(fleet.random.uniform(0...fleet.options.rebirthSeconds)) { [weak self] in
                guard let self, isConnected else { return }
                sayWhoIAm()
            }
        } else if topic.hasSuffix("/cmd/resend"), payload?["boot"]?.rawText == boot,
            let from = payload?["from_seq"]?.whole, let to = payload?["to_seq"]?.whole, from <= to
        {
            fleet.board.resent.add()
            for one in kept where (from...to).contains(one.number) {
                var header = Stream.trigger.delivery.header(
                    topic: topics.history(of: topics.trigger))
                header.isHistory = true
                one.payload.withUnsafeBytes { publish(header, $0) }
            }
        }
    }
}
