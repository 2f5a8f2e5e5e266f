import Exchange
import Feed
import Link
import Messages
import Servers
import Settings

/// What stations say, besides samples.
extension Hub {
    func take(_ message: InboundMessage, _ now: Double) throws(DatabaseError) {
        guard !message.isTooLarge else { return }
        if let topic = Topics.rest(of: message.topic, below: "\(settings.root)/network") {
            return try takeNetwork(topic, message)
        }
        guard let (id, topic) = Topics.split(message.topic, root: settings.root) else { return }
        // A live message proves that the station is online, even if the retained state is stale.
        if topic == "data/trace" || topic == "state/level", !message.isRetained, contents.states[id]?.isOnline != true {
            change(id) { $0.isOnline = true }
        }
        switch topic {
        case "data/trace", "data/history/trace": try takeTrace(id, message, now)
        case "state/online":
            change(id) { $0.isOnline = message.payload == Array("online".utf8) }
        case "state/info", "state/config", "state/level", "state/health":
            guard let tree = try? JSONReader.read(message.payload) else { return }
            learn(id, topic, tree, now)
            if topic == "state/info" || topic == "state/config" {
                try ring.set(id, topic, message.payload)
                guard codes[id] != nil else { return }
                for one in homeless.removeValue(forKey: id) ?? [] { try takeTrace(id, one, now) }
            }
        case "event/trigger", "event/last", "data/history/event/trigger": try takeEvent(id, message)
        default:
            let waveform = "data/history/waveform/"
            if topic.hasPrefix(waveform + "feed-") {
                if try takeFetched(id, String(topic.dropFirst(waveform.count)), message) { return }
                try takeTrace(id, message, now, unit: units[id]?.unit)
            } else if topic.hasPrefix("res/feed-") {
                reply(id, message, now)
            }
        }
    }

    func change(_ id: String, _ body: (inout Board.StationState) -> Void) {
        // (A broker that anybody may write to must not fill the memory.)
        guard contents.states[id] != nil || contents.states.count < 20_000 else { return }
        body(&contents.states[id, default: .init(id: id)])
    }

    func learn(_ id: String, _ topic: String, _ tree: Value, _ now: Double = 0) {
        switch topic {
        case "state/level":
            return change(id) { ($0.level, $0.levelAt) = (tree, now) }
        case "state/health": return change(id) { $0.health = tree }
        case "state/info": change(id) { $0.info = tree }
        default: change(id) { $0.config = tree }
        }
        guard let state = contents.states[id], let info = state.info else { return }
        // The names of channels depend on where north is, which the settings say: they come with it, or not at all.
        if state.config == nil, codes[id] == nil, now < patience[id, default: now + Self.configSeconds] {
            if patience[id] == nil { patience[id] = now + Self.configSeconds }
            return
        }
        guard settings.serves(info) else {
            codes[id] = nil
            return
        }
        guard let station = DescribedStation(info: info, config: state.config) else { return }
        var codes = station.codes
        if let own = settings.codes[id] {
            (codes.network, codes.station, codes.location) = (own.network, own.station, own.location)
        }
        units[id] = (station.rate, station.unitPerCount)
        contents.rates[id] = station.rate
        if let index = stationIndex["\(codes.network)_\(codes.station)"], !station.identity.description.isEmpty {
            contents.stations[index].description = station.identity.description
        }
        self.codes[id] = codes
    }

    /// An earthquake that several stations have seen: the newest version is kept.
    private func takeNetwork(_ topic: String, _ message: InboundMessage) throws(DatabaseError) {
        guard topic == "event" || topic == "event/last", let tree = try? JSONReader.read(message.payload),
            case .string(let name)? = tree["event_id"], case .int(let version)? = tree["version"],
            case .string(let text)? = tree["origin_time"], let origin = Timestamp(text)
        else { return }
        if version <= networkVersions[name] ?? 0 { return }
        if networkVersions.count > 1000 { networkVersions = [:] }
        networkVersions[name] = version
        if tree["withdrawn"] == .bool(true) || tree["merged_into"] != nil {
            try ring.remove(event: name)
        } else {
            try ring.add(event: name, "network", onset: origin.nanoseconds, message.payload)
        }
    }

    func takeEvent(_ id: String, _ message: InboundMessage) throws(DatabaseError) {
        guard let tree = try? JSONReader.read(message.payload), tree["event_type"] == .string("end"),
            case .string(let name)? = tree["event_id"], case .string(let text)? = tree["onset"],
            let onset = Timestamp(text)
        else { return }
        if let info = contents.states[id]?.info, !settings.serves(info) { return }
        try ring.add(event: name, id, onset: onset.nanoseconds, message.payload)
    }
}
