import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// Confirms changes that would go back by themselves: over a connection made after the change, and as soon as the station
/// is there again.
struct Confirmation {
    private struct Change {
        var revision: Int
        /// Where it is looked for.
        var place: String
        /// Id of the request: the same until it is answered, so that a reply that was lost is sent again.
        var id: String
        /// Outcome of the last attempt.
        var problem = ""
    }

    /// By station.
    private var waiting: [String: Change] = [:]
    private var places: [String: ConnectionOptions] = [:]
    private var ids: [String: String] = [:]
    private var isRefused = false
    private let deadline: Double
    private let json: Bool

    /// - Parameter seconds: until the change goes back.
    init(seconds: Double, json: Bool) {
        self.json = json
        deadline = monotonicSeconds() + seconds
    }

    /// - Parameter access: where the station is found after the change.
    mutating func add(_ answer: Answer, at access: ConnectionOptions) {
        guard let result = answer.reply?.result, let revision = result.pendingRevision else { return }
        let place = access.mqtt.root + " " + access.brokers.map(\.description).joined(separator: " ")
        places[place] = access
        let id = ids["\(revision) \(place)"] ?? Exchange.newID()
        ids["\(revision) \(place)"] = id
        waiting[answer.station] = Change(revision: revision, place: place, id: id)
    }

    /// Tries until all are confirmed or the time is over, and says what became of each.
    mutating func run() -> CtlStatus {
        let line = WaitingLine(enabled: !json)
        while !waiting.isEmpty, monotonicSeconds() < deadline, !Interrupt.came {
            line.show("waiting for \(waiting.keys.sorted().joined(separator: ", ")) to be confirmed")
            for (place, access) in places { round(place, access, line) }
            if !waiting.isEmpty { poll(nil, 0, 500) }
        }
        line.clear()
        for (station, change) in waiting.sorted(by: { $0.key < $1.key }) {
            printError("\(station): NOT confirmed, the change will be reverted: \(change.problem)")
        }
        if Interrupt.came { return .interrupted }
        return waiting.isEmpty ? .done : isRefused ? .refused : .silent
    }

    /// One attempt with those who are looked for in one place.
    private mutating func round(_ place: String, _ access: ConnectionOptions, _ line: WaitingLine) {
        let here = waiting.filter { $0.value.place == place }
        guard !here.isEmpty else { return }
        do throws(ClientError) {
            let client = BrokerClient(access)
            try client.connect()
            defer { client.disconnect() }
            for (id, stations) in Dictionary(grouping: here.keys.sorted(), by: { here[$0]?.id ?? "" }) {
                let revision = stations.first.flatMap { here[$0]?.revision } ?? 0
                let exchange = Exchange(
                    client, "config-confirm", ["rev": .int(Int64(revision))], .stations(stations),
                    patience: max(0.5, min(3, deadline - monotonicSeconds())), line: line, id: id)
                var answers: [Answer] = []
                exchange.onAnswer = { answers.append($0) }
                try exchange.run()
                let next = Exchange.newID()
                for answer in answers { take(answer, revision, next) }
            }
        } catch {
            for station in here.keys { waiting[station]?.problem = error.description }
        }
    }

    private mutating func take(_ answer: Answer, _ revision: Int, _ next: String) {
        switch answer.outcome {
        case .done:
            waiting[answer.station] = nil
            print(json ? answer.value.jsonText : "\(answer.station): rev \(revision) confirmed")
            flushOutput()
        case .failed:
            isRefused = true
            waiting[answer.station]?.problem = (answer.reply?.complaints ?? []).map { "\n  " + $0 }.joined()
            // It would say the same again.
            waiting[answer.station]?.id = next
        case .offline: waiting[answer.station]?.problem = "it is offline"
        case .silent: waiting[answer.station]?.problem = "it does not answer"
        }
    }
}

extension ConnectionOptions {
    /// Where a station is found after a change of its settings.
    func following(_ patch: Value) -> ConnectionOptions {
        var access = self
        let change = SettingsReading(patch)
        let brokers = change.brokers.compactMap { try? BrokerAddress(uri: $0) }
        if !brokers.isEmpty { access.brokers = brokers }
        if let root = change.root, Topics.problem(inRoot: root) == nil { access.mqtt.root = root }
        return access
    }
}
