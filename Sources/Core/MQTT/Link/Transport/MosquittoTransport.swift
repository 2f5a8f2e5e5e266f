import CLinux
import Glibc
import Messages

/// One connection to a broker at a time, as the link sees it: the real one is on libmosquitto, the one of the tests
/// is played by hand. Everything is called on the one thread that owns it; what happens is collected as events.
protocol Transport: AnyObject {
    /// Other options, from the next `open` on.
    func change(to options: LinkOptions)
    /// Prepares one attempt of this form with a broker by its index, and forgets everything of the connection before: its
    /// limits, and the messages not yet acknowledged. Returns a sentence when that is not possible.
    func open(broker: Int, as form: ConnectForm) -> String?
    /// Begins the attempt; how it ends comes as an event. Returns a sentence when it failed at once.
    func connect() -> String?
    /// Hands one message over; only while connected.
    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver
    /// Subscribes with QoS 1; its answer comes as an event with this number. Nil when that is not possible now.
    /// - Parameter isCheck: our own messages come back as well, and what is retained; they do not otherwise (MQTT 5).
    func subscribe(_ filter: String, isCheck: Bool) -> Int32?
    func unsubscribe(_ filter: String)
    /// Drops the connection or attempt without ceremony.
    func abandon()
    /// Says good-bye in order.
    /// - Parameter keepsWill: the broker publishes the last will all the same when we do not come back (MQTT 5).
    func disconnect(keepsWill: Bool)
    /// True while bytes wait to be written.
    var wantsWrite: Bool { get }
    /// The kernel's state of the bytes on their way; nil when it gives none.
    var line: LineState? { get }
    /// Appends what has happened since the last call.
    func takeEvents(into events: inout [MQTTEvent])
}

extension Transport {
    var line: LineState? { nil }
}

/// Outcome of a message that was handed over.
enum HandOver: Equatable {
    /// The library has it; its end comes as an event with this number.
    case taken(id: Int32)
    /// Larger than the broker takes.
    case tooLarge
    /// Not a message that can be sent at all, such as one with a broken topic.
    case impossible
    /// Not connected any more, or no memory: the message stays ours.
    case later
}

/// The link's way to a broker: for each attempt a connection of its own, made as the options and what the broker has said
/// before ask for. No thread of its own: `LinkThread` watches its socket and calls `socketReady` and `tick`; every call
/// comes from that thread.
final class MosquittoTransport: Transport {
    /// The library sends no more than this many QoS 1 messages without acknowledgement, whatever the broker allows.
    static let sendMaximum = 64

    private var options: LinkOptions
    private var connection: MQTTConnection?
    private var broker = 0
    private var form = ConnectForm(version: .v5)
    private var family = AddressFamily()
    /// `family` knows how the attempt has ended.
    private var isEndNoted = false
    /// The connection is one of other options: what it says is not for the next attempt.
    private var isOfBefore = false

    init(options: LinkOptions) {
        self.options = options
        MQTTConnection.initializeLibrary()
    }

    func change(to options: LinkOptions) {
        self.options = options
        isOfBefore = true
        family = AddressFamily()
    }

    var socket: Int32 { connection?.socket ?? -1 }
    var wantsWrite: Bool { connection?.wantsWrite ?? false }
    var line: LineState? { connection?.line }

    func takeEvents(into output: inout [MQTTEvent]) {
        guard let connection else { return }
        let before = output.count
        connection.takeEvents(into: &output)
        for index in before..<output.count { note(output[index]) }
        noteEnd()
    }

    /// Notes facts for the next attempt.
    private func note(_ event: MQTTEvent) {
        if isOfBefore { return }
        switch event {
        case .connected:
            family.attemptSucceeded()
            // Most of what a handshake touches of libcrypto is not needed until the next one.
            clinux_forget_code()
        default: break
        }
    }

    private func noteEnd() {
        guard let connection, connection.hasFailedLate, !isEndNoted, !isOfBefore else { return }
        isEndNoted = true
        family.attemptFailed()
    }

    // MARK: attempts

    func open(broker: Int, as form: ConnectForm) -> String? {
        noteEnd()
        connection = nil
        (isEndNoted, isOfBefore) = (false, false)
        if self.broker != broker { family = AddressFamily() }
        (self.broker, self.form) = (broker, form)
        do throws(MQTTFailure) {
            connection = try MQTTConnection(attempt, to: options.connection.brokers[broker], as: form)
            return nil
        } catch { return error.description }
    }

    private var attempt: ConnectionOptions {
        var attempt = options.connection
        attempt.sendMaximum = Self.sendMaximum
        // A session that is begun anew would end the old one, and with it the delay of the last will. With 3.1.1 there is
        // no delay, and a session would have no end.
        attempt.isClean = form.version != .v5 && options.sessionSeconds == 0
        let delay = UInt32(clamping: attempt.mqtt.willDelay)
        // The broker has to keep the session for as long as the will is delayed: the end of a session publishes the will
        // at once.
        let session = max(delay, options.sessionSeconds)
        if session > 0 { attempt.sessionExpiry = session }
        attempt.maximumPacketSize = UInt32(clamping: max(0, attempt.inboundBytes) + 4096)
        var will = ConnectionOptions.Will(topic: options.presence.topic, payload: Array(options.presence.offline.utf8))
        (will.contentType, will.delay) = (.text, delay)
        attempt.will = will
        return attempt
    }

    func connect() -> String? {
        guard let connection else { return "libmosquitto has no client" }
        do throws(MQTTFailure) {
            try connection.connect(from: family.choose(host: options.connection.brokers[broker].host))
            return nil
        } catch { return error.description }
    }

    func abandon() {
        connection?.abandon()
        noteEnd()
    }

    func disconnect(keepsWill: Bool) { connection?.disconnect(keepsWill: keepsWill) }

    // MARK: messages

    func subscribe(_ filter: String, isCheck: Bool) -> Int32? {
        var how = SubscriptionOptions()
        if !isCheck {
            let isWatched = options.watched.contains(filter) || options.watchedWhole.contains(filter)
            how.wantsRetained = options.wantsRetained && !isWatched
            (how.keepsRetained, how.isWithoutOwn) = (true, true)
        }
        return try? connection?.subscribe(filter, how)
    }

    func unsubscribe(_ filter: String) { connection?.unsubscribe(filter) }

    func publish(_ header: PublicationHeader, _ payload: UnsafeRawBufferPointer) -> HandOver {
        guard let connection else { return .later }
        var properties = MQTTProperties(form.version)
        if let expiry = header.expiry { properties.add(expiry: expiry) }
        properties.add(contentType: header.contentType)
        if let correlation = header.correlation { properties.add(correlation: correlation) }
        if header.isHistory { properties.add(name: "hist", value: "1") }
        do throws(MQTTFailure) {
            let id = try connection.publish(header.topic, payload, qos: header.qos, retain: header.retain, properties)
            return .taken(id: id)
        } catch {
            switch error.cause {
            case .tooLarge: return .tooLarge
            case .connection where error.kept != 0: return .taken(id: error.kept)
            case .connection, .memory: return .later
            default: return .impossible
            }
        }
    }

    // MARK: the socket

    func socketReady(readable: Bool, error: Bool) { connection?.socketReady(readable: readable, error: error) }

    /// Once a second: keepalive.
    func tick() {
        guard let connection, !connection.isConnecting else { return }
        // A ping would wait behind what the line has not taken yet, and the library would not wait for its answer;
        // whether the line is dead is seen by `ConnectionWatch`.
        if let line = connection.line, line.waiting > 0 { return }
        connection.tick()
    }

    /// Notices when the library has closed the socket without a word.
    func checkSocket() { connection?.checkSocket() }
}

/// Choice of a name's address for an attempt. libmosquitto resolves the name before each attempt, so it finds a broker that
/// has moved. But it takes the first address to which a connection can be begun. If that address fails later, such as IPv6
/// to a host that only answers IPv4, the others are never tried. After such an end the next attempt uses the other address
/// family, for a name that has both: a socket bound to any address of a family reaches no other.
struct AddressFamily {
    private var anyAddress: String?
    private var failedLate = false

    /// An attempt that had found an address to go to has failed.
    mutating func attemptFailed() { failedLate = true }

    /// The present choice is good.
    mutating func attemptSucceeded() { failedLate = false }

    /// Address that the next attempt's socket is bound to; nil: any family will do.
    mutating func choose(host: String) -> String? {
        if failedLate, Self.hasBoth(host) { anyAddress = anyAddress == "0.0.0.0" ? "::" : "0.0.0.0" }
        failedLate = false
        return anyAddress
    }

    private static func hasBoth(_ host: String) -> Bool {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var first: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &first) == 0 else { return false }
        defer { freeaddrinfo(first) }
        var families: (four: Bool, six: Bool) = (false, false)
        var next = first
        while let entry = next {
            if entry.pointee.ai_family == AF_INET { families.four = true }
            if entry.pointee.ai_family == AF_INET6 { families.six = true }
            next = entry.pointee.ai_next
        }
        return families.four && families.six
    }
}
