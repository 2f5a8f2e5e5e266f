import Administration
import CLinux
import Glibc
import MQTT
import Messages
import Platform
import Settings

/// A connection to the broker of this machine. It has no thread: everything happens inside its calls.
final class Conversation {
    private let connection: MQTTConnection
    private var events: [MQTTEvent] = []
    private var subscribed = 0
    private var answers: [Int32: Int] = [:]
    private(set) var inbox: [InboundMessage] = []
    /// Why it has ended; nil: it has not.
    private(set) var end: String?
    private var isAccepted = false

    /// - Parameter tls: nil: by a socket of this machine, whose path is the host.
    init(
        host: String, port: Int, client: String, user: String? = nil, password: String? = nil,
        tls: MQTTConfiguration.TLS? = nil
    ) throws(Failure) {
        let broker = BrokerAddress(host: host, port: port, tls: tls != nil)
        var options = ConnectionOptions(brokers: [broker], clientID: client)
        (options.mqtt.protocolVersion, options.mqtt.keepalive, options.inboundBytes) = (.v5, 15, RequestQueue.limit)
        if let tls { options.mqtt.tls = tls }
        if let user { (options.mqtt.username, options.mqtt.password) = (user, password ?? "") }
        options.maximumPacketSize = 65_536
        options.receiveMaximum = 50
        // (What one part of the start needed the next does not: the service is small at each moment.)
        if tls != nil { clinux_forget_code() }
        do throws(MQTTFailure) {
            connection = try MQTTConnection(options, to: broker)
            if tls != nil { clinux_forget_code() }
            try connection.connectWaiting()
        } catch { throw Failure(error.description) }
        let deadline = monotonicSeconds() + 10
        while !isAccepted {
            step(wait: 0.2)
            if let end { throw Failure(end) }
            if monotonicSeconds() > deadline { throw Failure("the broker does not answer") }
        }
    }

    func subscribe(_ filters: [String]) throws(Failure) {
        for filter in filters {
            do throws(MQTTFailure) { _ = try connection.subscribe(filter) } catch { throw Failure(error.description) }
        }
        let deadline = monotonicSeconds() + 10
        while subscribed < filters.count {
            step(wait: 0.2)
            if let end { throw Failure(end) }
            if monotonicSeconds() > deadline { throw Failure("the broker does not answer a subscription") }
        }
    }

    /// Publishes, and waits until the broker has it.
    /// - Returns: whether it has taken it.
    func publish(_ topic: String, _ payload: [UInt8]) -> Bool {
        let id: Int32
        do throws(MQTTFailure) {
            id = try connection.publish(topic, payload, qos: 1, retain: false, MQTTProperties(.v5))
        } catch { return false }
        let deadline = monotonicSeconds() + 10
        while answers[id] == nil, end == nil, monotonicSeconds() < deadline { step(wait: 0.2) }
        return answers.removeValue(forKey: id).map { $0 < 128 } ?? false
    }

    /// Takes the messages that have come.
    func take() -> [InboundMessage] {
        defer { inbox.removeAll(keepingCapacity: true) }
        return inbox
    }

    /// Waits for the socket, and does what is to be done there.
    func step(wait seconds: Double) {
        guard connection.socket >= 0, end == nil else {
            end = end ?? "the connection was closed"
            return
        }
        connection.step(wait: seconds)
        connection.takeEvents(into: &events)
        for event in events {
            switch event {
            case .connected: isAccepted = true
            case .refused(_, let reason): end = "refused: \(reason)"
            case .lost(let reason, _, _, _): end = end ?? reason
            case .subscribed(_, let code):
                if code >= 128 { end = "the broker refuses a subscription" }
                subscribed += 1
            case .finished(let id, let reason): answers[id] = reason
            case .message(let message): inbox.append(message)
            case .heard: break
            }
        }
        events.removeAll(keepingCapacity: true)
    }

    func disconnect() { connection.disconnect() }
}
