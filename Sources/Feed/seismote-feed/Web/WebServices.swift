import Feed
import NIOHTTP1

/// What somebody asks by HTTP.
struct WebRequest {
    var method: HTTPMethod
    var uri: String
    var body: [UInt8]
    var accept: String
    var host: String

    var path: String { String(uri.prefix { $0 != "?" }) }

    /// - Throws: what is wrong with it.
    func query(for service: Service) throws(FDSNQuery.Problem) -> FDSNQuery {
        method == .POST
            ? try FDSNQuery(body: String(decoding: body, as: UTF8.self), allowed: service.parameters)
            : try FDSNQuery(query: uri.dropFirst(path.count + 1), allowed: service.parameters)
    }
}

/// A request that has been read, once.
enum WebQuestion {
    /// It could be answered at once.
    case answered(WebAnswer)
    case query(Service, FDSNQuery, path: String)
}

/// FDSN web services (fdsnws 1.2) and `/metrics`.
struct WebServices {
    let server: Server

    init(_ server: Server) { self.server = server }

    func read(_ request: WebRequest) -> WebQuestion {
        guard let (service, what) = Service.asked(request.path), what == "query", Self.isKnown(request.method) else {
            return .answered(other(request))
        }
        do throws(FDSNQuery.Problem) {
            return .query(service, try request.query(for: service), path: request.path)
        } catch {
            return .answered(Self.refusal(error, request.path))
        }
    }

    func answer(_ question: WebQuestion) -> WebAnswer {
        switch question {
        case .answered(let answer): return answer
        case .query(let service, let query, let path):
            do throws(FDSNQuery.Problem) {
                return try answer(service, query)
            } catch {
                return Self.refusal(error, path)
            }
        }
    }

    private static func isKnown(_ method: HTTPMethod) -> Bool { [.GET, .HEAD, .POST].contains(method) }

    private static func refusal(_ problem: FDSNQuery.Problem, _ path: String) -> WebAnswer {
        WebAnswer(.badRequest, "Error 400: Bad Request\n\n\(problem.words)\n\nRequest: \(path)\n")
    }

    /// Everything but queries.
    private func other(_ request: WebRequest) -> WebAnswer {
        guard Self.isKnown(request.method) else { return WebAnswer(.methodNotAllowed, "GET or POST\n") }
        let path = request.path
        if path == "/metrics" {
            var metrics = MetricsText(openMetrics: request.accept.contains("application/openmetrics-text"))
            Metrics(server).write(&metrics)
            return WebAnswer(.ok, metrics.finished(), metrics.contentType)
        }
        guard let (service, what) = Service.asked(path) else {
            return path == "/"
                ? WebAnswer(.ok, "Seismote: /fdsnws/station/1, /fdsnws/event/1, /fdsnws/dataselect/1, /metrics\n")
                : WebAnswer(.notFound, "there is nothing here\n")
        }
        switch what {
        case "version": return WebAnswer(.ok, "1.2.0\n")
        case "application.wadl": return WebAnswer(.ok, service.description(host: request.host), "application/xml")
        case "catalogs" where service == .event: return WebAnswer(.ok, "<Catalogs></Catalogs>\n", "application/xml")
        case "contributors" where service == .event:
            return WebAnswer(.ok, "<Contributors></Contributors>\n", "application/xml")
        default: return WebAnswer(.notFound, "there is nothing here\n")
        }
    }

    private func answer(_ service: Service, _ query: FDSNQuery) throws(FDSNQuery.Problem) -> WebAnswer {
        let nothing = WebAnswer(query.other["nodata"] == "404" ? .notFound : .noContent, "")
        switch service {
        case .dataselect:
            if let format = query.other["format"], !["miniseed", "mseed"].contains(format.lowercased()) {
                throw .init(words: "format is miniseed")
            }
            return records(query) ?? nothing
        case .station: return try stations(query) ?? nothing
        case .event: return try events(query) ?? nothing
        }
    }
}
