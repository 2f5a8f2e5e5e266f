import Feed
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Somebody who is connected.
protocol Client: AnyObject {
    var client: FeedClient { get }
    /// It is sent packets as they come.
    var isStreaming: Bool { get }
    /// It has had its turn in the queue of those who wait for one.
    func work()
    /// There are new packets, if it is sent any.
    func enqueue()
    /// - Parameter idle: seconds after which it is cut when nothing moves; of a stream that is sent nothing.
    func tick(_ now: Double, idle: Double, stream: Double)
}

/// Listens, and keeps the books of who is connected. Everything runs on its one thread; what takes long does so on others
/// (``Workers``).
final class Server: @unchecked Sendable {
    let settings: FeedSettings
    let identity: SeedLinkSession.Identity
    let wishes: FetchWishes
    let loop: any EventLoop
    let workers: Workers
    let access: AccessRules
    private let accounts: Accounts?
    private let shared: SharedState
    private let ring: Ring
    private let started = realNanoseconds()
    private var clients: [ObjectIdentifier: any Client] = [:]
    private var places: Places
    private var counted = ServerCounts()
    /// The other server that is given all records.
    private var dataLink: DataLinkClient?
    private var forwarded: Forwarded?
    private var nextNote = 0.0
    private var cached: SharedArchive?
    /// Who waits for a turn, in order, and since when: nobody's turn lasts longer than some milliseconds.
    private var queue: [(client: any Client, since: Double)] = []
    private var isWorking = false
    private var waits = RecentMaximum(seconds: 60)

    /// Seconds of work in one turn of the loop, between which others have theirs.
    private static let slice = 0.004

    /// - Parameter ring: a connection for this thread.
    /// - Throws: a file of accounts that cannot be used.
    init(
        _ settings: FeedSettings, shared: SharedState, ring: Ring, wishes: FetchWishes, loop: any EventLoop,
        workers: Workers
    ) throws {
        (self.settings, self.shared, self.ring) = (settings, shared, ring)
        (self.wishes, self.loop, self.workers) = (wishes, loop, workers)
        access = AccessRules(settings)
        accounts = try settings.accounts.isEmpty ? nil : Accounts(settings.accounts)
        places = Places(all: settings.clients, ofAddress: settings.clientsPerAddress, forWeb: settings.webClients)
        identity = SeedLinkSession.Identity(
            software: "Seismote \(productVersion)", organisation: settings.organisation)
    }

    /// Has a ringserver given all records.
    func give(to client: DataLinkClient, _ forwarded: Forwarded) { (dataLink, self.forwarded) = (client, forwarded) }

    /// As it is now. (One for all that is done in a turn of the loop.)
    func archive() -> SharedArchive {
        if let cached { return cached }
        let archive = SharedArchive(
            shared, ring: ring, started: started, now: realNanoseconds(),
            clients: { [unowned self] in clients.values.map(\.client).sorted { $0.since < $1.since } },
            say: { printError($0) })
        cached = archive
        loop.execute { self.cached = nil }
        return archive
    }

    // MARK: Who is connected

    func add(_ client: any Client, isWeb: Bool) -> Bool {
        let address = client.client.address
        guard places.take(address, isWeb: isWeb, isProxy: access.isProxy(address)) else {
            counted.turnedAway += 1
            note(cut: address, "too many connections")
            return false
        }
        clients[ObjectIdentifier(client)] = client
        return true
    }

    func remove(_ client: any Client, isWeb: Bool) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        places.give(client.client.address, isWeb: isWeb)
    }

    func countRequest() { counted.requests += 1 }
    func count(sent bytes: Int) { counted.sentBytes += bytes }

    /// The longest wait for a turn is asked of this: seconds.
    func note(wait: Double) { waits.add(wait, at: monotonicSeconds()) }

    /// Says why somebody was cut, at most once a second.
    func note(cut address: String, _ reason: String) {
        counted.cut += 1
        guard monotonicSeconds() >= nextNote else { return }
        nextNote = monotonicSeconds() + 1
        printError("\(address) was cut: \(reason)")
    }

    /// Checks a name and password, on another thread.
    func checkLogin(
        _ user: String, _ password: String, from address: String, then next: @escaping (Bool) -> Void
    ) {
        guard let accounts else { return next(false) }
        if accounts.knows(user, password) { return next(true) }
        let handover = NIOLoopBound(next, eventLoop: loop)
        workers.run(for: address) { _ in
            let isGood = accounts.accepts(user, password)
            self.loop.execute {
                if !isGood {
                    self.counted.failedLogins += 1
                    self.note(cut: address, "a name or password that is not known")
                }
                handover.value(isGood)
            }
        }
    }

    func services() -> WebServices {
        var counts = counted
        counts.clients = clients.count
        counts.streams = clients.values.reduce(0) { $0 + ($1.isStreaming ? 1 : 0) }
        counts.longestWait = waits.maximum(at: monotonicSeconds())
        counts.dataLink = forwarded.map { ($0.isConnected, $0.records) }
        return WebServices(
            settings, shared, server: counts, now: Moment(monotonic: monotonicSeconds(), utc: realNanoseconds()))
    }

    // MARK: Turns

    /// Puts a client at the end of the queue of those who wait for a turn.
    func enqueue(_ client: any Client) {
        queue.append((client, monotonicSeconds()))
        guard !isWorking else { return }
        isWorking = true
        loop.execute { self.workOff() }
    }

    /// Gives turns until the slice is over; the rest have theirs after what has come from the network in between.
    private func workOff() {
        let start = monotonicSeconds()
        var (done, now) = (0, start)
        while done < queue.count, now - start < Self.slice {
            let (client, since) = queue[done]
            done += 1
            waits.add(now - since, at: now)
            client.work()
            now = monotonicSeconds()
        }
        queue.removeFirst(done)
        isWorking = !queue.isEmpty
        // (A task that is executed at once would run before anything is read from the network.)
        if isWorking { loop.scheduleTask(in: .microseconds(200)) { self.workOff() } }
    }

    /// There are new packets. Any thread may say it.
    func notify() {
        loop.execute {
            self.cached = nil
            for client in self.clients.values { client.enqueue() }
            self.dataLink?.wake()
        }
    }

    // MARK: Listening

    /// - Throws: an address that cannot be listened on.
    func start() throws {
        loop.execute {
            self.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                let now = monotonicSeconds()
                for client in self.clients.values {
                    client.tick(now, idle: self.settings.idleSeconds, stream: self.settings.streamIdleSeconds)
                }
                self.dataLink?.tick(now)
            }
        }
        let tls =
            settings.seedLinkTLSPort > 0 || settings.webTLSPort > 0
            ? try Certificate(chain: settings.certificate, key: settings.key) : nil
        for (port, tls) in [(settings.seedLinkPort, nil), (settings.seedLinkTLSPort, tls)] where port > 0 {
            try listen(port, "SeedLink", tls) { channel, address in
                try channel.pipeline.syncOperations.addHandler(SeedLinkHandler(self, address, isEncrypted: tls != nil))
            }
        }
        for (port, tls) in [(settings.webPort, nil), (settings.webTLSPort, tls)] where port > 0 {
            try listen(port, "web services", tls) { channel, address in
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                try channel.pipeline.syncOperations.addHandler(WebHandler(self, address, isEncrypted: tls != nil))
            }
        }
    }

    private func listen(
        _ port: Int, _ name: String, _ tls: Certificate?,
        _ initialise: @escaping @Sendable (any Channel, SocketAddress?) throws -> Void
    ) throws {
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 128 << 10))
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls.context()))
                    }
                    try initialise(channel, channel.remoteAddress)
                }
            }
        let channel = try bootstrap.bind(host: settings.listen, port: port).wait()
        printError("\(name)\(tls == nil ? "" : " over TLS") on \(channel.localAddress?.description ?? "port \(port)")")
    }
}
