import ArgumentParser
import Commands
import Glibc
import MQTT
import Messages
import Platform
import Settings
import Values

/// `seismote ctl update`
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: Command.update.help,
        discussion: """
            seismote ctl update --group school --version 0.2.0~deb13

            Each station needs the package seismote-update. It installs exactly this version from its own signed apt sources, \
            and puts the version before back when the new one ends by itself, does not sample, does not reach the broker, \
            eats memory, cannot read its database, or when nobody confirms it within 10 minutes: here, where a terminal is, or \
            with `seismote ctl update-confirm`.

            A ring begins when all stations of the one before are updated, and none after a station that is not. The command \
            only looks on: when it ends, updates that have begun go on.
            """)

    @OptionGroup var targets: TargetOptions

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("Version of the Debian package, such as 0.2.0~deb13.", valueName: "version"))
    var wanted: String

    @Option(help: ArgumentHelp("How many stations at a time: the first, then so many, then all.", valueName: "1,5,all"))
    var rings = UpdateRings.usual

    @Flag(help: "Nobody confirms it: the station does so itself when all is well.")
    var auto = false

    @Flag(help: "An older version, too.")
    var allowDowngrade = false

    @Option(help: ArgumentHelp("Maximum time for a ring.", valueName: "s"))
    var wait = 3600.0

    @OptionGroup var options: RequestOptions

    func validate() throws {
        guard UpdateRequest.isVersion(wanted) else {
            throw ValidationError("--version \(safe(wanted)): \(UpdateRequest.versionForm)")
        }
        guard wait > 0, wait <= 86_400 else { throw ValidationError("--wait must be above 0 and at most 86400") }
    }

    func run() throws {
        let targets = try targets.targets()
        try ctl {
            let client = try options.common.connect()
            defer { client.disconnect() }
            let stations = try stations(targets, client)
            guard !stations.isEmpty else {
                printError("no station is online")
                return .silent
            }
            let rings = rings.split(stations)
            for (number, ring) in rings.enumerated() {
                if rings.count > 1, !options.common.json {
                    printError("ring \(number + 1) of \(rings.count): \(ring.joined(separator: ", "))")
                }
                let course = UpdateRing(
                    client, ring, version: wanted, isAutomatic: auto, options: options, wait: wait)
                let status = try course.run([
                    .init("version", .string(wanted)), .init("auto", .bool(auto)),
                    .init("allow_downgrade", .bool(allowDowngrade)),
                ])
                guard status == .done else {
                    let rest = rings.dropFirst(number + 1).joined()
                    if !rest.isEmpty { printError("not begun: \(rest.joined(separator: ", "))") }
                    return status
                }
            }
            return .done
        }
    }

    /// Stations of a group that are there now, by name.
    private func stations(_ targets: Targets, _ client: BrokerClient) throws(ClientError) -> [String] {
        switch targets {
        case .stations(let names): return names
        case .group(let group):
            var fleet = Fleet(root: client.options.mqtt.root)
            try fleet.look(client, filters: ["state/online", "state/info"], within: 5)
            return fleet.seen.filter { $0.view.isOnline == true && $0.view.isMember(of: group) }.map(\.id)
        }
    }
}

/// `seismote ctl update-confirm`
struct UpdateConfirmCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update-confirm", abstract: Command.updateConfirm.help,
        discussion: "seismote ctl update-confirm basement --version 0.2.0~deb13")

    @OptionGroup var targets: TargetOptions

    @Option(
        name: .customLong("version"),
        help: ArgumentHelp("The version that runs on trial.", valueName: "version"))
    var wanted: String

    @OptionGroup var options: RequestOptions

    func run() throws {
        try options.run("update-confirm", ["version": .string(wanted)], try targets.targets()) { _ in "confirmed" }
    }
}

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
            let last = waiting[station], let update = (try? JSONReader.read(message.payload)).map(UpdateReading.init),
            update.id == id, let phase = update.phase, phase != last
        else { return }
        waiting[station] = phase.isEnd ? nil : .some(phase)
        if phase.isEnd, phase != .updated { failed += 1 }
        line.clear()
        if json {
            print(Value.object([.init("station", .string(station)), .init("update", update.tree)]).jsonText)
        } else {
            let reason = update.reason.map { ": \($0.printable)" } ?? ""
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
