import Feed
import NIOCore
import Platform

/// A client of SeedLink: what it sends goes to its session, what the session has for it is written as fast as it reads.
final class SeedLinkHandler: ChannelInboundHandler, Client {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: Server
    private let isEncrypted: Bool
    private let peer: String
    private var session: SeedLinkSession?
    private var context: ChannelHandlerContext?
    private var about: FeedClient
    /// Bytes of a trusted proxy before its line has named the client.
    private var greeting: [UInt8]?
    /// Monotonic seconds of the last sign that it is alive: it has sent something, or taken something.
    private var alive = monotonicSeconds()
    private var isQueued = false
    private var isClosing = false
    private var isReading = true

    /// Bytes that have come and wait for turns, from which on no more are read.
    private static let mostWaiting = 16 << 10

    init(_ server: Server, _ address: SocketAddress?, isEncrypted: Bool) {
        (self.server, self.isEncrypted) = (server, isEncrypted)
        peer = address?.ipAddress ?? "?"
        about = FeedClient(address: peer, port: address?.port ?? 0, since: realNanoseconds())
        if server.access.isProxy(peer) { greeting = [] }
    }

    var address: String { about.address }

    var client: FeedClient {
        var client = about
        client.program = session?.program ?? ""
        client.packets = session?.packets ?? 0
        client.positions = session?.positions ?? []
        return client
    }

    var isStreaming: Bool { session?.isStreaming ?? false }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        // (Whose place it takes is known when a proxy has said it.)
        if greeting == nil { begin(context) }
    }

    /// Takes a place, and begins the conversation.
    private func begin(_ context: ChannelHandlerContext) {
        guard server.add(self, isWeb: false) else { return context.close(promise: nil) }
        session = SeedLinkSession(
            identity: server.identity,
            access: server.access.seedLink(address, peer: peer, isEncrypted: isEncrypted))
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        server.remove(self, isWeb: false)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        alive = monotonicSeconds()
        var bytes = Array(unwrapInboundIn(data).readableBytesView)
        if let waiting = greeting {
            bytes = waiting + bytes
            switch RealAddress.proxyLine(bytes) {
            case .partial: return greeting = bytes
            case .none: break
            case .line(let length, let address):
                bytes.removeFirst(length)
                if let address { about.address = address }
            }
            greeting = nil
            begin(context)
        }
        guard session != nil else { return }
        session?.take(bytes)
        send(context)
        setReading(context)
        enqueue()
    }

    /// Stops reading from a client that does not read, or whose commands have to wait.
    private func setReading(_ context: ChannelHandlerContext) {
        let reads = context.channel.isWritable && session?.waitingBytes ?? 0 < Self.mostWaiting
        guard reads != isReading else { return }
        isReading = reads
        context.channel.setOption(.autoRead, value: reads).whenFailure { _ in }
    }

    private func checkLogin(_ context: ChannelHandlerContext) {
        guard let login = session?.login else { return }
        server.checkLogin(login.user, login.password, from: address) { [weak self] isGood in
            guard let self, let context = self.context else { return }
            self.session?.decide(isGood)
            self.send(context)
            self.setReading(context)
            self.enqueue()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        setReading(context)
        if context.channel.isWritable {
            alive = monotonicSeconds()
            enqueue()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func enqueue() {
        guard !isQueued, isStreaming || session?.hasCommands == true else { return }
        isQueued = true
        server.enqueue(self)
    }

    func work() {
        isQueued = false
        guard let context, context.channel.isWritable, session != nil else { return }
        let isMore: Bool
        if session?.hasCommands == true {
            session?.obey(server.archive())
            checkLogin(context)
            // (What it has said may have begun a stream.)
            isMore = true
        } else {
            isMore = session?.pump(server.archive()) ?? false
        }
        send(context)
        setReading(context)
        if isMore { enqueue() }
    }

    func tick(_ now: Double, idle: Double, stream: Double) {
        guard let context else { return }
        // Who waits for an answer of ours is not idle: a busy machine may check passwords for longer than that.
        if context.channel.isWritable, session?.login != nil || session?.hasCommands == true { alive = now }
        let limit = context.channel.isWritable && isStreaming ? stream : idle
        guard now - alive > limit else { return }
        if !context.channel.isWritable {
            server.note(cut: address, "nothing that was sent has been read for \(Int(limit)) s")
        } else if isStreaming {
            server.note(cut: address, "a stream that took nothing for \(Int(limit)) s")
        }
        context.close(promise: nil)
    }

    /// Writes what the session has.
    private func send(_ context: ChannelHandlerContext) {
        guard !isClosing, session != nil else { return }
        let bytes = session?.takeOutput() ?? []
        if !bytes.isEmpty {
            alive = monotonicSeconds()
            server.count(sent: bytes.count)
        }
        guard session?.isEnded == true else {
            if !bytes.isEmpty {
                context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
            }
            return
        }
        isClosing = true
        if let complaint = session?.complaint { server.note(cut: address, complaint) }
        let done = context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)))
        done.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
}
