import CMosquitto
import Glibc
import MQTT
import Messages

/// One libmosquitto handle and the traps around it. No thread of its own: `LinkThread` watches its socket and calls
/// `socketReady` and `tick`; every call comes from that thread.
///
/// Each attempt has a handle of its own: the library keeps what a broker said in its CONNACK (largest packet, highest QoS,
/// retained messages, keepalive) until the next one says otherwise, and a broker that has no limit says nothing.
///
/// `mosquitto_loop_start` and `mosquitto_loop_forever` must never be used here: a TLS broker that is killed without
/// close_notify, a failed TLS handshake (for which no callback comes at all) and a refusing MQTT 5 CONNACK each end
/// the library's own thread for good: the agent would publish nothing more, and nothing would say so.
final class MosquittoTransport: Transport {
    /// The library sends no more than this many QoS 1 messages without acknowledgement, whatever the broker allows.
    static let sendMaximum = 64

    private var options: LinkOptions
    private var handle: OpaquePointer?
    private var broker = 0
    private var version = MQTTVersion.v5
    private var connecting = false
    private var events: [TransportEvent] = []
    /// The socket whose attempt was given up; it is not looked at any more.
    private var ignoreSocket = true
    private var family = AddressFamily()
    /// What the broker takes of a last will, as far as it has said: with one that asks too much it refuses the connection.
    private var will = (qos: Int32(1), retain: true)
    /// The last error that the library has logged.
    private var libraryError = ""

    init(options: LinkOptions) {
        self.options = options
        _ = Self.initializeLibrary
    }

    deinit {
        if let handle { mosquitto_destroy(handle) }
    }

    func change(to options: LinkOptions) {
        self.options = options
        forgetBroker()
    }

    private func forgetBroker() { (family, will) = (AddressFamily(), (1, true)) }

    private static let initializeLibrary: Void = {
        _ = mosquitto_lib_init()
        // A write to a connection that the broker has closed must be an error, not the end of the process.
        _ = signal(SIGPIPE, SIG_IGN)
    }()

    /// The socket to watch; -1 when there is none.
    var socket: Int32 {
        guard let handle, !ignoreSocket else { return -1 }
        return mosquitto_socket(handle)
    }

    var wantsWrite: Bool {
        guard let handle, socket >= 0 else { return false }
        return mosquitto_want_write(handle)
    }

    var line: LineState? { LineState(socket: socket) }

    func takeEvents(into output: inout [TransportEvent]) {
        output.append(contentsOf: events)
        events.removeAll(keepingCapacity: true)
    }

    // MARK: attempts

    func open(broker: Int, version: MQTTVersion) -> String? {
        if let handle { mosquitto_destroy(handle) }
        handle = nil
        (connecting, ignoreSocket) = (false, true)
        events.removeAll()
        if self.broker != broker { forgetBroker() }
        self.broker = broker
        self.version = version
        // A session that is begun anew would end the old one, and with it the delay of the last will. With 3.1.1 there is
        // no delay, and a session would have no end.
        let isClean = version != .v5 && options.sessionSeconds == 0
        guard let handle = mosquitto_new(options.clientID, isClean, Unmanaged.passUnretained(self).toOpaque()) else {
            return "libmosquitto cannot make a client: \(Self.systemError(errno))"
        }
        if let problem = configure(handle) {
            mosquitto_destroy(handle)
            return problem
        }
        self.handle = handle
        return nil
    }

    private func configure(_ handle: OpaquePointer) -> String? {
        let number = version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        _ = mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, number)
        _ = mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Int32(Self.sendMaximum))
        _ = mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        if options.brokers[broker].tls, let problem = TransportSecurity.configure(handle, options.mqtt.tls) {
            return problem
        }
        if let problem = setWill(handle) { return problem }
        mosquitto_connect_v5_callback_set(handle) { _, context, code, flags, properties in
            MosquittoTransport.from(context)?.didConnect(code, flags, properties)
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, context, id, count, granted, _ in
            guard count > 0, let granted else { return }
            MosquittoTransport.from(context)?.events.append(.subscribed(id: id, code: Int(granted[0])))
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, properties in
            guard let transport = MosquittoTransport.from(context), let message else { return }
            var inbound = InboundMessage(message.pointee, properties, limit: transport.options.inboundBytes)
            inbound.hasProperties = transport.version == .v5
            transport.events.append(.message(inbound))
        }
        mosquitto_log_callback_set(handle) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            MosquittoTransport.from(context)?.libraryError = String(cString: text)
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, context, code, _ in
            MosquittoTransport.from(context)?.didDisconnect(code)
        }
        mosquitto_publish_v5_callback_set(handle) { _, context, id, reason, _ in
            MosquittoTransport.from(context)?.events.append(.finished(id: id, reason: Int(reason)))
        }
        return nil
    }

    /// Seconds that the broker waits for us to come back before it publishes the last will (MQTT 5 only).
    private var willDelay: UInt32 { UInt32(clamping: options.mqtt.willDelay) }

    private func setWill(_ handle: OpaquePointer) -> String? {
        let presence = options.presence
        var properties = PropertyList()
        if version == .v5 {
            properties.add(MQTT_PROP_CONTENT_TYPE, "text/plain")
            if willDelay > 0 { properties.add(MQTT_PROP_WILL_DELAY_INTERVAL, willDelay) }
        }
        var text = presence.offline
        let code = text.withUTF8 { bytes in
            properties.give { list in
                mosquitto_will_set_v5(
                    handle, presence.topic, Int32(bytes.count), bytes.baseAddress, will.qos, will.retain, list)
            }
        }
        return code == 0 ? nil : "the last will on \"\(presence.topic)\" is not possible: \(Self.text(code))"
    }

    func connect() -> String? {
        guard let handle else { return "libmosquitto has no client" }
        if let problem = setCredentials(handle) { return problem }
        connecting = true
        ignoreSocket = false
        libraryError = ""
        let code = begin(handle)
        if code == 0 { return nil }
        // libmosquitto leaves the reason of a refused connection in errno.
        let number = errno
        defer { (connecting, ignoreSocket) = (false, true) }
        // But 2.0.21 sends the first bytes of TLS within the call, and where the kernel refuses them (a port of this machine
        // that nobody listens on) says no more than that TLS failed, as it does of a broker that hangs up.
        let isMute = code == MOSQ_ERR_TLS.code || code == MOSQ_ERR_ERRNO.code && number == EPROTO
        let address = options.brokers[broker]
        if isMute, address.tls, libraryError.isEmpty, PortProbe.isRefused(host: address.host, port: Int(address.port)) {
            return Self.systemError(ECONNREFUSED)
        }
        return explained(code, number)
    }

    /// Only `mosquitto_connect_bind_v5` takes the properties of the CONNECT, and it waits until the kernel has a connection;
    /// with a port that is none it keeps them and does nothing else. The broker has to keep the session for as long as the
    /// will is delayed: the end of a session publishes the will at once.
    private func begin(_ handle: OpaquePointer) -> Int32 {
        let address = options.brokers[broker]
        let keepalive = Int32(options.mqtt.keepalive == 0 ? 0 : max(5, min(options.mqtt.keepalive, 65535)))
        if version == .v5 {
            var properties = PropertyList()
            let session = max(willDelay, options.sessionSeconds)
            if session > 0 { properties.add(MQTT_PROP_SESSION_EXPIRY_INTERVAL, session) }
            properties.add(MQTT_PROP_MAXIMUM_PACKET_SIZE, UInt32(clamping: max(0, options.inboundBytes) + 4096))
            _ = properties.lend { mosquitto_connect_bind_v5(handle, address.host, -1, keepalive, nil, $0) }
        }
        return mosquitto_connect_bind_async(
            handle, address.host, Int32(address.port), keepalive, family.choose(host: address.host))
    }

    private func setCredentials(_ handle: OpaquePointer) -> String? {
        guard !options.mqtt.username.isEmpty else { return nil }
        var password = options.mqtt.password.isEmpty ? nil : options.mqtt.password
        if password == nil, !options.mqtt.passwordFile.isEmpty {
            switch SecretFile.read(options.mqtt.passwordFile) {
            case .success(let text): password = text
            case .failure(let problem): return problem.message
            }
        }
        let code = mosquitto_username_pw_set(handle, options.mqtt.username, password)
        return code == 0 ? nil : "user name or password cannot be used: \(Self.text(code))"
    }

    func subscribe(_ filter: String, isCheck: Bool) -> Int32? {
        guard let handle, socket >= 0, !connecting else { return nil }
        var id: Int32 = 0
        var flags: Int32 = 0
        if version == .v5 {
            let retained = options.wantsRetained ? MQTT_SUB_OPT_SEND_RETAIN_ALWAYS : MQTT_SUB_OPT_SEND_RETAIN_NEVER
            let wanted = [retained, MQTT_SUB_OPT_RETAIN_AS_PUBLISHED, MQTT_SUB_OPT_NO_LOCAL]
            flags = isCheck ? 0 : wanted.reduce(0) { $0 | Int32($1.rawValue) }
        }
        return mosquitto_subscribe_v5(handle, &id, filter, 1, flags, nil) == 0 ? id : nil
    }

    func unsubscribe(_ filter: String) {
        guard let handle, socket >= 0, !connecting else { return }
        _ = mosquitto_unsubscribe(handle, nil, filter)
    }

    func abandon() {
        // There is no call that closes the socket; the next attempt does. Until then the peer sees an end.
        if let handle, !ignoreSocket {
            let socket = mosquitto_socket(handle)
            if socket >= 0 { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }
        if connecting { family.attemptFailed() }
        (connecting, ignoreSocket) = (false, true)
    }

    func disconnect(keepsWill: Bool) {
        guard let handle else { return }
        _ = mosquitto_disconnect_v5(handle, keepsWill && version == .v5 ? 4 : 0, nil)
    }

    // MARK: messages

    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver {
        guard let handle, socket >= 0, !connecting else { return .later }
        guard payload.count <= Int(MQTT_MAX_PAYLOAD) else { return .tooLarge }
        var properties = PropertyList()
        if version == .v5 {
            if let expiry = header.expiry { properties.add(MQTT_PROP_MESSAGE_EXPIRY_INTERVAL, expiry) }
            properties.add(MQTT_PROP_CONTENT_TYPE, header.contentType.mime)
            if let correlation = header.correlation {
                properties.add(MQTT_PROP_CORRELATION_DATA, bytes: correlation)
            }
            if header.isHistory { properties.add(name: "hist", value: "1") }
        }
        var id: Int32 = 0
        let code = properties.lend {
            mosquitto_publish_v5(
                handle, &id, header.topic, Int32(payload.count), payload.baseAddress, Int32(header.qos),
                header.retain, $0)
        }
        switch code {
        case MOSQ_ERR_SUCCESS.code: return .taken(id: id)
        case MOSQ_ERR_PAYLOAD_SIZE.code, MOSQ_ERR_OVERSIZE_PACKET.code: return .tooLarge
        case MOSQ_ERR_NO_CONN.code, MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_ERRNO.code, MOSQ_ERR_TLS.code:
            // The library keeps a QoS 1 message all the same and sends it after the next connect.
            let number = errno
            broken("publish: \(explained(code, number))", byPeer: Self.isByPeer(code, number))
            return header.qos > 0 && id != 0 ? .taken(id: id) : .later
        case MOSQ_ERR_NOMEM.code: return .later
        default: return .impossible
        }
    }

    // MARK: the socket

    /// Something happened on the socket. While connecting, an error is asked for before anything is read: a TLS
    /// connection to a refused port would otherwise be reported as readable for ever. OpenSSL may have taken the
    /// error away already, so that an attempt whose socket has one never goes on, whatever its number.
    func socketReady(readable: Bool, error: Bool) {
        guard let handle, socket >= 0 else { return }
        let wasConnecting = connecting
        if wasConnecting, error {
            var problem: Int32 = 0
            var length = socklen_t(MemoryLayout<Int32>.size)
            let code = getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &length)
            // A reset can only come over a connection that was there.
            if code == 0, problem != 0 {
                return broken(explained(MOSQ_ERR_ERRNO.code, problem), byPeer: problem == ECONNRESET)
            }
        }
        if readable || error {
            let (code, isCaught) = ClientLibrary.read(handle, packets: 1)
            if isCaught {
                _ = shutdown(mosquitto_socket(handle), Int32(SHUT_RDWR))
                return didDisconnect(code, isCaught: true)
            }
            if code != 0 {
                let number = errno
                return broken(explained(code, number), byPeer: Self.isByPeer(code, number))
            }
            events.append(.heard)
        }
        if wasConnecting, error, connecting {
            let end = LineState.unnamedEnd(of: socket)
            return broken(end.words, byPeer: end.byPeer)
        }
        flush()
    }

    /// Writes what waits to be written.
    func flush() {
        guard let handle, socket >= 0, mosquitto_want_write(handle) else { return }
        let code = mosquitto_loop_write(handle, 1)
        if code != 0 {
            let number = errno
            broken(explained(code, number), byPeer: Self.isByPeer(code, number))
        }
    }

    /// Once a second: keepalive.
    func tick() {
        guard let handle, socket >= 0, !connecting else { return }
        // A ping would wait behind what the line has not taken yet, and the library would not wait for its answer;
        // whether the line is dead is seen by `ConnectionWatch`.
        if let line, line.waiting > 0 { return }
        let code = mosquitto_loop_misc(handle)
        if code != 0 { broken(Self.text(code)) }
    }

    /// True when the library has closed the socket without a word.
    func checkSocket() {
        if !ignoreSocket, socket < 0 { broken("the connection was closed") }
    }

    private func broken(_ reason: String, byPeer: Bool = false) {
        abandon()
        events.append(.lost(reason: reason, byPeer: byPeer))
    }

    /// The peer has closed a connection that was there, or reset it.
    private static func isByPeer(_ code: Int32, _ number: Int32) -> Bool {
        code == MOSQ_ERR_CONN_LOST.code || code == MOSQ_ERR_ERRNO.code && (number == ECONNRESET || number == EPIPE)
    }

    /// What went wrong, with the library's own words where TLS failed: its code alone says nothing.
    /// (2.0.11 calls it a TLS error, 2.0.21 a protocol error of the system.)
    private func explained(_ code: Int32, _ number: Int32 = errno) -> String {
        let isTLS = code == MOSQ_ERR_TLS.code || code == MOSQ_ERR_ERRNO.code && number == EPROTO
        if isTLS, !libraryError.isEmpty { return TransportSecurity.explain(libraryError) }
        if connecting, options.brokers[broker].tls,
            let words = TransportSecurity.hungUp(options.mqtt.tls, code: code, number: number)
        {
            return words
        }
        return code == MOSQ_ERR_ERRNO.code ? Self.systemError(number) : Self.text(code)
    }

    // MARK: callbacks, on the same thread

    private static func from(_ context: UnsafeMutableRawPointer?) -> MosquittoTransport? {
        context.map { Unmanaged<MosquittoTransport>.fromOpaque($0).takeUnretainedValue() }
    }

    private func didConnect(_ code: Int32, _ flags: Int32, _ properties: OpaquePointer?) {
        guard code == 0 else {
            if code == MQTT_RC_QOS_NOT_SUPPORTED.rawValue { will.qos = 0 }
            if code == MQTT_RC_RETAIN_NOT_SUPPORTED.rawValue { will.retain = false }
            events.append(.refused(code: Int(code), reason: Self.refusal(code)))
            return
        }
        connecting = false
        family.attemptSucceeded()
        var limits = BrokerLimits(properties)
        limits.sessionPresent = flags & 1 != 0
        will = (Int32(min(1, limits.maximumQoS)), limits.retainAvailable)
        events.append(.connected(limits))
    }

    private func didDisconnect(_ code: Int32, isCaught: Bool = false) {
        let number = errno
        let isOld = isOldAnswer(code)
        // The library mixes its own error codes with the reasons that an MQTT 5 broker gives.
        let isReason = code >= 128
        let words = isReason ? String(cString: mosquitto_reason_string(code)) : explained(code, number)
        ignoreSocket = true
        connecting = false
        if isOld {
            events.append(.refused(code: 1, reason: "the answer is not one of MQTT 5"))
            return
        }
        events.append(
            .lost(
                reason: code == 0 ? "disconnected" : words, byPeer: isReason || Self.isByPeer(code, number),
                code: isReason ? Int(code) : 0, isMalformed: isCaught))
    }

    /// An answer of MQTT 3 to a CONNECT of 5, which brokers give that have no 5. libmosquitto 2.0.11 calls back with its
    /// code; 2.0.21 only finds it too short for an answer of 5.
    private func isOldAnswer(_ code: Int32) -> Bool {
        connecting && version == .v5 && code == MOSQ_ERR_MALFORMED_PACKET.code
    }

    // MARK: texts

    private static func text(_ code: Int32) -> String {
        code == MOSQ_ERR_ERRNO.code ? systemError(errno) : String(cString: mosquitto_strerror(code))
    }

    private static func systemError(_ number: Int32) -> String { String(cString: strerror(number)) }

    private static func refusal(_ code: Int32) -> String {
        String(cString: code >= 128 ? mosquitto_reason_string(code) : mosquitto_connack_string(code))
    }
}
