import Exchange
import Messages
import MiniSEED
import Settings
import Values

/// FDSN web services (fdsnws 1.2) and `/metrics`, as they are at one moment. It is made for a request, on any thread.
public struct WebServices: Sendable {
    private static let plain = "text/plain; charset=utf-8"
    /// Limits from which work takes some milliseconds: stations in a document, or in a text, events that are looked at,
    /// lines of a query times stations.
    private static let (manyStations, manyLines, manyEvents, manyMatches) = (20, 500, 20_000, 5000)
    private static let (mostEvents, usualEvents) = (10_000, 1000)
    /// Nanoseconds of samples that a station is asked for at most because of a request: three hours.
    private static let mostFetched: Int64 = 10_800_000_000_000
    /// Rows of the ring that are looked at to find out what is missing: a few ten milliseconds.
    private static let mostRows = 16_384

    private let settings: FeedSettings
    private let contents: SharedState.Contents
    private let server: ServerCounts
    private let now: Moment

    /// - Parameter server: what the server has counted.
    public init(_ settings: FeedSettings, _ shared: SharedState, server: ServerCounts, now: Moment) {
        (self.settings, self.server, self.now) = (settings, server, now)
        contents = shared.read { copy $0 }
    }

    // MARK: Requests

    public func read(_ request: WebRequest) -> WebQuestion {
        guard request.method != .other else { return .answered(WebAnswer(405, "GET or POST\n")) }
        guard let (service, what) = Service.asked(request.path), what == "query" else {
            return .answered(other(request))
        }
        do throws(FDSNQuery.Problem) {
            let query = try request.query(for: service)
            try service.check(query)
            return .query(FDSNQuestion(service: service, query: query, path: request.path))
        } catch {
            return .answered(Self.refusal(error, request.path))
        }
    }

    /// Whether ``answer(_:_:)`` may take longer than some milliseconds.
    public func isLong(_ question: FDSNQuestion) -> Bool {
        let stations = contents.stations.count
        return switch question.service {
        case .station:
            stations > (question.query.other["format"]?.lowercased() == "text" ? Self.manyLines : Self.manyStations)
        case .event: contents.events.count > Self.manyEvents
        case .dataselect: stations * question.query.lines.count > Self.manyMatches
        }
    }

    /// Whether ``lacking(_:_:)`` has to be asked.
    public func mayLack(_ question: FDSNQuestion) -> Bool {
        settings.fetchSeconds > 0 && question.service == .dataselect
            && question.query.lines.contains { $0.begin != nil }
            && contents.states.values.contains { $0.isOnline == true }
    }

    /// - Parameter ring: a connection of the thread that calls.
    public func answer(_ question: FDSNQuestion, _ ring: Ring) -> WebAnswer {
        let query = question.query
        do throws(FDSNQuery.Problem) {
            let answer: WebAnswer?
            switch question.service {
            case .dataselect: answer = try records(query, ring)
            case .station: answer = try stations(query)
            case .event: answer = try events(query, ring)
            }
            return answer ?? WebAnswer(Self.nodata(query), "")
        } catch {
            return Self.refusal(error, question.path)
        }
    }

    private static func nodata(_ query: FDSNQuery) -> Int { query.other["nodata"] == "404" ? 404 : 204 }

    private static func refusal(_ problem: FDSNQuery.Problem, _ path: String) -> WebAnswer {
        WebAnswer(400, "Error 400: Bad Request\n\n\(problem.words)\n\nRequest: \(path)\n")
    }

    /// Answers requests that are no queries.
    private func other(_ request: WebRequest) -> WebAnswer {
        let path = request.path
        if path == "/metrics" {
            var metrics = MetricsText(openMetrics: request.accept.contains("application/openmetrics-text"))
            FeedMetrics(settings, contents, server, now: now.monotonic).write(&metrics)
            return WebAnswer(200, metrics.finished(), metrics.contentType)
        }
        guard let (service, what) = Service.asked(path) else {
            return path == "/"
                ? WebAnswer(200, "Seismote: /fdsnws/station/1, /fdsnws/event/1, /fdsnws/dataselect/1, /metrics\n")
                : WebAnswer(404, "there is nothing here\n")
        }
        switch what {
        case "version": return WebAnswer(200, "1.2.0\n")
        case "application.wadl": return WebAnswer(200, service.description(host: request.host), "application/xml")
        case "catalogs" where service == .event: return WebAnswer(200, "<Catalogs></Catalogs>\n", "application/xml")
        case "contributors" where service == .event:
            return WebAnswer(200, "<Contributors></Contributors>\n", "application/xml")
        default: return WebAnswer(404, "there is nothing here\n")
        }
    }

    // MARK: station

    private func stations(_ query: FDSNQuery) throws(FDSNQuery.Problem) -> WebAnswer? {
        let format = query.other["format"]?.lowercased() ?? "xml"
        guard ["xml", "text"].contains(format) else { throw .init(words: "format is xml or text") }
        let levels: [String: StationXMLWriter.Level] = [
            "network": .network, "station": .station, "channel": .channel, "response": .response,
        ]
        guard let level = levels[query.other["level"]?.lowercased() ?? "station"] else {
            throw .init(words: "level is network, station, channel or response")
        }
        let (box, circle) = (try GeoBox(query), try GeoCircle(query))
        let (startBefore, startAfter) = (try query.time(named: "startbefore"), try query.time(named: "startafter"))
        // The station's channels are as they are now; with `matchtimeseries` those count that have samples in the time.
        let hasSamples = try query.flag("matchtimeseries")
        // All are still open: they end after any time, and before none.
        _ = try query.time(named: "endafter")
        if try query.time(named: "endbefore") != nil { return nil }
        var found: [DescribedStation] = []
        var channels: [String: [DescribedChannel]] = [:]
        for station in contents.stations {
            guard let id = contents.ids[station.identifier], let state = contents.states[id], let info = state.info,
                var described = StationDirectory.described(info, state.config)
            else { continue }
            (described.identity.network, described.identity.code) = (station.network, station.code)
            let place = (described.identity.latitude ?? .nan, described.identity.longitude ?? .nan)
            guard box?.contains(place.0, place.1) != false, circle?.contains(place.0, place.1) != false else {
                continue
            }
            let lines = query.lines.filter { $0.matches(station.network, station.code) }
            let streams = station.streams.filter { stream in
                stream.begin < startBefore ?? .max && stream.begin > startAfter ?? .min
                    && lines.contains { line in
                        line.matches(location: stream.location, channel: stream.channel)
                            && (!hasSamples || stream.end >= line.begin ?? .min)
                            && stream.begin <= line.end ?? .max
                    }
            }
            guard !streams.isEmpty else { continue }
            described.begin = streams.map(\.begin).min()
            described.identity.location = streams[0].location
            channels[station.identifier] = FeedChannels.described(described, streams)
            found.append(described)
        }
        guard !found.isEmpty else { return nil }
        if format == "text" { return WebAnswer(200, Self.text(found, level, channels)) }
        let text = StationXMLWriter.document(found, created: now.utc, level: level) { station in
            channels["\(station.identity.network)_\(station.identity.code)"] ?? []
        }
        return WebAnswer(200, text, "application/xml")
    }

    private static func text(
        _ stations: [DescribedStation], _ level: StationXMLWriter.Level, _ channels: [String: [DescribedChannel]]
    ) -> String {
        var text = FDSNText(level == .network ? .networks : level == .station ? .stations : .channels)
        switch level {
        case .network:
            for (network, own) in Dictionary(grouping: stations, by: \.identity.network).sorted(by: { $0.key < $1.key })
            {
                text.add(network: network, stations: own.count, begin: own.compactMap(\.begin).min())
            }
        case .station: for station in stations { text.add(station) }
        default:
            for station in stations {
                for channel in channels["\(station.identity.network)_\(station.identity.code)"] ?? [] {
                    text.add(channel, of: station)
                }
            }
        }
        return text.text
    }

    // MARK: event

    /// Events of single stations, and earthquakes of a network of them.
    private func events(_ query: FDSNQuery, _ ring: Ring) throws(FDSNQuery.Problem) -> WebAnswer? {
        let format = query.other["format"]?.lowercased() ?? "xml"
        guard ["xml", "quakeml", "text"].contains(format) else { throw .init(words: "format is xml or text") }
        let rows = try rows(query, ring)
        guard !rows.isEmpty else { return nil }
        let (isText, nothing) = (format == "text", Self.nodata(query))
        let pieces = EventPieces(rows, as: isText ? .text : .quakeML, states: contents.states)
        return WebAnswer(isText ? Self.plain : "application/xml", [], more: pieces, nothing: nothing)
    }

    private func rows(_ query: FDSNQuery, _ ring: Ring) throws(FDSNQuery.Problem) -> [Int64] {
        var question = EventIndex.Question()
        guard let order = EventIndex.Question.Order(rawValue: query.other["orderby"]?.lowercased() ?? "time") else {
            throw .init(words: "orderby is time, time-asc, magnitude or magnitude-asc")
        }
        question.order = order
        question.limit = try query.whole("limit", in: 1...Self.mostEvents) ?? Self.usualEvents
        // (Counted from 1.)
        question.offset = (try query.whole("offset", in: 1...100_000_000) ?? 1) - 1
        (question.box, question.circle) = (try GeoBox(query), try GeoCircle(query))
        (question.depth, question.magnitude) = (try query.range("depth"), try query.range("magnitude"))
        question.updatedAfter = try query.time(named: "updatedafter").map { Int32(clamping: $0 / 1_000_000_000) }
        let line = query.lines.first ?? FDSNQuery.Line()
        (question.from, question.to) = (line.begin ?? .min, line.end ?? .max)
        if let id = query.other["eventid"] { question.among = Set((try? ring.rows(ofEvent: id)) ?? []) }
        return contents.events.rows(question) { owner in
            guard let station = contents.states[owner]?.info?.station, let latitude = station.latitude,
                let longitude = station.longitude
            else { return nil }
            return (latitude, longitude)
        } serves: { owner in
            owner == "network" || settings.groups.isEmpty || contents.states[owner]?.info.map(settings.serves) ?? false
        }
    }

    // MARK: dataselect

    private func records(_ query: FDSNQuery, _ ring: Ring) throws(FDSNQuery.Problem) -> WebAnswer? {
        if let format = query.other["format"], !["miniseed", "mseed"].contains(format.lowercased()) {
            throw .init(words: "format is miniseed")
        }
        let segments = RecordPieces.Segments(
            least: try query.number("minimumlength", in: 0...1e9) ?? 0, longestOnly: try query.flag("longestonly"))
        var wanted: [RecordPieces.Wanted] = []
        each(query) { line, _, stream, number in
            let (from, to) = (line.begin ?? stream.begin, line.end ?? stream.end)
            if from <= to { wanted.append(.init(channel: number, from: from, to: to)) }
        }
        var pieces = RecordPieces(wanted, segments: segments)
        guard let first = pieces.next(ring) else { return nil }
        return WebAnswer("application/vnd.fdsn.mseed", first, more: pieces, nothing: Self.nodata(query))
    }

    /// All channels that a query has in mind.
    private func each(_ query: FDSNQuery, _ body: (FDSNQuery.Line, FeedStation, FeedStream, Int64) -> Void) {
        for line in query.lines {
            for (index, station) in contents.stations.enumerated() where line.matches(station.network, station.code) {
                for stream in station.streams where line.matches(location: stream.location, channel: stream.channel) {
                    if let number = contents.channels[index][FeedStream.key(stream.location, stream.channel)] {
                        body(line, station, stream, number)
                    }
                }
            }
        }
    }

    /// Times of stations that a request wants and the ring has no records of, the newest first; only where it says from when
    /// on, and of channels at the sensor's rate, which alone are on a station's disk.
    /// - Parameter ring: a connection of the thread that calls.
    public func lacking(_ question: FDSNQuestion, _ ring: Ring) -> [(station: String, from: Int64, to: Int64)] {
        guard mayLack(question) else { return [] }
        var found: [String: [ClosedRange<Int64>]] = [:]
        var search = LackSearch(rows: Self.mostRows, most: Self.mostFetched)
        let wanted = fetchable(question.query)
        let share = max(16, Self.mostRows / max(1, wanted.count))
        for one in wanted where search.left > 0 {
            guard let own = try? ring.rate(of: one.channel), abs(own - one.rate) < 0.01 * one.rate else { continue }
            let gaps = try? search.gaps(
                one.range, begin: one.begin, rate: one.rate, rows: share,
                holes: { try ring.holes(one.channel, until: $0, most: $1) },
                records: { try ring.spans(one.channel, $0, most: $1) })
            found[one.station, default: []] += gaps ?? []
        }
        return found.flatMap { id, gaps in
            Coverage.newest(Coverage.united(gaps), lasting: Self.mostFetched).map { (id, $0.lowerBound, $0.upperBound) }
        }
    }

    /// A channel at the sensor's rate of a station that is online.
    private struct Fetchable {
        var station: String
        var channel: Int64
        /// Times of samples that are wanted; nothing is missing after the channel's end.
        var range: ClosedRange<Int64>
        /// See ``FeedStream/orderedBegin``.
        var begin: Int64
        var rate: Double
    }

    private func fetchable(_ query: FDSNQuery) -> [Fetchable] {
        var wanted: [Fetchable] = []
        each(query) { line, station, stream, number in
            guard let begin = line.begin, stream.channel.dropFirst().first == "N", wanted.count < Self.mostRows,
                let id = contents.ids[station.identifier], let rate = contents.rates[id],
                contents.states[id]?.isOnline == true
            else { return }
            // (The ring does not keep what is older.)
            let from = max(begin, now.utc - Int64(settings.days * 86_400e9))
            let to = min(line.end ?? .max, stream.end)
            guard from <= to else { return }
            wanted.append(
                Fetchable(station: id, channel: number, range: from...to, begin: stream.orderedBegin, rate: rate))
        }
        return wanted
    }
}

/// Channels of the feed: those of the station, in counts of 1 µm/s².
enum FeedChannels {
    /// - Parameter streams: those that are asked for. Filtered and RMS traces have no response that StationXML could tell,
    ///   because their filters are the station's settings: they are left out.
    static func described(_ station: DescribedStation, _ streams: [FeedStream]) -> [DescribedChannel] {
        station.channels.compactMap { channel in
            guard streams.contains(where: { $0.channel == channel.source.channel }) else { return nil }
            var channel = channel
            channel.source.location = station.identity.location
            channel.stages = channel.stages.map { stage in
                if case .sensor(_, let rate) = stage { return .sensor(gain: 1 / TraceReading.unitPerCount, rate: rate) }
                return stage
            }
            return channel
        }
    }
}

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
