import CMosquitto
import Glibc
import MQTT
import Messages

/// A session that the broker keeps while its client is away: it gets then what it has missed.
package struct BrokerSession {
    /// Client id.
    package var id: String
    /// Seconds that the broker keeps it (MQTT 5).
    package var expiry: UInt32
    /// Published by the broker, retained, when the client is gone.
    package var will: (topic: String, payload: [UInt8])?

    package init(id: String, expiry: UInt32, will: (topic: String, payload: [UInt8])? = nil) {
        (self.id, self.expiry, self.will) = (id, expiry, will)
    }
}

/// A connection to a broker for a program with one thread. It has no thread: everything happens inside its calls. (libmosquitto's own
/// loops are not used, see `MosquittoTransport`.)
package final class BrokerClient {
    /// Bytes of payload that are taken of one message; of a larger one only the size.
    package static let payloadLimit = 1 << 20
    /// Messages that may wait to be taken.
    private static let inboxLimit = 20_000

    package let access: BrokerAccess
    /// Of the broker that we have.
    package private(set) var version: MQTTVersion
    private var handle: OpaquePointer?
    private var usesTLS = false
    private var inbox: [InboundMessage] = []
    private var taken = 0
    /// Reasons by the number of what was acknowledged.
    private var subscribed: [Int32: Int] = [:]
    private var published: [Int32: Int] = [:]
    private var connack: Int32?
    private var libraryError = ""
    private var end: String?
    private var ticked = 0.0
    private let name: String
    private let session: BrokerSession?
    /// Whether the broker had kept the session.
    package private(set) var isResumed = false

    package init(_ access: BrokerAccess, session: BrokerSession? = nil) {
        self.access = access
        self.session = session
        version = access.version
        name = session?.id ?? "seismote-ctl-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        _ = Self.library
    }

    deinit {
        if let handle { mosquitto_destroy(handle) }
    }

    private static let library: Void = {
        _ = mosquitto_lib_init()
        _ = signal(SIGPIPE, SIG_IGN)
    }()

    // MARK: connection

    /// Connects to the first broker that can be had; also anew after an end. Nothing of before is kept.
    package func connect() throws(ClientError) {
        var problems: [String] = []
        for broker in access.brokers {
            do throws(ClientError) {
                do throws(ClientError) {
                    return try attempt(broker, version)
                } catch {
                    guard error.isOldBroker, version == .v5 else { throw error }
                    version = .v311
                    return try attempt(broker, version)
                }
            } catch {
                version = access.version
                problems.append("\(broker): \(error.description)")
            }
        }
        throw ClientError(problems.joined(separator: "\n"))
    }

    private func attempt(_ broker: BrokerAddress, _ version: MQTTVersion) throws(ClientError) {
        if let handle { mosquitto_destroy(handle) }
        (handle, connack, end, libraryError, ticked) = (nil, nil, nil, "", monotonicSeconds())
        subscribed.removeAll()
        published.removeAll()
        guard let handle = mosquitto_new(name, session == nil, Unmanaged.passUnretained(self).toOpaque()) else {
            throw ClientError("libmosquitto cannot make a client")
        }
        self.handle = handle
        usesTLS = broker.tls
        try configure(handle, broker, version)
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if let session, version == .v5 {
            mosquitto_property_add_int32(
                &properties, Int32(MQTT_PROP_SESSION_EXPIRY_INTERVAL.rawValue), session.expiry)
        }
        errno = 0
        let code = Interrupt.after(seconds: access.patience) {
            mosquitto_connect_bind_v5(handle, broker.host, Int32(broker.port), 30, nil, properties)
        }
        if code != 0 {
            throw errno == EINTR ? ClientError("no connection within \(Int(access.patience)) s") : failure(code)
        }
        let deadline = monotonicSeconds() + access.patience
        while connack == nil {
            do throws(ClientError) {
                try step(until: deadline)
            } catch {
                // Brokers without MQTT 5 may hang up, or answer with something too short to be one of 5.
                throw ClientError(error.description, isOldBroker: libraryError.isEmpty)
            }
            if monotonicSeconds() >= deadline { throw ClientError("no answer within \(Int(access.patience)) s") }
            if Interrupt.came { throw ClientError("interrupted") }
        }
        if let connack, connack != 0 {
            let text = connack >= 128 ? mosquitto_reason_string(connack) : mosquitto_connack_string(connack)
            throw ClientError(
                "refused: \(text.map { String(cString: $0) } ?? "\(connack)")",
                isOldBroker: connack == 1 || connack == 132)
        }
    }

    private func configure(
        _ handle: OpaquePointer, _ broker: BrokerAddress, _ version: MQTTVersion
    ) throws(ClientError) {
        mosquitto_int_option(
            handle, MOSQ_OPT_PROTOCOL_VERSION, version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311)
        mosquitto_int_option(handle, MOSQ_OPT_RECEIVE_MAXIMUM, 65535)
        mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        if broker.tls, let problem = TransportSecurity.configure(handle, access.tls) { throw ClientError(problem) }
        if !access.username.isEmpty {
            let code = mosquitto_username_pw_set(handle, access.username, access.password)
            if code != 0 { throw ClientError("user name or password is not valid for MQTT") }
        }
        if let will = session?.will {
            mosquitto_will_set_v5(handle, will.topic, Int32(will.payload.count), will.payload, 1, true, nil)
        }
        mosquitto_connect_v5_callback_set(handle) { _, context, code, flags, _ in
            guard let client = BrokerClient.from(context) else { return }
            (client.connack, client.isResumed) = (code, flags & 1 != 0)
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, context, id, count, granted, _ in
            guard count > 0, let granted else { return }
            let worst = (0..<Int(count)).map { Int(granted[$0]) }.max() ?? 0
            BrokerClient.from(context)?.subscribed[id] = worst
        }
        mosquitto_publish_v5_callback_set(handle) { _, context, id, reason, _ in
            BrokerClient.from(context)?.published[id] = Int(reason)
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, properties in
            guard let client = BrokerClient.from(context), let message else { return }
            client.take(InboundMessage(message.pointee, properties, limit: BrokerClient.payloadLimit))
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, context, code, _ in
            guard let client = BrokerClient.from(context), client.end == nil else { return }
            client.end = code >= 128 ? String(cString: mosquitto_reason_string(code)) : client.failure(code).description
        }
        mosquitto_log_callback_set(handle) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            BrokerClient.from(context)?.libraryError = String(cString: text)
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> BrokerClient? {
        context.map { Unmanaged<BrokerClient>.fromOpaque($0).takeUnretainedValue() }
    }

    private func failure(_ code: Int32) -> ClientError {
        let number = errno
        if !libraryError.isEmpty { return ClientError(TransportSecurity.explain(libraryError)) }
        if usesTLS, connack == nil, let words = TransportSecurity.hungUp(access.tls, code: code, number: number) {
            return ClientError(words)
        }
        if code == MOSQ_ERR_ERRNO.rawValue { return ClientError(String(cString: strerror(number))) }
        return ClientError(String(cString: mosquitto_strerror(code)))
    }

    /// Says good-bye.
    package func disconnect() {
        guard let handle else { return }
        mosquitto_disconnect_v5(handle, 0, nil)
        mosquitto_destroy(handle)
        self.handle = nil
    }

    // MARK: messages

    /// Subscribes with QoS 1 and waits until the broker has granted it.
    package func subscribe(_ filters: [String]) throws(ClientError) {
        guard let handle else { throw ClientError("not connected") }
        for filter in filters {
            var id: Int32 = 0
            let code = mosquitto_subscribe_v5(handle, &id, filter, 1, 0, nil)
            guard code == 0 else { throw ClientError("cannot subscribe to \(filter): \(failure(code).description)") }
            let reason = try answer("the subscription to \(filter)") { $0.subscribed.removeValue(forKey: id) }
            if reason >= 128 { throw ClientError("the broker refuses the subscription to \(filter)") }
        }
    }

    package func unsubscribe(_ filters: [String]) {
        guard let handle else { return }
        for filter in filters { mosquitto_unsubscribe(handle, nil, filter) }
    }

    /// Publishes with QoS 1 and waits until the broker has it. Throws when it refuses.
    /// - Parameters: as those of `offer`.
    package func publish(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, reply: (topic: String, correlation: String)? = nil,
        expiry: UInt32? = nil
    ) throws(ClientError) {
        let reason = try offer(topic, payload, retain: retain, reply: reply, expiry: expiry)
        if reason >= 128 {
            throw ClientError("the broker refuses \(topic): \(String(cString: mosquitto_reason_string(Int32(reason))))")
        }
    }

    /// Publishes with QoS 1 and waits for what the broker says of it.
    /// - Parameters:
    ///   - retain: whether the broker keeps it for those who come later; an empty one deletes what it keeps.
    ///   - reply: where the answer goes and what it brings back (MQTT 5).
    ///   - expiry: seconds after which nobody gets it any more (MQTT 5).
    /// - Returns: its reason; from 128 on it has not taken it (MQTT 5 alone says so).
    package func offer(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, reply: (topic: String, correlation: String)? = nil,
        expiry: UInt32? = nil
    ) throws(ClientError) -> Int {
        let id = try send(topic, payload, retain: retain, reply: reply, expiry: expiry)
        return try answer("the message on \(topic)") { $0.published.removeValue(forKey: id) }
    }

    /// Hands a message of JSON over with QoS 1, without waiting for the broker.
    /// - Parameters: as those of `offer`.
    /// - Returns: the number that `takeAcknowledged` will know it by.
    package func send(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, reply: (topic: String, correlation: String)? = nil,
        expiry: UInt32? = nil
    ) throws(ClientError) -> Int32 {
        guard let handle else { throw ClientError("not connected") }
        var properties: OpaquePointer?
        defer { mosquitto_property_free_all(&properties) }
        if version == .v5 {
            mosquitto_property_add_string(
                &properties, Int32(MQTT_PROP_CONTENT_TYPE.rawValue), "application/json")
            if let reply {
                mosquitto_property_add_string(&properties, Int32(MQTT_PROP_RESPONSE_TOPIC.rawValue), reply.topic)
                let bytes = Array(reply.correlation.utf8)
                mosquitto_property_add_binary(
                    &properties, Int32(MQTT_PROP_CORRELATION_DATA.rawValue), bytes, UInt16(clamping: bytes.count))
            }
            if let expiry {
                mosquitto_property_add_int32(
                    &properties, Int32(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL.rawValue), expiry)
            }
        }
        var id: Int32 = 0
        let code = mosquitto_publish_v5(handle, &id, topic, Int32(payload.count), payload, 1, retain, properties)
        guard code == 0 else { throw ClientError("cannot publish on \(topic): \(failure(code).description)") }
        return id
    }

    /// What the broker has acknowledged since the last call, with its reasons.
    package func takeAcknowledged() -> [Int32: Int] {
        defer { published.removeAll() }
        return published
    }

    /// The next message; nil when there is none until then (monotonic seconds), or at Ctrl-C.
    package func next(until deadline: Double) throws(ClientError) -> InboundMessage? {
        while taken == inbox.count {
            inbox.removeAll(keepingCapacity: true)
            taken = 0
            if Interrupt.came { return nil }
            try step(until: deadline)
            if inbox.isEmpty, monotonicSeconds() >= deadline { return nil }
        }
        taken += 1
        return inbox[taken - 1]
    }

    /// Whether everything that has come from the broker has been taken by ``next(until:)``.
    package var isDrained: Bool {
        guard taken == inbox.count, let handle else { return false }
        var watched = pollfd(fd: mosquitto_socket(handle), events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }

    private func take(_ message: InboundMessage) {
        if inbox.count - taken < Self.inboxLimit { inbox.append(message) }
    }

    /// Waits for an acknowledgement.
    private func answer(
        _ what: String, _ look: (BrokerClient) -> Int?
    ) throws(ClientError) -> Int {
        let deadline = monotonicSeconds() + access.patience
        while true {
            if let reason = look(self) { return reason }
            if Interrupt.came { throw ClientError("interrupted") }
            if monotonicSeconds() >= deadline {
                throw ClientError("the broker does not answer \(what) within \(Int(access.patience)) s")
            }
            try step(until: deadline)
        }
    }

    /// Waits for the socket, at most a second and until the deadline, and does what is to be done there.
    private func step(until deadline: Double) throws(ClientError) {
        guard let handle else { throw ClientError("not connected") }
        let socket = mosquitto_socket(handle)
        guard socket >= 0 else { throw ClientError(end ?? "the connection was closed") }
        let wait = max(0, min(1, deadline - monotonicSeconds()))
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if mosquitto_want_write(handle) { watched.events |= Int16(POLLOUT) }
        let ready = poll(&watched, 1, Int32((wait * 1000).rounded(.up)))
        var code: Int32 = 0
        if ready > 0 {
            let broken = watched.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
            if broken, connack == nil {
                var problem: Int32 = 0
                var length = socklen_t(MemoryLayout<Int32>.size)
                if getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &length) == 0, problem != 0 {
                    errno = problem
                    throw failure(MOSQ_ERR_ERRNO.rawValue)
                }
            }
            if broken || watched.revents & Int16(POLLIN) != 0 { code = ClientLibrary.read(handle, packets: 1).code }
            if code == 0, mosquitto_want_write(handle) { code = mosquitto_loop_write(handle, 1) }
        }
        if code == 0, monotonicSeconds() - ticked >= 1 {
            ticked = monotonicSeconds()
            code = mosquitto_loop_misc(handle)
        }
        // A refusing CONNACK is an error of the library as well.
        if code != 0, connack ?? 0 == 0 { throw ClientError(end ?? failure(code).description) }
    }
}
