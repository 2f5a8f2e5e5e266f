import Feed
import NIOCore
import NIOPosix
import Platform

/// Gives a ringserver all records, by DataLink. It connects again after 1 to 60 s, and goes on behind what was
/// acknowledged. Everything runs on the server's thread.
final class DataLinkClient: @unchecked Sendable {
    private let server: Server
    private let host: String
    private let port: Int
    private let forwarded: Forwarded
    fileprivate var pause = 1.0
    private var connectsAt = 0.0
    private var isConnecting = false
    fileprivate var handler: DataLinkHandler?
    private var said = ""

    init(_ server: Server, host: String, port: Int, forwarded: Forwarded) {
        (self.server, self.host, self.port, self.forwarded) = (server, host, port, forwarded)
    }

    /// There are new records.
    func wake() { handler?.wake() }

    /// Once a second.
    func tick(_ now: Double) {
        if let handler { return handler.tick(now) }
        guard !isConnecting, now >= connectsAt else { return }
        isConnecting = true
        ClientBootstrap(group: server.loop)
            .connectTimeout(.seconds(10))
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DataLinkHandler(self.server, self, self.forwarded))
                }
            }
            .connect(host: host, port: port)
            .whenFailure { error in self.ended("\(error)") }
    }

    fileprivate func connected(_ handler: DataLinkHandler) { (self.handler, isConnecting) = (handler, false) }

    /// The server lets us write.
    fileprivate func works(with words: String) {
        forwarded.set(connected: true)
        say("gives its records to \(host):\(port) (\(words.prefix(100)))")
    }

    fileprivate func ended(_ reason: String) {
        (handler, isConnecting) = (nil, false)
        forwarded.set(connected: false)
        connectsAt = monotonicSeconds() + pause
        say("no DataLink connection to \(host):\(port): \(reason); it is tried again")
        pause = min(60, pause * 2)
    }

    private func say(_ words: String) {
        if words != said { printError(words) }
        said = words
    }
}

private final class DataLinkHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let patience = 30.0

    private let server: Server
    private let client: DataLinkClient
    private let forwarded: Forwarded
    private var writer: DataLinkWriter
    private var context: ChannelHandlerContext?
    private var isGreeted = false
    private var counted = 0
    /// Monotonic seconds of the last sign of the server.
    private var alive = monotonicSeconds()
    private var reason = "the server has closed it"

    init(_ server: Server, _ client: DataLinkClient, _ forwarded: Forwarded) {
        (self.server, self.client, self.forwarded) = (server, client, forwarded)
        writer = DataLinkWriter(program: "seismote-feed:seismote:0:linux", given: forwarded.given)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        client.connected(self)
        send(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        client.ended(reason)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        alive = monotonicSeconds()
        writer.receive(unwrapInboundIn(data).readableBytesView)
        if !isGreeted, let server = writer.server {
            isGreeted = true
            client.works(with: server)
        }
        if writer.records > counted {
            client.pause = 1
            forwarded.set(writer.given, records: writer.records - counted)
            counted = writer.records
        }
        send(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        reason = "\(error)"
        context.close(promise: nil)
    }

    func wake() { if let context { send(context) } }

    func tick(_ now: Double) {
        guard let context, now - alive > Self.patience, writer.waits > 0 || writer.server == nil else { return }
        reason = "it has not answered for \(Int(Self.patience)) s"
        context.close(promise: nil)
    }

    private func send(_ context: ChannelHandlerContext) {
        if let complaint = writer.complaint {
            reason = complaint
            return context.close(promise: nil)
        }
        if writer.waits == 0 { alive = monotonicSeconds() }
        writer.pump(server.archive())
        let bytes = writer.takeOutput()
        guard !bytes.isEmpty else { return }
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }
}
