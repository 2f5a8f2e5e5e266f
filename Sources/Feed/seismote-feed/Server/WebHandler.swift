import Feed
import NIOCore
import NIOHTTP1
import Platform

/// A client of the web services.
final class WebHandler: ChannelInboundHandler, Client {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let mostBody = 256 << 10

    private let server: Server
    private let isEncrypted: Bool
    let client: FeedClient
    private let peer: String
    private var context: ChannelHandlerContext?
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var alive = monotonicSeconds()
    /// A request is being answered, by a worker or by a station that is asked.
    private var isWaiting = false
    /// Wait for the beginning of an answer.
    private var waited = Wait()

    init(_ server: Server, _ address: SocketAddress?, isEncrypted: Bool) {
        (self.server, self.isEncrypted) = (server, isEncrypted)
        peer = address?.ipAddress ?? "?"
        client = FeedClient(address: peer, port: address?.port ?? 0, since: realNanoseconds(), program: "HTTP")
    }

    var address: String { peer }
    let isStreaming = false

    func channelActive(context: ChannelHandlerContext) {
        self.context = context
        if !server.add(self, isWeb: true) { context.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        server.remove(self, isWeb: true)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    func enqueue() {}

    func work() {}

    func tick(_ now: Double, idle: Double, stream: Double) {
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
                server.note(cut: peer, "a request of more than \(Self.mostBody) bytes")
                context.close(promise: nil)
                return
            }
            body += part.readableBytesView
        case .end:
            guard let head else { return }
            self.head = nil
            (isWaiting, waited) = (true, Wait())
            server.countRequest()
            admit(head, context)
        }
    }

    // MARK: Who asks

    private func admit(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let forwarded = head.headers["x-forwarded-for"].joined(separator: ",")
        let address = server.access.realAddress(peer: peer, forwarded: forwarded)
        let body = body
        switch server.access.web(
            address, peer: peer, isEncrypted: isEncrypted, authorization: head.headers["authorization"].first)
        {
        case .open: answer(head, body, address, context)
        case .refused(let status, let words): write(WebAnswer(status, words), to: head, address, context)
        case .check(let user, let password):
            server.checkLogin(user, password, from: address) { [weak self] isGood in
                guard let self, let context = self.context else { return }
                isGood
                    ? self.answer(head, body, address, context)
                    : self.write(
                        WebAnswer(401, "this account is not known, or the password is another\n"), to: head, address,
                        context)
            }
        }
    }

    // MARK: Answers

    private func answer(
        _ head: HTTPRequestHead, _ body: [UInt8], _ address: String, _ context: ChannelHandlerContext
    ) {
        let method: WebRequest.Method =
            head.method == .GET ? .get : head.method == .HEAD ? .head : head.method == .POST ? .post : .other
        let request = WebRequest(
            method, head.uri, body: body, accept: head.headers["accept"].joined(separator: ","),
            host: head.headers["host"].first ?? "")
        let services = server.services()
        work(for: address) { _ in
            services.read(request)
        } then: { found in
            switch found {
            case .answered(let answer):
                if let context = self.context { self.write(answer, to: head, address, context) }
            case .query(let question): self.answer(question, to: head, address, services)
            }
        }
    }

    private func answer(
        _ question: FDSNQuestion, to head: HTTPRequestHead, _ address: String, _ services: WebServices
    ) {
        func finish(_ services: WebServices) {
            work(for: address, isLong: services.isLong(question)) { ring in
                services.answer(question, ring)
            } then: { answer in
                self.begin(answer, to: head, address)
            }
        }
        guard services.mayLack(question) else { return finish(services) }
        work(for: address, isLong: true) { ring in
            services.lacking(question, ring)
        } then: { (wanted: [(station: String, from: Int64, to: Int64)]) in
            wanted.isEmpty ? finish(services) : self.fetch(wanted) { finish(self.server.services()) }
        }
    }

    /// Has a worker do something, and goes on here.
    private func work<T: Sendable>(
        for address: String, isLong: Bool = false, _ body: @escaping @Sendable (Ring) -> T,
        then next: @escaping (T) -> Void
    ) {
        let loop = server.loop
        let handover = NIOLoopBound((self, next), eventLoop: loop)
        server.workers.run(for: address, isLong: isLong) { ring, wait in
            let result = body(ring)
            loop.execute {
                let (handler, next) = handover.value
                handler.waited += wait
                next(result)
            }
        }
    }

    /// Asks stations for what is wanted of them, and goes on when they have answered, or have not.
    private func fetch(_ wanted: [(station: String, from: Int64, to: Int64)], _ next: @escaping () -> Void) {
        let loop = server.loop
        let ticket = FetchTicket(wishes: wanted.count, seconds: server.settings.fetchSeconds, loop: loop, body: next)
        server.wishes.ask(
            wanted.map { one in
                .init(station: one.station, from: one.from, to: one.to) { loop.execute { ticket.settle() } }
            })
    }

    /// Writes an answer once it is known whether it has a body.
    private func begin(_ answer: WebAnswer, to head: HTTPRequestHead, _ address: String) {
        guard let context else { return }
        guard answer.body.isEmpty, let more = answer.more else { return write(answer, to: head, address, context) }
        work(for: address) { ring in
            var more = more
            return (more.next(ring), more)
        } then: { (made: ([UInt8]?, any WebPieces)) in
            var answer = answer
            // (Where there is nothing yet, it is not known yet whether there will be.)
            if let body = made.0 { (answer.body, answer.more) = (body, made.1.isOver && !body.isEmpty ? nil : made.1) }
            self.begin(made.0 == nil ? WebAnswer(answer.nothing, "") : answer, to: head, address)
        }
    }

    private func write(
        _ answer: WebAnswer, to head: HTTPRequestHead, _ address: String, _ context: ChannelHandlerContext
    ) {
        noteWait()
        let status = HTTPResponseStatus(statusCode: answer.status)
        var headers = HTTPHeaders()
        if status != .noContent { headers.add(name: "Content-Type", value: answer.contentType) }
        headers.add(name: "Server", value: "Seismote")
        if status == .unauthorized { headers.add(name: "WWW-Authenticate", value: "Basic realm=\"FDSN\"") }
        let isWhole = answer.more == nil
        if isWhole, status != .noContent { headers.add(name: "Content-Length", value: "\(answer.body.count)") }
        let isKept = head.isKeepAlive && isWhole
        if !isKept { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: status, headers: headers))),
            promise: nil)
        if head.method == .HEAD { return finish(context, isKept) }
        send(answer.body, answer.more, address, isKept)
    }

    private func noteWait() {
        server.note(waited)
        waited = Wait()
    }

    /// Writes a piece; the next one is made when this one has gone out.
    private func send(_ piece: [UInt8], _ more: (any WebPieces)?, _ address: String, _ isKept: Bool) {
        guard let context else { return }
        guard !piece.isEmpty else { return make(more, address, isKept) }
        server.count(sent: piece.count)
        let buffer = context.channel.allocator.buffer(bytes: piece)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(buffer)))).assumeIsolated().whenComplete { result in
            guard case .success = result else { return }
            self.alive = monotonicSeconds()
            self.make(more, address, isKept)
        }
    }

    private func make(_ more: (any WebPieces)?, _ address: String, _ isKept: Bool) {
        guard let context else { return }
        guard let more else { return finish(context, isKept) }
        // (It goes on: those whose answer has not begun go before.)
        work(for: address, isLong: true) { ring in
            var more = more
            return (more.next(ring), more)
        } then: { (made: ([UInt8]?, any WebPieces)) in
            self.noteWait()
            self.send(made.0 ?? [], made.0 == nil ? nil : made.1, address, isKept)
        }
    }

    private func finish(_ context: ChannelHandlerContext, _ isKept: Bool) {
        alive = monotonicSeconds()
        isWaiting = false
        let done = context.writeAndFlush(wrapOutboundOut(.end(nil)))
        if !isKept { done.assumeIsolated().whenComplete { _ in context.close(promise: nil) } }
    }
}

/// Waits until all of a request's wishes are settled, or the time for it is over. Of the server's thread alone.
final class FetchTicket: @unchecked Sendable {
    private var open: Int
    private var body: (() -> Void)?

    /// - Parameter body: what follows, once.
    init(wishes: Int, seconds: Double, loop: any EventLoop, body: @escaping () -> Void) {
        (open, self.body) = (wishes, body)
        loop.assumeIsolated().scheduleTask(in: .milliseconds(Int64(seconds * 1000))) { self.finish() }
    }

    func settle() {
        open -= 1
        if open <= 0 { finish() }
    }

    private func finish() {
        let body = body
        self.body = nil
        body?()
    }
}
