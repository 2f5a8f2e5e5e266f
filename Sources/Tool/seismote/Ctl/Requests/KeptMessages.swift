import MQTT
import Messages

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
