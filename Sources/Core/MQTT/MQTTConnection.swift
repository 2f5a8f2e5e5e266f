import CLinux
import CMosquitto
import Glibc
import Messages
import Platform

/// One client of libmosquitto, the only one of the sources: one attempt at a broker, and the connection that comes of it. It
/// has no thread: its owner watches `socket` and calls `socketReady` and `tick`, everything on one thread; what happens is
/// collected as events.
///
/// Each attempt has a client of its own: the library keeps what a broker said in its CONNACK (largest packet, highest QoS,
/// retained messages, keepalive) until the next one says otherwise, and a broker that has no limit says nothing.
///
/// `mosquitto_loop_start` and `mosquitto_loop_forever` must never be used: a TLS broker that is killed without
/// close_notify, a failed TLS handshake (for which no callback comes at all) and a refusing MQTT 5 CONNACK each end
/// the library's own thread for good: the program would publish nothing more, and nothing would say so.
package final class MQTTConnection {
    private let handle: OpaquePointer
    private let options: ConnectionOptions
    private let broker: BrokerAddress
    private let form: ConnectForm
    /// From `connect` until the broker has answered, or the attempt has ended.
    package private(set) var isConnecting = false
    /// When ``step(wait:)`` looked after the keepalive last.
    private var ticked = monotonicSeconds()
    /// An attempt that had an address to go to has ended before the broker answered.
    private(set) var hasFailedLate = false
    /// The socket is not looked at: there was no attempt, or it was given up.
    private var isIgnored = true
    /// The last error that the library has logged.
    private var libraryError = ""
    private var events: [MQTTEvent] = []

    /// Prepares an attempt in the best form.
    /// - Throws: options with which there can be no attempt.
    package convenience init(_ options: ConnectionOptions, to broker: BrokerAddress) throws(MQTTFailure) {
        try self.init(options, to: broker, as: ConnectForm(version: options.version))
    }

    init(_ options: ConnectionOptions, to broker: BrokerAddress, as form: ConnectForm) throws(MQTTFailure) {
        Self.initializeLibrary()
        guard let handle = mosquitto_new(options.clientID, options.isClean, nil) else {
            throw MQTTFailure(
                cause: .client, description: "libmosquitto cannot make a client: \(MQTTWords.system(errno))")
        }
        (self.handle, self.options, self.broker, self.form) = (handle, options, broker, form)
        mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
        try configure()
        setCallbacks()
    }

    deinit {
        // Nobody is called back any more.
        mosquitto_user_data_set(handle, nil)
        mosquitto_destroy(handle)
    }

    /// Once for a process; whoever makes a client later need not call it.
    package static func initializeLibrary() { _ = library }

    private static let library: Void = {
        _ = mosquitto_lib_init()
        // A write to a connection that the broker has closed must be an error, not the end of the process.
        _ = signal(SIGPIPE, SIG_IGN)
    }()

    private func configure() throws(MQTTFailure) {
        let number = form.version == .v5 ? MQTT_PROTOCOL_V5 : MQTT_PROTOCOL_V311
        _ = mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, number)
        if let maximum = options.sendMaximum {
            _ = mosquitto_int_option(handle, MOSQ_OPT_SEND_MAXIMUM, Int32(clamping: maximum))
        }
        if let maximum = options.receiveMaximum {
            _ = mosquitto_int_option(handle, MOSQ_OPT_RECEIVE_MAXIMUM, Int32(clamping: maximum))
        }
        _ = mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1)
        if broker.tls, let problem = TransportSecurity.configure(handle, options.mqtt.tls) {
            throw MQTTFailure(cause: .security, description: problem)
        }
        if let will = options.will { try set(will) }
    }

    private func set(_ will: ConnectionOptions.Will) throws(MQTTFailure) {
        var properties = MQTTProperties(form.version)
        if let contentType = will.contentType { properties.add(contentType: contentType) }
        if will.delay > 0 { properties.add(willDelay: will.delay) }
        let client = handle
        let code = will.payload.withUnsafeBytes { bytes in
            properties.give { list in
                mosquitto_will_set_v5(
                    client, will.topic, Int32(bytes.count), bytes.baseAddress, Int32(form.willQoS), form.willIsRetained,
                    list)
            }
        }
        if code != 0 {
            throw MQTTFailure(
                cause: .will,
                description: "the last will on \"\(will.topic)\" is not possible: \(MQTTWords.error(code, errno))")
        }
    }

    /// Sets user name and password; without a user name the client is anonymous.
    private func setCredentials() throws(MQTTFailure) {
        let mqtt = options.mqtt
        guard !mqtt.username.isEmpty else { return }
        var password = mqtt.password.isEmpty ? nil : mqtt.password
        if password == nil, !mqtt.passwordFile.isEmpty {
            switch SecretFile.read(mqtt.passwordFile) {
            case .success(let text): password = text
            case .failure(let problem): throw MQTTFailure(cause: .security, description: problem.message)
            }
        }
        let code = mosquitto_username_pw_set(handle, mqtt.username, password)
        if code != 0 {
            throw MQTTFailure(
                cause: .credentials,
                description: "user name or password cannot be used: \(MQTTWords.error(code, errno))")
        }
    }

    // MARK: events

    /// Appends what has happened since the last call.
    package func takeEvents(into output: inout [MQTTEvent]) {
        if events.isEmpty { return }
        output.append(contentsOf: events)
        events.removeAll(keepingCapacity: true)
    }

    /// The library has logged an error in this attempt: of TLS, as a rule.
    var hasLoggedError: Bool { !libraryError.isEmpty }

    // MARK: the attempt and its end

    /// Begins the attempt and returns at once; how it ends comes as an event. (The library resolves the name, which waits.)
    /// - Parameter own: the address that the socket is bound to.
    /// - Throws: it failed at once.
    package func connect(from own: String?) throws(MQTTFailure) {
        try attempt { handle, properties in
            // Only `mosquitto_connect_bind_v5` takes the properties of the CONNECT, and it waits until the kernel has a
            // connection; with a port that is none it keeps them and does nothing else.
            if form.version == .v5 {
                _ = mosquitto_connect_bind_v5(handle, broker.host, -1, keepalive, nil, properties)
            }
            return mosquitto_connect_bind_async(
                handle, broker.host, Int32(broker.port), keepalive, own)
        } explain: { code, number in
            // But 2.0.21 sends the first bytes of TLS within the call, and where the kernel refuses them (a port of this
            // machine that nobody listens on) says no more than that TLS failed, as it does of a broker that hangs up.
            let isMute = code == MOSQ_ERR_TLS.code || code == MOSQ_ERR_ERRNO.code && number == EPROTO
            guard isMute, broker.tls, libraryError.isEmpty,
                PortProbe.isRefused(host: broker.host, port: Int(broker.port))
            else { return nil }
            return MQTTWords.system(ECONNREFUSED)
        }
    }

    /// The same, but it waits until the kernel has a connection, or a signal comes.
    package func connectWaiting() throws(MQTTFailure) {
        try attempt { handle, properties in
            mosquitto_connect_bind_v5(
                handle, broker.host, Int32(broker.port), keepalive, nil, properties)
        } explain: { _, _ in
            nil
        }
    }

    /// As the protocol allows it; 0: none.
    private var keepalive: Int32 {
        options.mqtt.keepalive == 0 ? 0 : Int32(max(5, min(options.mqtt.keepalive, 65535)))
    }

    /// - Parameter explain: better words for a code and `errno` than the library has; nil: there are none.
    private func attempt(
        _ begin: (OpaquePointer, OpaquePointer?) -> Int32, explain: (Int32, Int32) -> String?
    ) throws(MQTTFailure) {
        try setCredentials()
        var properties = MQTTProperties(form.version)
        if let session = options.sessionExpiry { properties.add(sessionExpiry: session) }
        if let size = options.maximumPacketSize { properties.add(maximumPacketSize: size) }
        (isConnecting, isIgnored, libraryError) = (true, false, "")
        let client = handle
        errno = 0
        let code = properties.lend { begin(client, $0) }
        if code == 0 { return }
        // libmosquitto leaves the reason of a refused connection in errno.
        let number = errno
        defer { (isConnecting, isIgnored) = (false, true) }
        throw MQTTFailure(
            cause: number == EINTR ? .interrupted : .connection,
            description: explain(code, number) ?? explained(code, number))
    }

    /// Drops the connection or attempt without ceremony.
    package func abandon() {
        // There is no call that closes the socket; the end of the client does. Until then the peer sees an end.
        if !isIgnored {
            let socket = mosquitto_socket(handle)
            if socket >= 0 { _ = shutdown(socket, Int32(SHUT_RDWR)) }
        }
        if isConnecting { hasFailedLate = true }
        (isConnecting, isIgnored) = (false, true)
    }

    /// Says good-bye in order.
    /// - Parameter keepsWill: the broker publishes the last will all the same when we do not come back (MQTT 5).
    package func disconnect(keepsWill: Bool = false) {
        _ = mosquitto_disconnect_v5(handle, keepsWill && form.version == .v5 ? 4 : 0, nil)
    }

    // MARK: messages

    /// Subscribes with QoS 1; the answer comes as an event.
    /// - Returns: its number.
    package func subscribe(_ filter: String) throws(MQTTFailure) -> Int32 {
        try subscribe(filter, SubscriptionOptions())
    }

    func subscribe(_ filter: String, _ how: SubscriptionOptions) throws(MQTTFailure) -> Int32 {
        guard socket >= 0, !isConnecting else { throw failure(MOSQ_ERR_NO_CONN.code, 0) }
        var id: Int32 = 0
        var flags: UInt32 = 0
        if form.version == .v5 {
            if !how.wantsRetained { flags |= MQTT_SUB_OPT_SEND_RETAIN_NEVER.rawValue }
            if how.keepsRetained { flags |= MQTT_SUB_OPT_RETAIN_AS_PUBLISHED.rawValue }
            if how.isWithoutOwn { flags |= MQTT_SUB_OPT_NO_LOCAL.rawValue }
        }
        let code = mosquitto_subscribe_v5(handle, &id, filter, 1, Int32(flags), nil)
        if code != 0 { throw failure(code, errno) }
        return id
    }

    package func unsubscribe(_ filter: String) {
        guard socket >= 0, !isConnecting else { return }
        _ = mosquitto_unsubscribe(handle, nil, filter)
    }

    /// Hands one message over; only while connected.
    /// - Returns: its number; its end comes as an event with it.
    package func publish(
        _ topic: String, _ payload: UnsafeRawBufferPointer, qos: Int, retain: Bool,
        _ properties: borrowing MQTTProperties
    ) throws(MQTTFailure) -> Int32 {
        try hand(topic, payload.baseAddress, payload.count, qos, retain, properties)
    }

    /// The same with bytes of one's own.
    package func publish(
        _ topic: String, _ payload: [UInt8], qos: Int, retain: Bool, _ properties: borrowing MQTTProperties
    ) throws(MQTTFailure) -> Int32 {
        try hand(topic, payload, payload.count, qos, retain, properties)
    }

    private func hand(
        _ topic: String, _ start: UnsafeRawPointer?, _ count: Int, _ qos: Int, _ retain: Bool,
        _ properties: borrowing MQTTProperties
    ) throws(MQTTFailure) -> Int32 {
        guard socket >= 0, !isConnecting else { throw failure(MOSQ_ERR_NO_CONN.code, 0) }
        guard count <= Int(MQTT_MAX_PAYLOAD) else { throw failure(MOSQ_ERR_PAYLOAD_SIZE.code, 0) }
        var id: Int32 = 0
        let client = handle
        let code = properties.lend {
            mosquitto_publish_v5(client, &id, topic, Int32(count), start, Int32(qos), retain, $0)
        }
        if code == MOSQ_ERR_SUCCESS.code { return id }
        let number = errno
        var failure = failure(code, number)
        if failure.cause == .connection {
            // The library keeps a QoS 1 message all the same and sends it after the next connect.
            if qos > 0 { failure.kept = id }
            broken("publish: \(failure.description)", byPeer: Self.isByPeer(code, number))
        }
        throw failure
    }

    private func failure(_ code: Int32, _ number: Int32) -> MQTTFailure {
        let cause: MQTTFailure.Cause =
            switch code {
            case MOSQ_ERR_PAYLOAD_SIZE.code, MOSQ_ERR_OVERSIZE_PACKET.code: .tooLarge
            case MOSQ_ERR_NO_CONN.code, MOSQ_ERR_CONN_LOST.code, MOSQ_ERR_ERRNO.code, MOSQ_ERR_TLS.code: .connection
            case MOSQ_ERR_NOMEM.code: .memory
            default: .content
            }
        return MQTTFailure(cause: cause, description: explained(code, number))
    }

    // MARK: the socket

    /// The socket to watch; -1 when there is none.
    package var socket: Int32 { isIgnored ? -1 : mosquitto_socket(handle) }

    /// True while bytes wait to be written.
    package var wantsWrite: Bool { socket >= 0 && mosquitto_want_write(handle) }

    /// The kernel's state of the bytes on their way; nil when it gives none.
    package var line: LineState? { LineState(socket: socket) }

    /// Waits for the socket, at most so many seconds, and does what is to be done there; for an owner that waits for nothing
    /// else.
    package func step(wait seconds: Double) {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        if wantsWrite { watched.events |= Int16(POLLOUT) }
        if poll(&watched, 1, Int32((seconds * 1000).rounded(.up))) > 0 {
            socketReady(
                readable: watched.revents & Int16(POLLIN) != 0,
                error: watched.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0)
        }
        if monotonicSeconds() - ticked >= 1 {
            ticked = monotonicSeconds()
            tick()
        }
    }

    /// Something happened on the socket. While connecting, an error is asked for before anything is read: a TLS
    /// connection to a refused port would otherwise be reported as readable for ever. OpenSSL may have taken the
    /// error away already, so that an attempt whose socket has one never goes on, whatever its number.
    package func socketReady(readable: Bool, error: Bool) {
        let socket = socket
        guard socket >= 0 else { return }
        let wasConnecting = isConnecting
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
        if wasConnecting, error, isConnecting {
            let end = LineState.unnamedEnd(of: self.socket)
            return broken(end.words, byPeer: end.byPeer)
        }
        flush()
    }

    /// Writes what waits to be written.
    private func flush() {
        guard wantsWrite else { return }
        let code = mosquitto_loop_write(handle, 1)
        if code != 0 {
            let number = errno
            broken(explained(code, number), byPeer: Self.isByPeer(code, number))
        }
    }

    /// Once a second: keepalive.
    package func tick() {
        guard socket >= 0 else { return }
        let code = mosquitto_loop_misc(handle)
        if code != 0 { broken(MQTTWords.error(code, errno)) }
    }

    /// Tells as an event when the library has closed the socket without a word.
    func checkSocket() {
        if !isIgnored, socket < 0 { broken("the connection was closed") }
    }

    private func broken(_ reason: String, byPeer: Bool = false) {
        abandon()
        events.append(.lost(reason: reason, byPeer: byPeer))
    }

    /// The peer has closed a connection that was there, or reset it.
    private static func isByPeer(_ code: Int32, _ number: Int32) -> Bool {
        code == MOSQ_ERR_CONN_LOST.code || code == MOSQ_ERR_ERRNO.code && (number == ECONNRESET || number == EPIPE)
    }

    /// Fault in words, with the library's own where TLS failed: its code alone says nothing. (2.0.11 calls it a TLS
    /// error, 2.0.21 a protocol error of the system.)
    private func explained(_ code: Int32, _ number: Int32) -> String {
        let isTLS = code == MOSQ_ERR_TLS.code || code == MOSQ_ERR_ERRNO.code && number == EPROTO
        func dated(_ words: String) -> String {
            words + TransportSecurity.validity(options.mqtt.tls, now: Int64(time(nil)))
        }
        if isTLS, !libraryError.isEmpty { return dated(TransportSecurity.explain(libraryError)) }
        if isConnecting, broker.tls,
            let words = TransportSecurity.hungUp(options.mqtt.tls, code: code, number: number)
        {
            return dated(words)
        }
        return MQTTWords.error(code, number)
    }

    // MARK: callbacks, on the same thread

    private func setCallbacks() {
        mosquitto_connect_v5_callback_set(handle) { _, context, code, flags, properties in
            MQTTConnection.from(context)?.didConnect(code, flags, properties)
        }
        mosquitto_subscribe_v5_callback_set(handle) { _, context, id, count, granted, _ in
            guard count > 0, let granted else { return }
            MQTTConnection.from(context)?.events.append(.subscribed(id: id, code: Int(granted[0])))
        }
        mosquitto_message_v5_callback_set(handle) { _, context, message, properties in
            guard let connection = MQTTConnection.from(context), let message else { return }
            var inbound = InboundMessage(message.pointee, properties, limit: connection.options.inboundBytes)
            inbound.hasProperties = connection.form.version == .v5
            connection.events.append(.message(inbound))
        }
        mosquitto_log_callback_set(handle) { _, context, level, text in
            guard level == MOSQ_LOG_ERR, let text else { return }
            MQTTConnection.from(context)?.libraryError = String(cString: text)
        }
        mosquitto_disconnect_v5_callback_set(handle) { _, context, code, _ in
            MQTTConnection.from(context)?.didDisconnect(code)
        }
        mosquitto_publish_v5_callback_set(handle) { _, context, id, reason, _ in
            MQTTConnection.from(context)?.events.append(.finished(id: id, reason: Int(reason)))
        }
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> MQTTConnection? {
        context.map { Unmanaged<MQTTConnection>.fromOpaque($0).takeUnretainedValue() }
    }

    private func didConnect(_ code: Int32, _ flags: Int32, _ properties: OpaquePointer?) {
        guard code == 0 else {
            events.append(.refused(code: Int(code), reason: MQTTWords.refusal(code)))
            return
        }
        isConnecting = false
        var limits = BrokerLimits(properties)
        limits.sessionPresent = flags & 1 != 0
        events.append(.connected(limits))
    }

    private func didDisconnect(_ code: Int32, isCaught: Bool = false) {
        let number = errno
        // An answer of MQTT 3 to a CONNECT of 5, which brokers give that have no 5. libmosquitto 2.0.11 calls back with its
        // code; 2.0.21 only finds it too short for an answer of 5.
        let isOldAnswer = isConnecting && form.version == .v5 && code == MOSQ_ERR_MALFORMED_PACKET.code
        // The library mixes its own error codes with the reasons that an MQTT 5 broker gives.
        let isReason = code >= 128
        let words = isReason ? MQTTWords.reason(Int(code)) : explained(code, number)
        (isConnecting, isIgnored) = (false, true)
        if isOldAnswer {
            events.append(.refused(code: 1, reason: "the answer is not one of MQTT 5"))
            return
        }
        events.append(
            .lost(
                reason: code == 0 ? "disconnected" : words, byPeer: isReason || Self.isByPeer(code, number),
                code: isReason ? Int(code) : 0, isMalformed: isCaught))
    }
}

/// The libmosquitto that this process has loaded.
public enum ClientLibrary {
    /// Such as 2000011 for 2.0.11.
    static let number: Int = {
        var parts: (Int32, Int32, Int32) = (0, 0, 0)
        return Int(mosquitto_lib_version(&parts.0, &parts.1, &parts.2))
    }()

    /// Such as `2.0.11`.
    public static var version: String { "\(number / 1_000_000).\(number / 1000 % 1000).\(number % 1000)" }

    /// A packet of MQTT 5 with a property that does not exist ends the process: for what it has to say of it the library
    /// hands its own logger no handle, and that asserts one. Mended in 2.0.16, and caught by `read` where the program's own
    /// `__assert_fail` is the one that the library calls.
    public static let diesOfProperties = isDefective(number) && clinux_guards_assertions() == 0

    static func isDefective(_ number: Int) -> Bool { number < 2_000_016 }

    /// `mosquitto_loop_read`. A property that does not exist is a malformed packet in every version of the library.
    /// - Returns: what the library has returned, and whether the end of the process was prevented: then the library has
    ///   called nobody back, and the client must only be destroyed.
    static func read(_ client: OpaquePointer, packets: Int32) -> (code: Int32, isCaught: Bool) {
        guard isDefective(number) else { return (mosquitto_loop_read(client, packets), false) }
        let code = clinux_guarded_read(mosquitto_loop_read, client, packets)
        return code == CLINUX_ASSERTION ? (Int32(MOSQ_ERR_MALFORMED_PACKET.rawValue), true) : (code, false)
    }
}
