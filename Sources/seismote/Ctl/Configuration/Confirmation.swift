import Glibc
import Link
import Messages
import Settings

/// Confirms changes that would go back by themselves: over a connection made after the change, and as soon as the station
/// is there again.
struct Confirmation {
    /// Stations with the revision to confirm.
    private var waiting: [String: Int] = [:]
    private var complaints: [String: [String]] = [:]
    private let access: BrokerAccess
    private let deadline: Double
    private let json: Bool

    /// - Parameters:
    ///   - patch: the change; a station that was told to go to another broker or root is looked for there.
    ///   - seconds: until the change goes back.
    init(_ access: BrokerAccess, patch: Value, seconds: Double, json: Bool) {
        self.access = access.following(patch)
        self.json = json
        deadline = monotonicSeconds() + seconds
    }

    mutating func add(_ answer: Answer) {
        guard let result = answer.reply?.result, let revision = result["pending", "rev"]?.whole else { return }
        waiting[answer.station] = revision
    }

    /// Tries until all are confirmed or the time is over, and says what became of each.
    mutating func run() -> CtlStatus {
        let line = WaitingLine(enabled: !json)
        var problem = ""
        while !waiting.isEmpty, monotonicSeconds() < deadline, !Interrupt.came {
            line.show("waiting for \(waiting.keys.sorted().joined(separator: ", ")) to be confirmed")
            do throws(ClientError) {
                try round(line)
                problem = ""
            } catch {
                problem = error.description
            }
            if !waiting.isEmpty { poll(nil, 0, 500) }
        }
        line.clear()
        for station in waiting.keys.sorted() {
            let why = complaints[station].map { ":\n  " + $0.joined(separator: "\n  ") }
            printError(
                "\(station): NOT confirmed, the change goes back by itself"
                    + (why ?? (problem.isEmpty ? "" : ": \(problem)")))
        }
        if Interrupt.came { return .interrupted }
        return waiting.isEmpty ? .done : complaints.isEmpty ? .silent : .refused
    }

    private mutating func round(_ line: WaitingLine) throws(ClientError) {
        let client = BrokerClient(access)
        try client.connect()
        defer { client.disconnect() }
        for (revision, stations) in Dictionary(grouping: waiting.keys.sorted(), by: { waiting[$0] ?? 0 }) {
            let patience = max(0.5, min(3, deadline - monotonicSeconds()))
            let exchange = Exchange(
                client, "config-confirm", ["rev": .int(Int64(revision))], .stations(stations), patience: patience,
                line: line)
            var answers: [Answer] = []
            exchange.onAnswer = { answers.append($0) }
            try exchange.run()
            for answer in answers { take(answer, revision) }
        }
    }

    private mutating func take(_ answer: Answer, _ revision: Int) {
        switch answer.outcome {
        case .done:
            waiting[answer.station] = nil
            print(json ? answer.value.jsonText : "\(answer.station): rev \(revision) confirmed")
        case .failed: complaints[answer.station] = answer.reply?.complaints ?? []
        case .offline, .silent: break
        }
    }
}

extension BrokerAccess {
    /// Where a station is found after a change of its settings.
    func following(_ patch: Value) -> BrokerAccess {
        var access = self
        let mqtt = patch["mqtt"]
        var uris = mqtt?["uri"]?.list?.compactMap(\.rawText) ?? []
        if let one = mqtt?["uri"]?.rawText { uris = [one] }
        let brokers = uris.compactMap { try? BrokerAddress(uri: $0) }
        if !brokers.isEmpty { access.brokers = brokers }
        if let root = mqtt?["root"]?.rawText, Topics.problem(inRoot: root) == nil { access.root = root }
        return access
    }
}
