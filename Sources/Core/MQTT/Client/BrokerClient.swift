import Glibc
import Messages
import Platform

/// A connection to a broker for a program with one thread. It has no thread: everything happens inside its calls.
package final class BrokerClient {
    /// Bytes of payload that are taken of one message; of a larger one only the size.
    package static let payloadLimit = 1 << 20
    /// Bytes of messages that may wait to be taken, topics and payloads with 200 for each. A connection that brings more ends: nothing
    /// that was acknowledged is dropped.
    static let inboxLimit = 256 << 20

    package let options: ConnectionOptions
    /// Version of the present broker.
    package private(set) var version: MQTTVersion
    private var connection: MQTTConnection?
    private var events: [MQTTEvent] = []
    private var inbox: [InboundMessage] = []
    private var taken = 0
    /// Bytes of those in the inbox, taken ones too.
    private var weight = 0
    private let inboxLimit: Int
    private var overflow: String?
    /// Subscriptions that nobody waits for: filters by their numbers.
    private var asked: [Int32: String] = [:]
    /// Reasons by the number of what was acknowledged.
    private var subscribed: [Int32: Int] = [:]
    private var published: [Int32: Int] = [:]
    private var isAccepted = false
    private var refusal: (code: Int, reason: String)?
    private var end: String?
    /// Brokers that have spoken 5: a closed connection does not make old ones of them.
    private var has5: [BrokerAddress] = []
    /// How the present broker was spoken to, and what it has said of itself.
    private var form = ConnectForm(version: .v5)
    private var limits = BrokerLimits()
    /// Client id: a connection that is made with the same options is another client.
    private let name: String
    /// Whether the broker had kept the session.
    package private(set) var isResumed = false

    package init(_ options: ConnectionOptions, inboxLimit: Int = BrokerClient.inboxLimit) {
        self.options = options
        self.inboxLimit = inboxLimit
        version = options.version
        name =
            options.clientID.isEmpty
            ? "\(options.clientPrefix)-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))" : options.clientID
    }

    // MARK: connection

    /// Connects to the first broker that can be had; also anew after an end. Nothing of before is kept.
    package func connect() throws(ClientError) {
        var problems: [String] = []
        for broker in options.brokers {
            do throws(ClientError) { return try connect(to: broker) } catch {
                problems.append("\(broker): \(error.description)")
            }
        }
        throw ClientError(problems.joined(separator: "\n"))
    }

    private func connect(to broker: BrokerAddress) throws(ClientError) {
        var forms = ClientForms(
            options.version, isKnown: options.version == .v5 && has5.contains(broker), hasWill: options.will != nil)
        var first: ClientError?
        while true {
            do throws(ClientError) {
                try attempt(broker, forms.current)
                if forms.isFinal() { return }
            } catch {
                // (The first of several failures says most.)
                first = first ?? error
                guard !Interrupt.came, forms.failed(error.sign) else {
                    throw error.sign == nil ? error : first ?? error
                }
            }
        }
    }

    private func attempt(_ broker: BrokerAddress, _ form: ConnectForm) throws(ClientError) {
        version = form.version
        (self.form, limits) = (form, BrokerLimits())
        connection = nil
        (isAccepted, refusal, end) = (false, nil, nil)
        subscribed.removeAll()
        published.removeAll()
        asked.removeAll()
        inbox.removeAll()
        (taken, weight, overflow) = (0, 0, nil)
        let connection = try client(of: broker, form)
        self.connection = connection
        let failure = Interrupt.after(seconds: options.connectTimeout) { () -> MQTTFailure? in
            do throws(MQTTFailure) {
                try connection.connectWaiting()
                return nil
            } catch { return error }
        }
        if let failure {
            switch failure.cause {
            case .interrupted: throw ClientError("no connection within \(Int(options.connectTimeout)) s")
            case .credentials: throw ClientError("user name or password is not valid for MQTT")
            default: throw ClientError(failure.description)
            }
        }
        let deadline = monotonicSeconds() + options.connectTimeout
        while !isAccepted, refusal == nil {
            do throws(ClientError) {
                try step(until: deadline)
            } catch {
                // Brokers without MQTT 5 may hang up, or answer with something too short to be one of 5.
                throw ClientError(error.description, sign: connection.hasLoggedError ? nil : .hungUp)
            }
            // (Of those without MQTT 5 some wait for the rest of what they take for a longer packet.)
            if monotonicSeconds() >= deadline {
                throw ClientError("no answer within \(Int(options.connectTimeout)) s", sign: .silent)
            }
            if Interrupt.came { throw ClientError("interrupted") }
        }
        if let refusal {
            throw ClientError("refused: \(refusal.reason)\(nameOf(refusal.code))", sign: Self.sign(refusal.code))
        }
        if version == .v5, !has5.contains(broker) { has5.append(broker) }
    }

    /// The client id, where a refusal may be for it: brokers that take some names only say the same as of a wrong password.
    private func nameOf(_ code: Int) -> String {
        [2, 5, 133, 135].contains(code) ? " (client id \(name))" : ""
    }

    private static func sign(_ code: Int) -> ClientError.Sign? {
        switch code {
        case 1, 132: .isOld
        case BrokerLimits.retainNotSupported: .takesNoRetained
        case BrokerLimits.qosNotSupported: .takesNoQoS1
        default: nil
        }
    }

    private func client(of broker: BrokerAddress, _ form: ConnectForm) throws(ClientError) -> MQTTConnection {
        var options = options
        (options.clientID, options.inboundBytes, options.receiveMaximum) = (name, Self.payloadLimit, 65535)
        do throws(MQTTFailure) { return try MQTTConnection(options, to: broker, as: form) } catch {
            throw ClientError(error.cause == .client ? "libmosquitto cannot make a client" : error.description)
        }
    }

    /// Whether the broker keeps retained messages, as far as it has said or shown.
    package var retains: Bool { version == .v5 ? limits.retainAvailable : form.willIsRetained }
    /// Whether it takes QoS 1.
    package var hasQoS1: Bool { version == .v5 ? limits.maximumQoS >= 1 : form.willQoS >= 1 }

    /// Says good-bye.
    package func disconnect() {
        connection?.disconnect()
        connection = nil
    }

    // MARK: messages

    /// Subscribes with QoS 1 and waits until the broker has granted it.
    package func subscribe(_ filters: [String]) throws(ClientError) {
        guard let connection else { throw ClientError("not connected") }
        for filter in filters {
            let id: Int32
            do throws(MQTTFailure) { id = try connection.subscribe(filter) } catch {
                throw ClientError("cannot subscribe to \(filter): \(error.description)")
            }
            let reason = try answer("the subscription to \(filter)") { $0.subscribed.removeValue(forKey: id) }
            if reason >= 128 { throw ClientError("the broker refuses the subscription to \(filter)") }
        }
    }

    /// Subscribes with QoS 1 and waits for nothing: what the broker keeps there may be taken as it comes, however much it is. A
    /// subscription that it refuses ends the connection, as ``next(until:)`` says.
    package func ask(for filters: [String]) throws(ClientError) {
        guard let connection else { throw ClientError("not connected") }
        for filter in filters {
            do throws(MQTTFailure) { asked[try connection.subscribe(filter)] = filter } catch {
                throw ClientError("cannot subscribe to \(filter): \(error.description)")
            }
        }
    }

    package func unsubscribe(_ filters: [String]) {
        for filter in filters { connection?.unsubscribe(filter) }
    }

    /// Publishes with QoS 1 and waits until the broker has it. Throws when it refuses.
    /// - Parameters: as those of `offer`.
    package func publish(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, expiry: UInt32? = nil
    ) throws(ClientError) {
        let reason = try offer(topic, payload, retain: retain, expiry: expiry)
        if reason >= 128 {
            throw ClientError("the broker refuses \(topic): \(MQTTWords.reason(reason))")
        }
    }

    /// Publishes with QoS 1 and waits for what the broker says of it.
    /// - Parameters:
    ///   - retain: whether the broker keeps it for those who come later; an empty one deletes what it keeps.
    ///   - expiry: seconds after which nobody gets it any more (MQTT 5).
    /// - Returns: its reason; from 128 on it has not taken it (MQTT 5 alone says so).
    package func offer(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, expiry: UInt32? = nil
    ) throws(ClientError) -> Int {
        let id = try send(topic, payload, retain: retain, expiry: expiry)
        return try answer("the message on \(topic)") { $0.published.removeValue(forKey: id) }
    }

    /// Hands a message of JSON over with QoS 1, without waiting for the broker; with QoS 0 where it takes no more, and not
    /// retained where it keeps nothing.
    /// - Parameters: as those of `offer`.
    /// - Returns: the number that `takeAcknowledged` will know it by.
    package func send(
        _ topic: String, _ payload: [UInt8], retain: Bool = false, expiry: UInt32? = nil
    ) throws(ClientError) -> Int32 {
        guard let connection else { throw ClientError("not connected") }
        var properties = MQTTProperties(version)
        properties.add(contentType: .json)
        if let expiry { properties.add(expiry: expiry) }
        do throws(MQTTFailure) {
            return try connection.publish(
                topic, payload, qos: hasQoS1 ? 1 : 0, retain: retain && retains, properties)
        } catch {
            throw ClientError(
                "cannot publish on \(topic): \(error.description)", isTooLarge: error.cause == .tooLarge)
        }
    }

    /// Acknowledgements of the broker since the last call, with its reasons.
    package func takeAcknowledged() -> [Int32: Int] {
        defer { published.removeAll() }
        return published
    }

    /// The next message; nil when there is none until then (monotonic seconds), or at Ctrl-C.
    package func next(until deadline: Double) throws(ClientError) -> InboundMessage? {
        while taken == inbox.count {
            inbox.removeAll(keepingCapacity: true)
            (taken, weight) = (0, 0)
            if Interrupt.came { return nil }
            try step(until: deadline)
            if inbox.isEmpty, monotonicSeconds() >= deadline { return nil }
        }
        taken += 1
        return inbox[taken - 1]
    }

    /// Whether everything that has come from the broker has been taken by ``next(until:)``.
    package var isDrained: Bool {
        guard taken == inbox.count, let connection else { return false }
        var watched = pollfd(fd: connection.socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) == 0
    }

    private func take(_ message: InboundMessage) {
        weight += message.topic.utf8.count + message.payload.count + 200
        guard weight <= inboxLimit else {
            overflow = "more than \(inboxLimit) bytes of messages came before the broker answered a subscription"
            return
        }
        inbox.append(message)
    }

    private func granted(_ id: Int32, _ reason: Int) {
        guard let filter = asked.removeValue(forKey: id) else {
            subscribed[id] = reason
            return
        }
        if reason >= 128 { end = end ?? "the broker refuses the subscription to \(filter)" }
    }

    /// Waits for an acknowledgement.
    private func answer(
        _ what: String, _ look: (BrokerClient) -> Int?
    ) throws(ClientError) -> Int {
        let deadline = monotonicSeconds() + options.connectTimeout
        while true {
            if let reason = look(self) { return reason }
            if Interrupt.came { throw ClientError("interrupted") }
            if monotonicSeconds() >= deadline {
                throw ClientError("the broker does not answer \(what) within \(Int(options.connectTimeout)) s")
            }
            try step(until: deadline)
        }
    }

    /// Waits for the socket, at most a second and until the deadline, and does what is to be done there.
    private func step(until deadline: Double) throws(ClientError) {
        guard let connection else { throw ClientError("not connected") }
        if let overflow { throw ClientError(overflow) }
        guard connection.socket >= 0 else { throw ClientError(end ?? "the connection was closed") }
        connection.step(wait: max(0, min(1, deadline - monotonicSeconds())))
        takeEvents(connection)
        // What came with the end is taken first. A refusal is an end as well.
        if let end, refusal == nil, taken == inbox.count { throw ClientError(end) }
    }

    private func takeEvents(_ connection: MQTTConnection) {
        var happened: [MQTTEvent] = []
        swap(&happened, &events)
        connection.takeEvents(into: &happened)
        for event in happened {
            switch event {
            case .connected(let limits):
                (isAccepted, isResumed, self.limits) = (true, limits.sessionPresent, limits)
            case .refused(let code, let reason): refusal = (code, reason)
            case .lost(let reason, _, _, _): end = end ?? reason
            case .subscribed(let id, let code): granted(id, code)
            case .finished(let id, let reason): published[id] = reason
            case .message(let message): take(message)
            case .heard: break
            }
        }
        happened.removeAll(keepingCapacity: true)
        events = happened
    }
}

/// Forms that are tried with one broker, one attempt after the other, until it accepts one. Pure.
///
/// The broker's words count. A closed connection and silence prove nothing: a broker that starts hangs up as well, and so
/// does a forwarder with nobody behind it. Forms that were passed over for these reasons are therefore tried once more when
/// the broker has accepted a lesser one.
struct ClientForms: Sendable {
    private var forms: [ConnectForm]
    /// Passed over without a word of the broker.
    private var passed: [ConnectForm] = []
    /// The form that was accepted, while those that were passed over are tried once more.
    private var accepted: ConnectForm?

    /// Form of the next attempt.
    private(set) var current: ConnectForm

    /// - Parameters:
    ///   - isKnown: the broker has spoken this version before.
    ///   - hasWill: there is a last will, which brokers without retained messages or QoS 1 refuse.
    init(_ version: MQTTVersion, isKnown: Bool, hasWill: Bool) {
        forms = version == .v5 ? [ConnectForm(version: .v5)] : []
        if !isKnown || version == .v311 { forms.append(ConnectForm(version: .v311)) }
        if hasWill, !isKnown || version == .v311 {
            for (qos, isRetained) in [(1, false), (0, true), (0, false)] {
                forms.append(ConnectForm(version: .v311, willQoS: qos, willIsRetained: isRetained))
            }
        }
        current = forms[0]
    }

    /// Takes what a failed attempt said.
    /// - Returns: whether there is another one.
    mutating func failed(_ sign: ClientError.Sign?) -> Bool {
        switch sign {
        case .takesNoRetained where current.willIsRetained:
            current.willIsRetained = false
            return true
        case .takesNoQoS1 where current.willQoS > 0:
            current.willQoS = 0
            return true
        default: break
        }
        if let accepted {
            // A better form has failed again; or the broker has gone meanwhile.
            guard current != accepted else { return false }
            current = passed.isEmpty ? accepted : passed.removeFirst()
            return true
        }
        switch sign {
        case nil, .takesNoRetained, .takesNoQoS1: return false
        case .isOld:
            guard current.version == .v5 else { return false }
            forms.removeAll { $0.version == .v5 }
            passed = []
        case .silent:
            // (Of 3.1.1 no form is known that a broker would be silent about.)
            guard current.version == .v5 else { return false }
            passed.append(current)
            forms.removeAll { $0.version == .v5 }
        case .hungUp:
            passed.append(current)
            forms.removeFirst()
        }
        guard let next = forms.first else { return false }
        current = next
        return true
    }

    /// The broker has accepted the form.
    /// - Returns: whether the connection stays; false: a better form is tried once more.
    mutating func isFinal() -> Bool {
        guard accepted == nil, !passed.isEmpty else { return true }
        accepted = current
        current = passed.removeFirst()
        return false
    }
}

/// A broker that cannot be reached or used; a sentence that names it.
package struct ClientError: Error, CustomStringConvertible {
    /// Conclusion from the end of an attempt for the next one.
    package enum Sign: Equatable, Sendable {
        /// The broker closed the connection without a word.
        case hungUp
        /// It said nothing until the deadline.
        case silent
        /// It has said that it has no MQTT 5.
        case isOld
        /// It has said that it takes no retained last will, or none of QoS 1.
        case takesNoRetained, takesNoQoS1
    }

    package var description: String
    /// Nil: nothing follows.
    package var sign: Sign?
    /// A message is larger than the broker takes.
    package var isTooLarge = false

    package init(_ description: String, sign: Sign? = nil, isTooLarge: Bool = false) {
        (self.description, self.sign, self.isTooLarge) = (description, sign, isTooLarge)
    }
}

/// Ctrl-C, as something that is asked for while waiting.
package enum Interrupt {
    private static let flag = Atomic<Bool>(false)

    /// Whether it has come since `listen`.
    package static var came: Bool { flag.load(ordering: .relaxed) }

    /// Forgets the signal: it was for another program, such as an editor.
    package static func forget() { flag.store(false, ordering: .relaxed) }

    /// From now on SIGINT, SIGTERM and a terminal that is closed end what is waited for, and not the program.
    package static func listen() {
        _ = came
        for number in [SIGINT, SIGTERM, SIGHUP] {
            var old = sigaction()
            sigaction(number, nil, &old)
            // (As nohup wants it.)
            if unsafeBitCast(old.__sigaction_handler.sa_handler, to: Int.self) == 1 { continue }
            install(number) { _ in Interrupt.flag.store(true, ordering: .relaxed) }
        }
    }

    /// Finishes the work whatever signals come. (A terminal that is closed sends two.)
    package static func finish() {
        for number in [SIGINT, SIGTERM, SIGHUP] { _ = signal(number, SIG_IGN) }
        forget()
    }

    /// Does something that blocks in the kernel, which is interrupted when it takes longer.
    package static func after<R>(seconds: Double, _ body: () -> R) -> R {
        install(SIGALRM) { _ in }
        alarm(UInt32(max(1, min(seconds.rounded(.up), 3600))))
        defer { alarm(0) }
        return body()
    }

    /// Without SA_RESTART: a call that waits comes back.
    package static func install(_ number: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handler
        sigaction(number, &action, nil)
    }
}
