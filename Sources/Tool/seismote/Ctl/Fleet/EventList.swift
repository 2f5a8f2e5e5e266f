import MQTT
import Messages
import Values

/// Asks stations for the events that they keep, page by page.
struct EventList {
    let request: [Value.Member]
    let limit: Int
    let timeout: Double
    private(set) var status = CtlStatus.done

    init(_ request: [Value.Member], limit: Int, timeout: Double) {
        (self.request, self.limit, self.timeout) = (request, limit, timeout)
    }

    /// - Returns: the newest first.
    mutating func events(of station: String, _ client: BrokerClient, json: Bool) throws(ClientError) -> [Value] {
        var found: [Value] = []
        var cursor: Int?
        var isIncomplete = false
        var foreign = 0
        defer {
            if isIncomplete { printError("\(station): \(Reply.incomplete)") }
            if foreign > 0 { printError("\(station): \(foreign) events whose id is not this station's were left out") }
        }
        repeat {
            var members = request + [.init("limit", .int(Int64(min(100, limit - found.count))))]
            if let cursor { members.append(.init("after", .int(Int64(cursor)))) }
            let exchange = Exchange(
                client, "events", .object(members), .stations([station]), patience: timeout,
                line: WaitingLine(enabled: !json))
            var report = AnswerReport(json: false, toErrors: true) { _ in "" }
            var result: Value?
            exchange.onAnswer = { answer in
                result = answer.reply?.result
                if answer.outcome == .done, answer.reply?.isIncomplete == true { isIncomplete = true }
                if answer.outcome != .done { report.take(answer) }
            }
            try exchange.run()
            guard let page = result?["events"]?.list else {
                status = report.status == .done ? .silent : report.status
                return found
            }
            let own = page.filter { EventID.isOf(station: station, $0["event_id"]?.rawText) }
            foreign += page.count - own.count
            found += own.prefix(limit - found.count)
            cursor = result?["next"]?.whole
        } while cursor != nil && found.count < limit && !Interrupt.came
        return found
    }

    // MARK: As a table

    static let header =
        "station,event_id,onset_utc,end_utc,duration_s,pga_m_s2,pgv_m_s,mmi,jma,class,dominant_hz,clipped,test,velocity_valid,acceleration_valid"

    /// A line of CSV (RFC 4180).
    static func line(_ station: String, _ event: Value) -> String {
        func number(_ key: String) -> String { event[key]?.number.map { "\($0)" } ?? "" }
        func text(_ value: Value?) -> String {
            let text = value?.text ?? ""
            let isPlain = !text.contains { $0 == "," || $0 == "\"" }
            return isPlain
                ? text
                : "\"\(text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\""))\""
        }
        return [
            station, text(event["event_id"]), text(event["onset"]), text(event["end"]), number("duration_s"),
            number("pga"), number("pgv"), number("mmi"), number("jma"), text(event["class", "likely"]),
            number("dominant_hz"), event["clipped"]?.flag == true ? "1" : "0", event["test"]?.flag == true ? "1" : "0",
            CertainIntensity.isVelocityValid(event) ? "1" : "0",
            CertainIntensity.isAccelerationValid(event) ? "1" : "0",
        ].joined(separator: ",")
    }
}
