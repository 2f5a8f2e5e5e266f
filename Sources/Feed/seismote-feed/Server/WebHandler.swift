import Feed
import NIOCore
import NIOHTTP1

/// An answer of the web services: a head, and pieces of a body that are made when the ones before have been taken.
struct WebAnswer {
    var status: HTTPResponseStatus
    var contentType = "text/plain; charset=utf-8"
    var body: [UInt8] = []
    /// Makes the next piece; nil at the end.
    var more: (() -> [UInt8]?)?

    init(_ status: HTTPResponseStatus, _ text: String, _ contentType: String = "text/plain; charset=utf-8") {
        (self.status, self.contentType, body) = (status, contentType, Array(text.utf8))
    }

    init(_ contentType: String, _ body: [UInt8], more: @escaping () -> [UInt8]?) {
        (status, self.contentType, self.body, self.more) = (.ok, contentType, body, more)
    }
}

/// A client of the web services.
final class WebHandler: ChannelInboundHandler, Client {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let mostBody = 256 << 10

    private let server: Server
    private(set) var client: FeedClient
    private var context: ChannelHandlerContext?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var alive = monotonicSeconds()
    /// For what a station is asked.
    private var isWaiting = false

    init(_ server: Server, address: String) {
        self.server = server
        client = FeedClient(address: address, since: realNanoseconds(), program: "HTTP")
    }

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        if !server.add(self) { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        server.remove(self)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func wake() {}

    func tick(_ now: Double, idle: Double) {
        if isWaiting { alive = now }
        if let context, now - alive > idle { context.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            alive = monotonicSeconds()
            (self.head, body) = (head, [])
        case .body(let part):
            guard body.count + part.readableBytes <= Self.mostBody else {
                server.note(cut: client.address, "a request of more than \(Self.mostBody) bytes")
                context.close(promise: nil)
                return
            }
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            server.countRequest()
            let request = WebRequest(
                method: head.method, uri: head.uri, body: body, accept: head.headers["accept"].joined(separator: ","),
                host: head.headers["host"].first ?? "")
            let question = WebServices(server).read(request)
            fetch(WebServices(server).lacking(question)) { [weak self] in
                guard let self, let context = self.context else { return }
                self.isWaiting = false
                self.answer(WebServices(self.server).answer(question), to: head, context)
            }
        }
    }

    /// Asks stations for what is wanted of them, and goes on when they have answered, or have not.
    private func fetch(_ wanted: [(station: String, from: Int64, to: Int64)], _ next: @escaping () -> Void) {
        guard !wanted.isEmpty else { return next() }
        isWaiting = true
        let ticket = FetchTicket(
            wishes: wanted.count, seconds: server.settings.fetchSeconds, loop: server.loop, body: next)
        server.fetches.ask(
            wanted.map { Fetches.Wish(station: $0.station, from: $0.from, to: $0.to, ticket: ticket) })
    }

    private func answer(_ answer: WebAnswer, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        if answer.status != .noContent { headers.add(name: "Content-Type", value: answer.contentType) }
        headers.add(name: "Server", value: "Seismote")
        let isWhole = answer.more == nil
        if isWhole, answer.status != .noContent { headers.add(name: "Content-Length", value: "\(answer.body.count)") }
        let isKept = head.isKeepAlive && isWhole
        if !isKept { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: answer.status, headers: headers))),
            promise: nil)
        if head.method == .HEAD { return finish(context, isKept) }
        send(answer.body, answer.more, context, isKept)
    }

    /// Writes a piece; the next one is made when this one has gone out.
    private func send(
        _ piece: [UInt8], _ more: (() -> [UInt8]?)?, _ context: ChannelHandlerContext, _ isKept: Bool
    ) {
        guard !piece.isEmpty else { return next(more, context, isKept) }
        server.sentBytes += piece.count
        let buffer = context.channel.allocator.buffer(bytes: piece)
        let loop = context.eventLoop.assumeIsolated()
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer)))).assumeIsolated().whenComplete { result in
            guard case .success = result, self.context != nil else { return }
            self.alive = monotonicSeconds()
            // Others have their turn between two pieces.
            loop.execute { if self.context != nil { self.next(more, context, isKept) } }
        }
    }

    private func next(_ more: (() -> [UInt8]?)?, _ context: ChannelHandlerContext, _ isKept: Bool) {
        if let more, let piece = more() { return send(piece, more, context, isKept) }
        finish(context, isKept)
    }

    private func finish(_ context: ChannelHandlerContext, _ isKept: Bool) {
        alive = monotonicSeconds()
        let done = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !isKept { done.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
    }
}
