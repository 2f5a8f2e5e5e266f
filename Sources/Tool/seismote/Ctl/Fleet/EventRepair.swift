import Association
import MQTT
import Messages
import Values

/// Sees in `boot` and `seq` which messages of stations' events have not come, and asks for them with the command
/// `resend`: they come on `data/history/event/trigger`.
struct EventRepair {
    static let filters = ["event/trigger", "data/history/event/trigger"]
    /// Topics below a station on which messages of events come.
    static let topics = Set(filters)

    let root: String
    private var watch = SequenceWatch()
    private let name = RandomUUID.text().prefix(8)
    private var asked = 0

    init(root: String) { self.root = root }

    /// Notes a message.
    /// - Parameter topic: below the station.
    /// - Returns: false when it has come before, or was sent again for somebody who wanted what was before us.
    mutating func isNew(_ event: Value, of station: String, on topic: String) -> Bool {
        let isLive = topic == Self.filters[0]
        guard let boot = event["boot"]?.rawText, let number = event["seq"]?.whole else { return isLive }
        guard isLive || watch.mark(of: station) != nil else { return false }
        let made = event["t"]?.rawText.flatMap(Timestamp.init)?.nanoseconds
        return watch.note(station, boot: boot, number: number, made: made, at: monotonicSeconds())
    }

    /// Asks for what is missing, again where it does not come. A broker that does not let us leaves things as they are.
    mutating func ask(_ client: BrokerClient) {
        for gap in watch.due(at: monotonicSeconds()) {
            asked += 1
            let request: Value = [
                "id": .string("ctl-\(name)-\(asked)"), "source": "seismote ctl", "stream": "event/trigger",
                "boot": .string(gap.boot), "from_seq": .int(Int64(gap.from)), "to_seq": .int(Int64(gap.to)),
            ]
            _ = try? client.send("\(root)/\(gap.station)/cmd/resend", request.json())
        }
        _ = client.takeAcknowledged()
    }
}
