import Feed
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Platform

/// Somebody who is connected.
protocol Client: AnyObject {
    var address: String { get }
    /// For those who ask who is connected.
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
    /// Clients that wait for a turn, and since when: nobody's turn lasts longer than some milliseconds.
    private var queue = FairQueue<(client: any Client, asked: Instant)>()
    private var isWorking = false
    private var waits = RecentMaximum(seconds: 60)
    private var worked = RecentMaximum(seconds: 60)

    /// Seconds of work in one turn of the loop, between which others have theirs.
    private static let slice = 0.004
    /// Seconds between looks at how late the loop is.
    private static let beat = 0.05

    /// A moment on the loop's thread.
    private struct Instant {
        private var monotonic = monotonicSeconds()
        private var processor = processorSeconds()

        /// Wait since then, where it should have been so many seconds.
        func wait(expecting seconds: Double = 0) -> Wait {
            let late = max(0, monotonicSeconds() - monotonic - seconds)
            return Wait(seconds: late, worked: min(late, processorSeconds() - processor))
        }
    }

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
        let address = client.address
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
        places.give(client.address, isWeb: isWeb)
    }

    func countRequest() { counted.requests += 1 }
    func count(sent bytes: Int) { counted.sentBytes += bytes }

    /// Somebody has waited for a turn or an answer.
    func note(_ wait: Wait) {
        let now = monotonicSeconds()
        waits.add(wait.seconds, at: now)
        worked.add(wait.worked, at: now)
    }

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
        workers.run(for: address, isLong: true) { _, _ in
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
        counts.longestWork = worked.maximum(at: monotonicSeconds())
        counts.dataLink = forwarded.map { ($0.isConnected, $0.records) }
        return WebServices(
            settings, shared, server: counts, now: Moment(monotonic: monotonicSeconds(), utc: realNanoseconds()))
    }

    // MARK: Turns

    /// Puts a client among those who wait for a turn.
    func enqueue(_ client: any Client) {
        queue.append((client, Instant()), of: client.address)
        guard !isWorking else { return }
        isWorking = true
        loop.execute { self.workOff() }
    }

    /// Gives turns until the slice is over; the rest have theirs after what has come from the network in between.
    private func workOff() {
        let start = monotonicSeconds()
        while monotonicSeconds() - start < Self.slice, let ((client, asked), address) = queue.next() {
            note(asked.wait())
            let before = processorSeconds()
            client.work()
            queue.end(of: address, seconds: processorSeconds() - before)
        }
        isWorking = !queue.isEmpty
        // (A task that is executed at once would run before anything is read from the network.)
        if isWorking { loop.scheduleTask(in: .microseconds(200)) { self.workOff() } }
    }

    /// Looks how late the loop is: so long does what comes from the network wait.
    private func look() {
        let asked = Instant()
        loop.scheduleTask(in: .nanoseconds(Int64(Self.beat * 1e9))) {
            self.note(asked.wait(expecting: Self.beat))
            self.look()
        }
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
            self.look()
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
            .childChannelOption(.maxMessagesPerRead, value: 1)
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
