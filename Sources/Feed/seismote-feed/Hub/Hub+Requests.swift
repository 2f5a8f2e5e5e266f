import Feed
import Link
import Messages
import Settings

/// What stations are asked for.
extension Hub {
    /// Nanoseconds of samples that a station is asked for at most: its line is for what happens now.
    static let mostAsked: Int64 = 600_000_000_000

    /// Asks a station for samples at the sensor's rate; those of other rates come by themselves or not at all.
    func ask(_ id: String, _ rate: Double, _ hole: (from: Int64, to: Int64), _ now: Double) {
        guard let unit = units[id], abs(unit.rate - rate) < 0.01 * rate else { return }
        if let open = requests[id], now < open.until { return }
        let from = max(hole.from, hole.to - Self.mostAsked)
        let request = order(id, from: from - 100_000_000, to: hole.to + 100_000_000)
        requests[id] = (request, now + settings.patience)
    }

    /// Sends the command.
    /// - Returns: its id.
    func order(_ id: String, from: Int64, to: Int64) -> String {
        requestNumber += 1
        let request = "feed-\(boot)-\(requestNumber)"
        contents.counts.asked += 1
        let body: Value = [
            "id": .string(request), "source": "seismote feed",
            "from": .string(Timestamp(nanoseconds: from).description),
            "to": .string(Timestamp(nanoseconds: to).description),
        ]
        send("\(settings.root)/\(id)/cmd/snapshot", body.json())
        return request
    }

    func reply(_ id: String, _ message: InboundMessage, _ now: Double) {
        guard let tree = try? JSONReader.read(message.payload), !replyToFetch(id, tree),
            case .string(let request)? = tree["id"], requests[id]?.id == request, let phase = tree["phase"],
            phase != .string("accepted")
        else { return }
        // It is asked again only when a second has passed; the patience ends what does not come.
        requests[id] = ("", now + 5)
    }

    func send(_ topic: String, _ payload: [UInt8]) {
        let header = PublicationHeader(topic: topic, qos: 1, retain: false, expiry: 60, priority: .essential)
        payload.withUnsafeBytes { link.publish(header, $0) }
    }
}
