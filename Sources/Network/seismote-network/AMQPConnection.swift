import CRabbitMQ
import Glibc
import MQTT
import Platform
import Settings

/// An error of a node; a sentence.
struct AMQPError: Error {
    var message: String
}

/// One connection to one node, with one channel. It has no thread: everything happens inside its calls.
final class AMQPConnection {
    private let connection: amqp_connection_state_t
    private let channel: amqp_channel_t = 1
    private static let exchange = "amq.topic"
    /// Seconds for a connection, and for each answer.
    private static let patience = 5
    /// Seconds between signs of life; twice that without any, and the node is taken for dead.
    private static let heartbeat: Int32 = 5
    /// The most that one consumer is given without acknowledging; with 0 a quorum queue gives 2000.
    private static let mostUnacknowledged: UInt16 = 65_535
    /// Numbers of what was sent and not confirmed, in their order.
    private var unconfirmed: [(tag: UInt64, number: Int?, isKept: Bool)] = []
    private var sent: UInt64 = 0
    private var confirmed: [Int] = []

    init(_ node: ClusterNode, _ access: ConnectionOptions) throws(AMQPError) {
        guard let connection = amqp_new_connection() else { throw AMQPError(message: "no memory for a connection") }
        self.connection = connection
        var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
        amqp_set_handshake_timeout(connection, &patience)
        amqp_set_rpc_timeout(connection, &patience)
        let socket = try Self.socket(connection, node, access.mqtt.tls)
        let code = amqp_socket_open_noblock(socket, node.host, Int32(node.port), &patience)
        guard code == 0 else { throw AMQPError(message: Self.text(code)) }
        let login = crabbitmq_login(connection, Self.heartbeat, access.mqtt.username, access.mqtt.password)
        try check(login, "login")
        amqp_channel_open(connection, channel)
        try check(amqp_get_rpc_reply(connection), "channel")
    }

    deinit { amqp_destroy_connection(connection) }

    private static func socket(
        _ connection: amqp_connection_state_t, _ node: ClusterNode, _ tls: MQTTConfiguration.TLS
    ) throws(AMQPError) -> OpaquePointer {
        guard node.isEncrypted else {
            guard let socket = amqp_tcp_socket_new(connection) else {
                throw AMQPError(message: "no memory for a socket")
            }
            return socket
        }
        // OpenSSL would ask for the pass phrase of a key at the terminal, and wait for it.
        if let problem = TransportSecurity.fileProblem(tls) { throw AMQPError(message: problem) }
        guard let socket = amqp_ssl_socket_new(connection) else { throw AMQPError(message: "TLS is not available") }
        if !tls.caFile.isEmpty, amqp_ssl_socket_set_cacert(socket, tls.caFile) != 0 {
            throw AMQPError(message: "mqtt.tls.ca_file \(tls.caFile) cannot be used")
        }
        if !tls.certFile.isEmpty, amqp_ssl_socket_set_key(socket, tls.certFile, tls.keyFile) != 0 {
            throw AMQPError(message: "mqtt.tls.cert_file \(tls.certFile) and its key cannot be used")
        }
        amqp_ssl_socket_set_verify_peer(socket, 1)
        amqp_ssl_socket_set_verify_hostname(socket, 1)
        return socket
    }

    private static func text(_ code: Int32) -> String { String(cString: amqp_error_string2(code)) }

    private func check(_ reply: amqp_rpc_reply_t, _ what: String) throws(AMQPError) {
        switch reply.reply_type {
        case AMQP_RESPONSE_NORMAL: return
        case AMQP_RESPONSE_LIBRARY_EXCEPTION:
            throw AMQPError(message: "\(what): \(Self.text(reply.library_error))")
        default: throw ended(what, reply.reply.id, reply.reply.decoded)
        }
    }

    private func ended(_ what: String, _ id: amqp_method_number_t, _ decoded: UnsafeMutableRawPointer?) -> AMQPError {
        let reason = Self.string(crabbitmq_reason(id, decoded))
        return AMQPError(message: "\(what): \(reason.isEmpty ? "refused" : reason)")
    }

    private static func string(_ bytes: amqp_bytes_t) -> String { String(decoding: self.bytes(bytes), as: UTF8.self) }

    private static func bytes(_ bytes: amqp_bytes_t) -> [UInt8] {
        [UInt8](UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len))
    }

    // MARK: The queue

    /// Makes the queue where it is not there, binds it to topics, and begins to read it.
    /// - Parameter keys: topics with dots, `*` for one level.
    func consume(_ queue: String, boundTo keys: [String]) throws(AMQPError) {
        try check(crabbitmq_declare(connection, channel, queue), "queue \(queue)")
        for key in keys {
            try check(crabbitmq_bind(connection, channel, queue, Self.exchange, key), "binding \(key)")
        }
        amqp_confirm_select(connection, channel)
        try check(amqp_get_rpc_reply(connection), "confirmations")
        amqp_basic_qos(connection, channel, 0, Self.mostUnacknowledged, 0)
        try check(amqp_get_rpc_reply(connection), "prefetch")
        try check(crabbitmq_consume(connection, channel, queue), "consumer")
    }

    /// Waits for messages; what is there already comes with the first one.
    func receive(seconds: Double, most: Int) throws(AMQPError) -> [NetworkMessage] {
        var deliveries: [NetworkMessage] = []
        var wait = timeval(tv_sec: Int(seconds), tv_usec: Int(seconds.truncatingRemainder(dividingBy: 1) * 1e6))
        while deliveries.count < most {
            amqp_maybe_release_buffers(connection)
            var envelope = amqp_envelope_t()
            let reply = amqp_consume_message(connection, &envelope, &wait, 0)
            if reply.reply_type == AMQP_RESPONSE_NORMAL {
                deliveries.append(delivery(envelope))
                amqp_destroy_envelope(&envelope)
            } else if reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION,
                reply.library_error == AMQP_STATUS_TIMEOUT.rawValue
            {
                break
            } else if reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION,
                reply.library_error == AMQP_STATUS_UNEXPECTED_STATE.rawValue
            {
                try takeFrame()
                if !confirmed.isEmpty { wait = timeval(tv_sec: 0, tv_usec: 0) }
                continue
            } else {
                try check(reply, "connection")
            }
            wait = timeval(tv_sec: 0, tv_usec: 0)
        }
        return deliveries
    }

    private func delivery(_ envelope: amqp_envelope_t) -> NetworkMessage {
        let properties = envelope.message.properties
        var kind = NetworkMessage.Kind.published
        var name = ""
        if envelope.exchange.len == 0 {
            if envelope.message.properties.type.len > 0, properties._flags & 1 << 5 != 0 {
                kind = NetworkMessage.Kind(rawValue: Self.string(properties.type)) ?? .marker
            }
            name = Self.string(properties.message_id)
        } else {
            // Slashes of a topic are dots of a routing key.
            name = String(decoding: Self.bytes(envelope.routing_key).map { $0 == 0x2E ? 0x2F : $0 }, as: UTF8.self)
        }
        let milliseconds = withUnsafePointer(to: properties) { crabbitmq_arrival($0) }
        return NetworkMessage(
            token: envelope.delivery_tag, kind: kind, name: name, payload: Self.bytes(envelope.message.body),
            arrival: milliseconds > 0 ? milliseconds * 1_000_000 : realNanoseconds(),
            isAgain: envelope.redelivered != 0)
    }

    /// Takes a frame that is no message.
    private func takeFrame() throws(AMQPError) {
        var frame = amqp_frame_t()
        let code = amqp_simple_wait_frame(connection, &frame)
        guard code == 0 else { throw AMQPError(message: Self.text(code)) }
        var tag: UInt64 = 0
        var isMultiple: Int32 = 0
        switch crabbitmq_answer(&frame, &tag, &isMultiple) {
        case 1: confirmed += settled(tag, isMultiple != 0).compactMap(\.number)
        case 2:
            // What is published goes to readers with sessions on a dead node, too. They do not get it; all others have.
            let refused = settled(tag, isMultiple != 0)
            guard !refused.contains(where: \.isKept) else {
                throw AMQPError(message: "the cluster refuses a message of the log")
            }
            confirmed += refused.compactMap(\.number)
        case 3: throw ended("the node ends it", frame.payload.method.id, frame.payload.method.decoded)
        default: break
        }
    }

    /// Removes and returns the messages that wait no longer for their answer.
    private func settled(_ tag: UInt64, _ isMultiple: Bool) -> [(tag: UInt64, number: Int?, isKept: Bool)] {
        guard isMultiple else {
            return unconfirmed.firstIndex { $0.tag == tag }.map { [unconfirmed.remove(at: $0)] } ?? []
        }
        let part = unconfirmed.prefix { $0.tag <= tag }
        unconfirmed.removeFirst(part.count)
        return Array(part)
    }

    /// Numbers of the messages that the cluster has, since the last call.
    func takeConfirmed() -> [Int] {
        defer { confirmed = [] }
        return confirmed
    }

    var isWaiting: Bool { !unconfirmed.isEmpty }

    func perform(_ operation: QueueJournal.Operation, queue: String) throws(AMQPError) {
        switch operation {
        case .acknowledge(let tag):
            let code = amqp_basic_ack(connection, channel, tag, 0)
            guard code == 0 else { throw AMQPError(message: Self.text(code)) }
        case .keep(let number, let kind, let name, let payload):
            try send(number, exchange: "", key: queue, kind: kind.rawValue, name: name, payload)
        }
    }

    func publish(_ one: NetworkPublication) throws(AMQPError) {
        try send(
            one.number, exchange: Self.exchange, key: AMQPConnection.key(one.topic), kind: "", name: "", one.payload)
    }

    /// The routing key of a topic: its slashes are dots, and `+` is `*`.
    static func key(_ topic: String) -> String {
        String(topic.map { $0 == "/" ? "." : $0 == "+" ? "*" : $0 })
    }

    /// Messages that outlive the nodes.
    private func send(
        _ number: Int?, exchange: String, key: String, kind: String, name: String, _ payload: [UInt8]
    ) throws(AMQPError) {
        let code = crabbitmq_publish(
            connection, channel, exchange, key, kind, name, payload, payload.count)
        guard code == 0 else { throw AMQPError(message: Self.text(code)) }
        sent += 1
        unconfirmed.append((sent, number, exchange.isEmpty))
    }

    /// Says good-bye.
    func close() {
        amqp_channel_close(connection, channel, Int32(AMQP_REPLY_SUCCESS))
        amqp_connection_close(connection, Int32(AMQP_REPLY_SUCCESS))
    }
}
