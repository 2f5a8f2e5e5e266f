import Association
import Messages
import Propagation
import Settings
import Values

/// The detector of a network on a cluster of brokers: messages out of one queue in, what is to be done out. Pure.
///
/// The queue has one active consumer. What may still be needed is not acknowledged, so that the broker gives it to the
/// next one when this one is gone: first all that it had, then the rest. The next one learns by a marker of its own where
/// that ends, computes in silence what its predecessor has computed, and goes on. A version of a network event is written
/// into the queue before it is published, and comes back when it has been published: whoever finds it written and not
/// published publishes just that.
package struct ClusterDetector: Sendable {
    package enum Phase: Sendable { case waiting, learning, active }

    let options: ClusterOptions
    var detector: NetworkDetector
    var watch = SequenceWatch()
    var held = HeldMessages()
    package private(set) var phase = Phase.waiting
    /// What has come while learning.
    private var history: [ClusterDelivery] = []
    /// This run, in the envelope of all that it says.
    package let boot: String
    var actions: [ClusterAction] = []
    private var number = 0
    /// Versions that are being written down, by the number of that.
    private var writing: [Int: (topic: String, payload: [UInt8])] = [:]
    private var sequence = 0
    private var statusSequence = 0
    private var confirmations = 0
    /// What stations were told by this run; a successor tells the stations of open events once more.
    private var confirmed = ConfirmationBook()
    var asked = 0
    private var askedForPlace: [String: Double] = [:]
    private var nextSecond = 0.0
    private var nextStatus = 0.0
    private var home: NetworkHomeAssistant?
    /// When Home Assistant, which has just been told of new sensors, is told their values.
    private var valuesDue: Double?
    /// The newest version of a network event.
    private var last: [UInt8]?

    package init(_ options: ClusterOptions, _ association: AssociationOptions, boot: String) {
        (self.options, self.boot) = (options, boot)
        detector = NetworkDetector(association, isEarly: !options.isSettled)
        home = NetworkHomeAssistant(
            root: options.root, prefix: options.homeAssistant, version: options.version, confirms: options.confirms)
        // Where nobody else reads the queue, this comes back at once.
        mark()
    }

    package var stations: Int { detector.stations }
    /// When time alone brings something next, nanoseconds of UTC; nil: not before another message.
    package var due: Int64? { phase == .active ? detector.due : nil }
    /// Messages that are not acknowledged.
    package var heldCount: Int { held.count + history.count }

    /// What is to be done since the last call.
    package mutating func takeActions() -> [ClusterAction] {
        defer { actions = [] }
        return actions
    }

    // MARK: In

    /// - Parameters:
    ///   - now: nanoseconds of UTC.
    ///   - clock: seconds of a clock that does not go back.
    package mutating func take(_ deliveries: [ClusterDelivery], now: Int64, clock: Double) {
        var rest = deliveries[...]
        while phase != .active, let delivery = rest.popFirst() {
            if delivery.kind == .marker {
                actions.append(.acknowledge(delivery.tag))
                if delivery.name == boot { learn(now, clock) }
            } else {
                if phase == .waiting {
                    phase = .learning
                    mark()
                }
                history.append(delivery)
            }
        }
        guard phase == .active else { return }
        var spoken: [Spoken] = []
        for delivery in rest { spoken += take(delivery, clock) }
        spoken += detector.pass(clock: now)
        say(spoken)
    }

    /// The cluster has what was sent under this number.
    package mutating func confirmed(_ number: Int) {
        guard let (topic, payload) = writing.removeValue(forKey: number) else { return }
        publishVersion(topic, payload)
    }

    /// Nobody keeps `event/last` here: it is said again with each status.
    private mutating func publishVersion(_ topic: String, _ payload: [UInt8]) {
        publish(topic, payload)
        publish("\(topic)/last", payload)
        last = payload
    }

    private mutating func mark() { keep(.marker, boot, []) }

    /// Everything that was in the queue has come.
    private mutating func learn(_ now: Int64, _ clock: Double) {
        phase = .active
        let all = history.sorted { ($0.arrival, $0.tag) < ($1.arrival, $1.tag) }
        history = []
        var unsent: [(arrival: Int64, payload: [UInt8])] = []
        for delivery in all where isVersion(delivery) {
            note(delivery)
            guard let tree = try? JSONReader.read(delivery.payload) else { continue }
            detector.restore(tree)
            last = delivery.payload
        }
        for delivery in all where delivery.kind == .version {
            guard let (id, version, _) = read(delivery), held.events[id]?.kept[version] == delivery.tag,
                held.events[id]?.seen[version] == nil
            else { continue }
            unsent.append((delivery.arrival, delivery.payload))
        }
        detector.isMuted = true
        for delivery in all where isPlace(delivery) { _ = take(delivery, clock) }
        let others = all.filter { !isVersion($0) && !isPlace($0) }
        for delivery in others where delivery.isAgain {
            _ = detector.pass(clock: delivery.arrival)
            _ = take(delivery, clock)
        }
        detector.isMuted = false
        for one in unsent { publishVersion("\(options.root)/network/event", one.payload) }
        // What nobody has had yet is news.
        var spoken: [Spoken] = []
        for delivery in others where !delivery.isAgain {
            spoken += detector.pass(clock: delivery.arrival)
            spoken += take(delivery, clock)
        }
        spoken += detector.pass(clock: now)
        say(spoken)
        (nextSecond, nextStatus) = (clock, clock)
        for one in detector.moved { askForPlace(one.station, clock) }
        if detector.stations == 0 { publish("\(options.root)/group/all/cmd/rebirth", Array("{}".utf8)) }
    }

    private func isVersion(_ delivery: ClusterDelivery) -> Bool {
        delivery.kind == .version || delivery.kind == .published && delivery.name == "\(options.root)/network/event"
    }

    private func isPlace(_ delivery: ClusterDelivery) -> Bool {
        delivery.kind == .station
            || delivery.kind == .published && (delivery.name.hasSuffix("/state/info") || entered(delivery) != nil)
    }

    /// The station whose place the operator has entered by this message.
    private func entered(_ delivery: ClusterDelivery) -> String? {
        Topics.stationPlaced(by: delivery.name, root: options.root)
    }

    private func read(_ delivery: ClusterDelivery) -> (id: String, version: Int, isEnd: Bool)? {
        guard let tree = try? JSONReader.read(delivery.payload), let id = tree["event_id"]?.rawText,
            let version = tree["version"]?.whole
        else { return nil }
        return (id, version, tree["event_type"] == .string("end"))
    }

    private mutating func note(_ delivery: ClusterDelivery) {
        guard let (id, version, isEnd) = read(delivery) else { return free(delivery.tag) }
        for tag in held.note(id, version, delivery, isEnd: isEnd) { free(tag) }
    }

    /// Takes one message; it is held or acknowledged.
    private mutating func take(_ delivery: ClusterDelivery, _ clock: Double) -> [Spoken] {
        switch delivery.kind {
        case .marker: free(delivery.tag)
        case .version: note(delivery)
        case .station: takeStation(delivery)
        case .published:
            if isVersion(delivery) {
                note(delivery)
            } else if delivery.name == home?.birthTopic {
                if delivery.payload.elementsEqual("online".utf8) { home?.forget() }
                free(delivery.tag)
            } else if let station = entered(delivery) {
                enterPlace(station, delivery, clock)
            } else if let (station, rest) = Topics.split(delivery.name, root: options.root) {
                return take(station, rest, delivery, clock)
            } else {
                free(delivery.tag)
            }
        }
        return []
    }

    private mutating func take(
        _ station: String, _ rest: String, _ delivery: ClusterDelivery, _ clock: Double
    ) -> [Spoken] {
        if let heard = held.stations[station]?.heard, heard < delivery.arrival {
            held.stations[station]?.heard = delivery.arrival
        }
        if rest == "state/online" {
            let isOffline = delivery.payload.elementsEqual("offline".utf8)
            _ = detector.take(
                station: station, topic: rest, payload: .string(isOffline ? "offline" : "online"),
                arrival: delivery.arrival)
            if let old = held.setOffline(station, isOffline ? delivery.tag : nil) { free(old) }
            if !isOffline { free(delivery.tag) }
            return []
        }
        guard let tree = try? JSONReader.read(delivery.payload) else {
            free(delivery.tag)
            return []
        }
        if rest == "state/info" {
            setStation(station, tree, delivery.payload, heard: delivery.arrival, delivery)
            return []
        }
        if let boot = tree["boot"]?.rawText, let number = tree["seq"]?.whole {
            let made = tree["t"]?.rawText.flatMap(Timestamp.init)?.nanoseconds
            _ = watch.note(station, boot: boot, number: number, made: made, at: clock)
        }
        switch detector.take(station: station, topic: "event/trigger", payload: tree, arrival: delivery.arrival) {
        case .success(let spoken):
            held.hold(delivery)
            return spoken
        case .failure(let reason):
            free(delivery.tag)
            if reason == .unplaced { askForPlace(station, clock) }
            return []
        }
    }

    // MARK: Stations

    private mutating func setStation(
        _ id: String, _ tree: Value, _ info: [UInt8], heard: Int64, _ delivery: ClusterDelivery
    ) {
        guard case .success = detector.take(station: id, topic: "state/info", payload: tree, arrival: delivery.arrival)
        else { return free(delivery.tag) }
        askedForPlace[id] = nil
        let station = HeldMessages.Station(tag: delivery.tag, arrival: delivery.arrival, heard: heard, info: info)
        if let old = held.setStation(id, station) { free(old) }
    }

    /// Takes what the operator has entered of a station; it is held, for the next detector.
    private mutating func enterPlace(_ id: String, _ delivery: ClusterDelivery, _ clock: Double) {
        let payload = delivery.payload
        let tree = payload.isEmpty ? nil : (try? JSONReader.read(payload)) ?? .null
        guard case .success = detector.enterPlace(tree, of: id, arrival: delivery.arrival) else {
            return free(delivery.tag)
        }
        let new = HeldMessages.Entered(tag: delivery.tag, arrival: delivery.arrival, payload: payload)
        if let old = held.setEntered(id, payload.isEmpty ? nil : new) { free(old) }
        if payload.isEmpty { free(delivery.tag) }
        // What is in force may be older than what the station says now.
        if phase == .active, detector.isMoved(id) { askForPlace(id, clock) }
        nextStatus = clock
    }

    /// What a detector has written down of a station.
    private mutating func takeStation(_ delivery: ClusterDelivery) {
        guard let tree = try? JSONReader.read(delivery.payload), let info = tree["info"],
            let heard = tree["heard"]?.whole
        else { return free(delivery.tag) }
        if watch.mark(of: delivery.name) == nil {
            // (A detector of an earlier version has written one run alone.)
            var marks = [tree["mark"]].compactMap { $0 }
            if case .array(let list)? = tree["marks"] { marks = list }
            for mark in marks {
                guard let boot = mark["boot"]?.rawText, let seq = mark["seq"]?.whole else { continue }
                let made = mark["made"]?.rawText.flatMap(Timestamp.init)?.nanoseconds
                watch.restore(delivery.name, .init(boot: boot, number: seq, made: made))
            }
        }
        let known = held.stations[delivery.name]
        // It has said something newer itself.
        if let known, known.heard > Int64(heard), !known.isRefreshing { return free(delivery.tag) }
        setStation(
            delivery.name, info, known?.info ?? info.json(), heard: max(known?.heard ?? 0, Int64(heard)), delivery)
    }

    /// Writes down again what is old, a part of it at a time.
    private mutating func refresh(_ now: Int64) {
        let old = now - Int64(options.refreshSeconds * 1e9)
        let gone = now - Int64(options.forgetSeconds * 1e9)
        var left = 100
        for (id, entered) in held.entered where entered.arrival < old && !entered.isRefreshing {
            held.entered[id]?.isRefreshing = true
            publish(Topics.place(of: id, root: options.root), entered.payload)
            left -= 1
            if left == 0 { return }
        }
        for (id, station) in held.stations where station.arrival < old && !station.isRefreshing {
            if station.heard < gone {
                held.stations[id] = nil
                free(station.tag)
                continue
            }
            var bytes = Array(#"{"heard":\#(station.heard),"#.utf8)
            let marks = watch.marks(of: id).map { mark -> Value in
                let made = mark.made.map { Value.string(Timestamp(nanoseconds: $0).description) } ?? .null
                return ["boot": .string(mark.boot), "seq": .int(Int64(mark.number)), "made": made]
            }
            if !marks.isEmpty { bytes += Array(#""marks":"#.utf8) + Value.array(marks).json() + [UInt8(ascii: ",")] }
            bytes += Array(#""info":"#.utf8) + station.info + [UInt8(ascii: "}")]
            held.stations[id]?.isRefreshing = true
            keep(.station, id, bytes)
            left -= 1
            if left == 0 { return }
        }
    }

    private mutating func askForPlace(_ station: String, _ clock: Double) {
        guard clock > askedForPlace[station] ?? 0 else { return }
        if askedForPlace.count > 10_000 { askedForPlace.removeAll() }
        askedForPlace[station] = clock + 60
        publish("\(options.root)/\(station)/cmd/rebirth", Array("{}".utf8))
    }

    // MARK: Out

    private mutating func next() -> Int {
        number += 1
        return number
    }

    private mutating func keep(_ kind: ClusterKind, _ name: String, _ payload: [UInt8]) {
        actions.append(.keep(number: next(), kind: kind, name: name, payload: payload))
    }

    private mutating func publish(_ topic: String, _ payload: [UInt8]) {
        actions.append(.publish(number: next(), topic: topic, payload: payload))
    }

    private mutating func free(_ tag: UInt64) { actions.append(.acknowledge(tag)) }

    private mutating func say(_ spoken: [Spoken]) {
        for one in spoken {
            let payload = one.message.json(boot: boot, number: sequence, time: one.time)
            sequence += 1
            keep(.version, "\(one.message.eventID)/\(one.message.version)", payload)
            writing[number] = ("\(options.root)/network/event", payload)
            if options.confirms { confirm(one) }
        }
    }

    private mutating func confirm(_ spoken: Spoken) {
        var notices: [ConfirmationBook.Notice] = []
        confirmed.announce(spoken.message) { notices.append($0) }
        for notice in notices {
            switch notice {
            case .message(let message):
                let bytes = message.json(boot: boot, number: confirmations, time: spoken.time)
                confirmations += 1
                publish("\(options.root)/network/confirmed/\(message.station)", bytes)
            case .command(let station, let request):
                publish("\(options.root)/\(station)/cmd/confirm-event", request.json())
            }
        }
    }

    // MARK: By the clock

    /// - Parameters: as of `take`.
    package mutating func beat(now: Int64, clock: Double) {
        guard phase == .active, clock >= nextSecond else { return }
        nextSecond = clock + 1
        for gap in watch.due(at: clock) {
            asked += 1
            publish("\(options.root)/\(gap.station)/cmd/resend", gap.request(run: boot, number: asked).json())
        }
        let margin = Int64(options.margin * 1e9)
        let needed = min(detector.oldestNeeded ?? .max, now) - margin
        let ended = now - 3 * margin
        for tag in held.release(onsetsBefore: needed, eventsBefore: ended, most: options.most) { free(tag) }
        refresh(now)
        tellHomeAssistant(clock)
        if clock >= nextStatus {
            nextStatus = clock + options.statusSeconds
            sayStatus(isOnline: true, now: now)
            // For those who have come since.
            if let last { publish("\(options.root)/network/event/last", last) }
        }
    }

    /// Nothing is retained here: it is told of sensors when it comes up, and of their values once it has subscribed.
    private mutating func tellHomeAssistant(_ clock: Double) {
        let news = home?.news(of: detector) ?? []
        for (topic, message) in news { publish(topic, message.json()) }
        if !news.isEmpty { valuesDue = clock + 2 }
        guard let due = valuesDue, clock >= due else { return }
        valuesDue = nil
        nextStatus = clock
    }

    /// The last word of one that ends by itself.
    package mutating func sayGoodbye(now: Int64) {
        if phase == .active { sayStatus(isOnline: false, now: now) }
    }

    private mutating func sayStatus(isOnline: Bool, now: Int64) {
        let message = NetworkStatusMessage(
            isOnline: isOnline, version: options.version, detector, watch, asked: asked, published: sequence)
        publish("\(options.root)/network/status", message.json(boot: boot, number: statusSequence, time: now))
        statusSequence += 1
    }
}
