import Feed
import NIOCore

/// A client of SeedLink: what it sends goes to its session, what the session has for it is written as fast as it reads.
final class SeedLinkHandler: ChannelInboundHandler, Client {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: Server
    private var session: SeedLinkSession
    private var context: ChannelHandlerContext?
    private(set) var client: FeedClient
    /// Monotonic seconds of the last sign that it is alive: it has sent something, or taken something.
    private var alive = monotonicSeconds()
    private var closesAfterWriting = false

    init(_ server: Server, address: String) {
        self.server = server
        client = FeedClient(address: address, since: realNanoseconds())
        session = SeedLinkSession(identity: server.identity)
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        if !server.add(self) { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        server.remove(self)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        alive = monotonicSeconds()
        let buffer = unwrapInboundIn(data)
        session.receive(buffer.readableBytesView, server.archive())
        client.program = session.program
        send(context)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        // Who does not read is not read from either.
        context.channel.setOption(.autoRead, value: context.channel.isWritable).whenFailure { _ in }
        if context.channel.isWritable {
            alive = monotonicSeconds()
            send(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    /// There are new packets.
    func wake() { if let context, session.isStreaming { send(context) } }

    func tick(_ now: Double, idle: Double) {
        guard let context else { return }
        let isStuck = !context.channel.isWritable || !session.isStreaming
        if isStuck, now - alive > idle { context.close(promise: nil) }
    }

    private func send(_ context: ChannelHandlerContext) {
        guard !closesAfterWriting else { return }
        while context.channel.isWritable {
            let isMore = session.isStreaming && session.pump(server.archive())
            let bytes = session.takeOutput()
            if bytes.isEmpty { break }
            write(bytes, context)
            if !isMore { break }
        }
        client.packets = session.packets
        guard session.isEnded else { return }
        closesAfterWriting = true
        if let complaint = session.complaint { server.note(cut: client.address, complaint) }
        let rest = session.takeOutput()
        let done = context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: rest)))
        done.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        server.sentBytes += bytes.count
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }
}
