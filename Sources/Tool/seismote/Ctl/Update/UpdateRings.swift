import ArgumentParser
import Commands
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// Stations in the order in which they are updated: the next ring begins when all of the one before are well.
struct UpdateRings: ExpressibleByArgument, Equatable {
    /// How many stations each ring has; nil, the last one: all that are left.
    private let sizes: [Int?]

    /// One, then five, then all.
    static let usual = UpdateRings(sizes: [1, 5, nil])

    private init(sizes: [Int?]) { self.sizes = sizes }

    /// `1,5,all`
    init?(argument: String) {
        var sizes: [Int?] = []
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            // (Behind `all` nothing is left.)
            guard sizes.allSatisfy({ $0 != nil }) else { return nil }
            if word == "all" {
                sizes.append(nil)
            } else if let size = Int(word), (1...100_000).contains(size) {
                sizes.append(size)
            } else {
                return nil
            }
        }
        self.sizes = sizes
    }

    var defaultValueDescription: String { sizes.map { $0.map(String.init) ?? "all" }.joined(separator: ",") }

    /// All stations, also where the sizes do not reach for them: these are the last ring.
    func split(_ stations: [String]) -> [[String]] {
        var rest = stations[...]
        var rings: [[String]] = []
        for size in sizes + [nil] where !rest.isEmpty {
            let ring = rest.prefix(size ?? rest.count)
            rings.append(Array(ring))
            rest = rest.dropFirst(ring.count)
        }
        return rings
    }
}

/// Stations that are updated at the same time, from the request to the end at each of them.
final class UpdateRing {
    private let client: BrokerClient
    private let stations: [String]
    private let version: String
    private let isAutomatic: Bool
    private let options: RequestOptions
    private let deadline: Double
    private let line: WaitingLine
    private var json: Bool { options.common.json }
    /// Last phase of each station whose update has not ended.
    private var waiting: [String: UpdateMessage.Phase?] = [:]
    private var failed = 0
    private var silent = 0

    init(
        _ client: BrokerClient, _ stations: [String], version: String, isAutomatic: Bool, options: RequestOptions,
        wait: Double
    ) {
        (self.client, self.stations, self.version, self.isAutomatic) = (client, stations, version, isAutomatic)
        (self.options, deadline) = (options, monotonicSeconds() + wait)
        line = WaitingLine(enabled: !options.common.json)
    }

    func run(_ request: [Value.Member]) throws(ClientError) -> CtlStatus {
        let exchange = Exchange(
            client, Command.update.name, .object(request), .stations(stations), patience: options.timeout, line: line)
        var report = AnswerReport(json: json) { _ in "asked" }
        // (That the updater hears it, which after a failure looks once a minute.)
        exchange.onAccepted = { _, _ in 120 }
        exchange.onAnswer = { [self] answer in
            switch answer.outcome {
            case .done: waiting[answer.station] = .some(nil)
            case .failed: failed += 1
            case .offline, .silent: silent += 1
            }
            report.take(answer)
        }
        try exchange.run()
        try follow(exchange.id)
        line.clear()
        for station in waiting.keys.sorted() {
            printError("\(station): update still running; follow state/update")
        }
        silent += waiting.count
        if Interrupt.came { return .interrupted }
        return failed > 0 ? .refused : silent > 0 ? .silent : .done
    }

    /// Until the end at each station. The broker may go in between, and comes back.
    private func follow(_ id: String) throws(ClientError) {
        let topics = waiting.keys.sorted().map { "\(client.options.mqtt.root)/\($0)/state/update" }
        var isSubscribed = false
        while !waiting.isEmpty, monotonicSeconds() < deadline, !Interrupt.came {
            line.show("waiting for \(waiting.keys.sorted().prefix(5).joined(separator: ", "))")
            do throws(ClientError) {
                if !isSubscribed { try client.subscribe(topics) }
                isSubscribed = true
                guard let message = try client.next(until: min(deadline, monotonicSeconds() + 1)) else { continue }
                try take(message, id)
            } catch {
                isSubscribed = false
                if Interrupt.came { return }
                poll(nil, 0, 1000)
                try? client.connect()
            }
        }
    }

    private func take(_ message: InboundMessage, _ id: String) throws(ClientError) {
        guard let (station, rest) = Topics.split(message.topic, root: client.options.mqtt.root), rest == "state/update",
            let last = waiting[station], let value = try? JSONReader.read(message.payload), value["id"]?.rawText == id,
            let phase = value["phase"]?.rawText.flatMap(UpdateMessage.Phase.init), phase != last
        else { return }
        waiting[station] = phase.isEnd ? nil : .some(phase)
        if phase.isEnd, phase != .updated { failed += 1 }
        line.clear()
        if json {
            print(Value.object([.init("station", .string(station)), .init("update", value)]).jsonText)
        } else {
            let reason = value["reason"]?.text.map { ": \($0)" } ?? ""
            print("\(station): \(phase.rawValue)\(phase == .updated ? " to \(version)" : "")\(reason)")
        }
        flushOutput()
        if phase == .confirming, !isAutomatic { try confirm(station) }
    }

    /// The person at the terminal says so; another one may do so elsewhere.
    private func confirm(_ station: String) throws(ClientError) {
        guard !json, isatty(STDIN_FILENO) != 0 else {
            return printError(
                "\(station): samples with \(version) and is connected. It goes back unless: seismote ctl update-confirm \(station) --version \(version)"
            )
        }
        print("\(station) samples with \(version) and is connected. Confirm it? [y/N]", terminator: " ")
        flushOutput()
        guard let answer = Keyboard.line(), answer.lowercased().hasPrefix("y") else {
            return print("\(station): not confirmed, it goes back at the end of its time")
        }
        let exchange = Exchange(
            client, Command.updateConfirm.name, ["version": .string(version)], .stations([station]),
            patience: options.timeout, line: line)
        var report = AnswerReport(json: json) { _ in "confirmed" }
        exchange.onAnswer = { report.take($0) }
        try exchange.run()
    }
}
