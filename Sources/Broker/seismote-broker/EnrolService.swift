import Administration
import CLinux
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// The service behind `seismote-broker enrol`: gives certificates to stations that were invited, and new ones to those that have
/// one. It speaks MQTT alone, as the account `seismote-enrol`, and may write nothing but its own folder; what it decides is put
/// into force by `seismote-broker tidy`, which trusts only its serial numbers. See deploy/docs/install/joining.md.
///
///     enrol/ID/csr     a request for a certificate (PEM), by who has the token of the invitation ID
///     enrol/ID/cert    the answer: {"name", "certificate", "authorities", "port"} or {"error"}
///     renew/NAME/csr   the same of the station NAME, by its present certificate; answer on renew/NAME/cert
///     renew/NAME/joined  (retained) the station NAME is connected with the certificate of the invitation that is the message
///
/// Nothing is taken of a request but the public key. The name is that of the invitation, or of the account.
final class EnrolService {
    private let place: Place
    private let state: String
    private let work: String
    private let key: String
    private let port: Int
    private var queue = RequestQueue()
    private var link: Conversation?
    /// Times of files at the last look.
    private var looked: [Int] = []

    private var own: String { "\(work)/own.pem" }

    init(place: Place) throws(Failure) {
        func set(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
        self.place = place
        guard let credentials = set("CREDENTIALS_DIRECTORY") else {
            throw Failure(
                "CREDENTIALS_DIRECTORY is where systemd puts clients.key: systemctl start seismote-broker-enrol")
        }
        key = "\(credentials)/clients.key"
        state = set("STATE_DIRECTORY") ?? place.enrolment
        work = set("RUNTIME_DIRECTORY") ?? "/run/seismote-enrol"
        port = set("SEISMOTE_BROKER_PORT").flatMap { Int($0) } ?? Place.certificatesPort
    }

    func run() throws(Failure) {
        clinux_use_little_memory()
        EndSignals.listen()
        for folder in [work, state, "\(state)/tokens", "\(state)/certificates", "\(state)/joined"] {
            if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Disk.failure("mkdir", folder) }
        }
        while !EndSignals.came {
            do throws(Failure) {
                try makeOwn()
                look()
                try serve()
            } catch {
                clinux_forget_code()
                note("no connection to the broker: it is tried again (\(AccountName.printable(error.words)))")
            }
            link = nil
            let end = monotonicSeconds() + 2
            while monotonicSeconds() < end, !EndSignals.came { pause(0.1) }
        }
    }

    // MARK: the connection

    /// A certificate of our own, made anew before it ends. (The authority may be another one since: a backup was put back.)
    private func makeOwn() throws(Failure) {
        guard let authority = Disk.text("\(place.clients)/ca.pem").flatMap({ Certificate(pem: $0) }) else {
            throw Failure("there is no authority yet: sudo seismote-broker init")
        }
        let now = wallSeconds()
        if let there = Disk.text(own).flatMap({ Certificate(pem: $0) }), there.issuer == authority.subject,
            there.from <= now, there.until > now + 30 * 86_400
        {
            return
        }
        let secret = try OpenSSL.newKey()
        let key = try OpenSSL.publicKey(of: secret)
        let certificate = try sign(Ledger.service, key, newSerial(), authority)
        try Disk.replace(own, certificate + secret, owner: .root)
    }

    private func sign(
        _ name: String, _ key: [UInt8], _ serial: String, _ authority: Certificate
    ) throws(Failure) -> String {
        let issue = Issuance(
            .client, name: name, key: key, serial: serial, by: Issuance.Issuer(authority), now: wallSeconds(),
            days: Enrolment.days)
        return try OpenSSL.sign(issue, keyFile: self.key)
    }

    /// (Without a session that is kept: mosquitto 2.0 must not read its files anew while one is. A board asks again.)
    private func serve() throws(Failure) {
        var tls = MQTTConfiguration().tls
        (tls.caFile, tls.certFile, tls.keyFile) = ("\(place.tls)/ca.pem", own, own)
        let link = try Conversation(host: "localhost", port: port, client: "seismote-enrol", tls: tls)
        self.link = link
        try link.subscribe(["enrol/+/csr", "renew/+/csr", "renew/+/joined"])
        // (What the start and the handshake needed is not needed again for long.)
        clinux_forget_code()
        var next = monotonicSeconds() + 3600
        var (hasWorked, lean) = (false, monotonicSeconds())
        while !EndSignals.came {
            link.step(wait: queue.isEmpty ? 1 : 0.02)
            // (All that waits, before anything is done: of one sender the last counts.)
            for _ in 0..<200 {
                let messages = link.take()
                if messages.isEmpty { break }
                for one in messages { queue.put(topic: one.topic, payload: one.payload, size: one.size) }
                link.step(wait: 0)
            }
            if let end = link.end { throw Failure(end) }
            let now = monotonicSeconds()
            if let request = queue.take(now: now) {
                answer(request)
                hasWorked = true
            }
            // (Nor is what an answer needed, until somebody asks again.)
            if hasWorked, queue.isEmpty || now > lean + 1 {
                clinux_forget_code()
                (hasWorked, lean) = (false, now)
            }
            if isChanged() { look() }
            if now > next {
                next = now + 3600
                let before = Disk.bytes(own)
                try makeOwn()
                if Disk.bytes(own) != before { return link.disconnect() }
            }
        }
        link.disconnect()
    }

    // MARK: one request

    private func answer(_ request: RequestQueue.Request) {
        do throws(Failure) {
            switch request.kind {
            case .joined: try joined(request.sender, request.payload ?? [])
            case .enrol:
                let name = invitation(request.sender)?.name
                try answer(
                    "enrol/\(request.sender)/cert", who: "the invitation \(request.sender)", name: name,
                    request.payload
                ) { mark in
                    Enrolment.enrol(
                        invitation(request.sender), hasJoined: Disk.exists("\(state)/joined/\(request.sender)"),
                        token: token("tokens", request.sender), mark: mark, now: wallSeconds(), serial: newSerial())
                } bind: { token throws(Failure) in
                    try put("\(state)/tokens/\(request.sender)", token.line + "\n")
                }
            case .renew:
                let name = request.sender
                // (While we decide and sign nobody revokes: what is given is known to whoever does.)
                let signing = FileLock("\(state)/signing", seconds: 60)
                defer { signing?.release() }
                let own = certificates(of: name)
                try answer("renew/\(name)/cert", who: name, name: name, own.isEmpty ? [] : request.payload) { mark in
                    Enrolment.renew(
                        own: own.map { ($0.serial, $0.until, SHA256.hexDigest(of: PublicKey.pem($0.key))) },
                        isHeld: isHeld(name), mark: mark, now: wallSeconds(), serial: newSerial())
                } bind: { _ in
                }
            }
        } catch { note("\(request.sender): \(AccountName.printable(error.words))") }
    }

    private func answer(
        _ topic: String, who: String, name: String?, _ payload: [UInt8]?, decide: (String) -> Enrolment.Answer,
        bind: (Token) throws(Failure) -> Void
    ) throws(Failure) {
        func refuse(_ why: String) {
            note("refused \(who): \(why)")
            send(topic, to: "", .refused(why))
        }
        // (Where it has nothing to hope for, whatever it asks, nothing is read of it.)
        if case .refused(let why) = decide(""), name == nil || payload?.isEmpty ?? false || why.contains("not known") {
            return refuse(why)
        }
        guard let name else { return }
        guard let payload else { return refuse("the request has more than \(RequestQueue.limit) bytes") }
        let request = try OpenSSL.read(request: payload)
        if let problem = request.problem(name: name) { return refuse(problem) }
        let serial: String
        switch decide(SHA256.hexDigest(of: PublicKey.pem(request.key))) {
        case .refused(let why): return refuse(why)
        case .give(let given): serial = given
        case .bind(let token):
            try bind(token)
            serial = token.serial
        }
        send(topic, to: name, try certificate(name, serial, request.key))
    }

    /// The answer with this certificate, which is made where it is not there yet.
    private func certificate(_ name: String, _ serial: String, _ key: [UInt8]) throws(Failure) -> EnrolmentAnswer {
        let folder = "\(state)/certificates/\(name)"
        let file = "\(folder)/\(serial).pem"
        // (One that a clock which was ahead has signed would be good for nobody.)
        if Disk.text(file).flatMap({ Certificate(pem: $0) })?.problem(at: wallSeconds()) != nil || !Disk.holds(file) {
            guard let authority = Disk.text("\(place.clients)/ca.pem").flatMap({ Certificate(pem: $0) }) else {
                throw Failure("there is no authority")
            }
            if mkdir(folder, 0o700) != 0, errno != EEXIST { throw Disk.failure("mkdir", folder) }
            try put(file, try sign(name, key, serial, authority))
            note("certificate \(serial) for \(name), \(Enrolment.days) days")
        }
        // (A second authority of the broker is believed by all before it is used.)
        var authorities = Disk.text("\(place.tls)/ca.pem") ?? ""
        for other in Disk.names(place.tls)
        where other.hasSuffix(".pem") && (other.hasPrefix("ca-o") || other.hasPrefix("ca-n")) {
            authorities += Disk.text("\(place.tls)/\(other)") ?? ""
        }
        return .certificate(Disk.text(file) ?? "", authorities: authorities, port: port)
    }

    /// (A station that does not get it asks again.)
    private func send(_ topic: String, to name: String, _ answer: EnrolmentAnswer) {
        if link?.publish(topic, answer.message(to: name).json()) != true {
            note("the answer on \(topic) was not taken by the broker")
        }
    }

    /// Notes the certificates that are revoked by `seismote-broker tidy`: those that the station had before. (What comes
    /// after it is a renewal, which has to stay good.)
    private func joined(_ name: String, _ payload: [UInt8]) throws(Failure) {
        let letters = payload.prefix(32).filter { $0.isSmallLetter || (0x32...0x39).contains($0) }
        let id = String(decoding: letters, as: UTF8.self)
        guard AccountName.isInvitation(id), var token = token("tokens", id), token.name == name else { return }
        if Disk.exists("\(state)/joined/\(id)") {
            // (It was noted, and we ended before we told so.)
            if Disk.exists("\(place.invitations)/\(id)") { tellTidy() }
            return
        }
        token.before = certificates(of: name).map(\.serial).filter { $0 != token.serial }
        note("\(name) has joined")
        try put("\(state)/joined/\(id)", token.line + "\n")
        tellTidy()
    }

    // MARK: files

    /// `seismote-broker tidy` is started by a change of this file.
    private func tellTidy() {
        let file = open("\(state)/changed", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        let text = Array("\(HostClock.wall())\n".utf8)
        _ = write(file, text, text.count)
        close(file)
    }

    private func put(_ path: String, _ text: String) throws(Failure) { try Disk.replace(path, text, owner: .root) }

    private func invitation(_ id: String) -> Invitation? {
        Disk.text("\(place.invitations)/\(id)").flatMap { Invitation(line: $0) }
    }

    private func token(_ folder: String, _ id: String) -> Token? {
        Disk.text("\(state)/\(folder)/\(id)").flatMap { Token(line: $0) }
    }

    private var revoked: [Revocation] {
        (Disk.text("\(place.clients)/revoked") ?? "").split(separator: "\n").compactMap { Revocation(line: String($0)) }
    }

    /// Certificates of a station that are not revoked.
    private func certificates(of name: String) -> [Certificate] {
        let revoked = Set(revoked.map(\.serial))
        return place.certificates(of: name, in: "\(state)/certificates").map(\.certificate)
            .filter { !revoked.contains($0.serial) }
    }

    /// Whether certificates of this name are being revoked: another board than the one that has just joined has some still, or
    /// the account is removed.
    private func isHeld(_ name: String) -> Bool {
        if (Disk.text(place.held) ?? "").split(separator: "\n").contains(where: { $0 == name }) { return true }
        return Disk.names("\(state)/joined").contains { id in
            guard Disk.exists("\(place.invitations)/\(id)"), let token = token("joined", id) else { return false }
            return token.name == name && !(token.before ?? []).isEmpty
        }
    }

    /// Forgets what the broker's administrator has revoked or withdrawn.
    private func look() {
        looked = times()
        for one in revoked {
            unlink("\(state)/certificates/\(one.name)/\(one.serial).pem")
        }
        for folder in ["tokens", "joined"] {
            for id in Disk.names("\(state)/\(folder)") where !Disk.exists("\(place.invitations)/\(id)") {
                unlink("\(state)/\(folder)/\(id)")
            }
        }
    }

    private func isChanged() -> Bool { times() != looked }

    private func times() -> [Int] {
        ["\(place.clients)/revoked", place.invitations].flatMap { path -> [Int] in
            var facts = stat()
            guard stat(path, &facts) == 0 else { return [0, 0] }
            return [facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec]
        }
    }
}

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
