/// Request by HTTP.
public struct WebRequest: Sendable {
    public enum Method: Sendable { case get, head, post, other }

    public var method: Method
    /// Path and query as they were sent.
    public var uri: String
    public var body: [UInt8]
    public var accept: String
    public var host: String

    public init(_ method: Method, _ uri: String, body: [UInt8] = [], accept: String = "", host: String = "") {
        (self.method, self.uri, self.body, self.accept, self.host) = (method, uri, body, accept, host)
    }

    var path: String { String(uri.prefix { $0 != "?" }) }

    /// - Throws: what is wrong with it.
    func query(for service: Service) throws(FDSNQuery.Problem) -> FDSNQuery {
        method == .post
            ? try FDSNQuery(body: String(decoding: body, as: UTF8.self), allowed: service.parameters)
            : try FDSNQuery(query: uri.dropFirst(path.count + 1), allowed: service.parameters)
    }
}

/// An answer of the web services: a head, and pieces of a body that are made when the ones before have been taken.
public struct WebAnswer: Sendable {
    /// Status of HTTP.
    public var status: Int
    public var contentType = "text/plain; charset=utf-8"
    public var body: [UInt8] = []
    /// Makes the next piece, and what makes the one after it; nil: this is all.
    public var more: (any WebPieces)?
    /// Status of the answer where all pieces have nothing.
    public let nothing: Int

    public init(_ status: Int, _ text: String, _ contentType: String = "text/plain; charset=utf-8") {
        (self.status, self.contentType, body, nothing) = (status, contentType, Array(text.utf8), status)
    }

    /// - Parameter nothing: the status where there turns out to be no body.
    init(_ contentType: String, _ body: [UInt8], more: any WebPieces, nothing: Int) {
        (status, self.contentType, self.body, self.more) = (200, contentType, body, more)
        self.nothing = nothing
    }
}

/// The rest of a body.
public protocol WebPieces: Sendable {
    /// There are no more pieces.
    var isOver: Bool { get }
    /// - Parameter ring: a connection of the thread that calls.
    /// - Returns: nil at the end; nothing where others shall have their turn first.
    mutating func next(_ ring: Ring) -> [UInt8]?
}

/// A request that has been read, once.
public enum WebQuestion: Sendable {
    /// It could be answered at once.
    case answered(WebAnswer)
    case query(FDSNQuestion)
}

/// A query to one of the three services.
public struct FDSNQuestion: Sendable {
    let service: Service
    let query: FDSNQuery
    let path: String
}
