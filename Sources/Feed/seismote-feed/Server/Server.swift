import Feed
import Messages
import NIOCore
import NIOHTTP1
import NIOPosix

/// Somebody who is connected.
protocol Client: AnyObject {
    var client: FeedClient { get }
    func wake()
    /// - Parameter idle: seconds after which it is cut when nothing moves.
    func tick(_ now: Double, idle: Double)
}

/// Listens, and keeps the books of who is connected. Everything runs on its one thread.
final class Server: @unchecked Sendable {
    let settings: FeedSettings
    let board: Board
    let ring: Ring
    let identity: SeedLinkSession.Identity
    let fetches: Fetches
    let loop: any EventLoop
    private let started = realNanoseconds()
    private var clients: [ObjectIdentifier: any Client] = [:]
    private var perAddress: [String: Int] = [:]
    /// Counted since the start.
    private(set) var refused = 0
    private(set) var cut = 0
    private(set) var requests = 0
    /// The other server that is given all records.
    var dataLink: DataLinkClient?
    /// How far that one has been given them.
    var forwarded: Forwarded?
    var sentBytes = 0
    private var nextNote = 0.0
    private var cached: BoardArchive?
    private var isWaking = false

    init(_ settings: FeedSettings, board: Board, ring: Ring, fetches: Fetches, loop: any EventLoop) {
        (self.settings, self.board, self.ring) = (settings, board, ring)
        (self.fetches, self.loop) = (fetches, loop)
        identity = SeedLinkSession.Identity(
            software: "Seismote \(productVersion)", organisation: settings.organisation)
    }

    var clientCount: Int { clients.count }

    /// As it is now. (One for all that is done in a turn of the loop.)
    func archive() -> BoardArchive {
        if let cached { return cached }
        let archive = BoardArchive(board: board, ring: ring, started: started, clients: clients.values.map(\.client))
        cached = archive
        loop.execute { self.cached = nil }
        return archive
    }

    func add(_ client: any Client) -> Bool {
        let address = client.client.address
        guard clients.count < settings.clients, perAddress[address, default: 0] < settings.clientsPerAddress else {
            refused += 1
            note(cut: address, "too many connections")
            return false
        }
        clients[ObjectIdentifier(client)] = client
        perAddress[address, default: 0] += 1
        return true
    }

    func remove(_ client: any Client) {
        guard clients.removeValue(forKey: ObjectIdentifier(client)) != nil else { return }
        let address = client.client.address
        perAddress[address, default: 1] -= 1
        if perAddress[address] == 0 { perAddress[address] = nil }
    }

    func countRequest() { requests += 1 }

    /// Says why somebody was cut, at most once a second.
    func note(cut address: String, _ reason: String) {
        cut += 1
        guard monotonicSeconds() >= nextNote else { return }
        nextNote = monotonicSeconds() + 1
        printError("\(address) was cut: \(reason)")
    }

    /// There are new packets. Any thread may say it.
    func notify() {
        loop.execute {
            self.cached = nil
            for client in self.clients.values { client.wake() }
            self.dataLink?.wake()
        }
    }

    /// - Throws: an address that cannot be listened on.
    func start() throws {
        loop.execute {
            self.loop.scheduleRepeatedTask(initialDelay: .seconds(1), delay: .seconds(1)) { _ in
                let now = monotonicSeconds()
                for client in self.clients.values { client.tick(now, idle: self.settings.idleSeconds) }
                self.dataLink?.tick(now)
            }
        }
        if settings.seedLinkPort > 0 {
            try listen(settings.seedLinkPort, "SeedLink") { channel, address in
                try channel.pipeline.syncOperations.addHandler(SeedLinkHandler(self, address: address))
            }
        }
        if settings.webPort > 0 {
            try listen(settings.webPort, "web services") { channel, address in
                try channel.pipeline.syncOperations.configureHTTPServerPipeline(withErrorHandling: true)
                try channel.pipeline.syncOperations.addHandler(WebHandler(self, address: address))
            }
        }
    }

    private func listen(
        _ port: Int, _ name: String, _ initialise: @escaping @Sendable (any Channel, String) throws -> Void
    ) throws {
        let bootstrap = ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.so_keepalive), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 128 << 10))
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try initialise(channel, channel.remoteAddress?.ipAddress ?? "?")
                }
            }
        let channel = try bootstrap.bind(host: settings.listen, port: port).wait()
        printError("\(name) on \(channel.localAddress?.description ?? "port \(port)")")
    }
}
