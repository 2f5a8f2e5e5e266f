import ArgumentParser
import Glibc
import MQTT
import Messages
import Platform
import ServerOptions
import Values

/// Options of every command that shows something of stations.
struct CtlOptions: ParsableArguments {
    @OptionGroup(title: "Broker") var broker: BrokerOptions

    @Flag(help: "Print JSON, one object a line.")
    var json = false

    /// Follows a failed connection where nobody has named a broker.
    private static var remedy: String {
        let file = BrokerOptions.usualFile
        let own =
            access(file, F_OK) == 0
            ? "The broker of this machine's station is in \(file), which you may not read: try sudo."
            : "There is no \(file) on this machine that names one."
        return "No broker was named, so the one on this machine was tried. \(own) Or name a broker: "
            + "--broker mqtts://HOST:8883, SEISMOTE_BROKER, or --config FILE with the settings of a station."
    }

    /// A client that is connected.
    func connect() throws -> BrokerClient {
        let client = BrokerClient(try broker.access())
        Interrupt.listen()
        do throws(ClientError) {
            try client.connect()
        } catch {
            guard broker.isUnnamed, !Interrupt.came else { throw error }
            throw ClientError("\(error.description)\n\(Self.remedy)")
        }
        return client
    }
}

/// Options of every command that asks something of stations.
struct RequestOptions: ParsableArguments {
    @OptionGroup var common: CtlOptions

    @Option(help: ArgumentHelp("Maximum time for an answer.", valueName: "s"))
    var timeout = 10.0

    func validate() throws {
        guard timeout > 0, timeout <= 86_400 else {
            throw ValidationError("--timeout must be above 0 and at most 86400")
        }
    }

    /// Asks, prints each answer as it comes, and says how it ends.
    ///
    /// - Parameters:
    ///   - seconds: how long the station is busy with it, after it has accepted it.
    ///   - isBare: without the station's name.
    ///   - show: the lines for an answer that is `done`; the station's name stands before the first.
    func run(
        _ verb: String, _ request: Value = [:], _ targets: Targets, seconds: Double = 0, isBare: Bool = false,
        show: @escaping (Reply) -> String
    ) throws {
        try ctl {
            let client = try common.connect()
            defer { client.disconnect() }
            var report = AnswerReport(json: common.json, isBare: isBare, show: show)
            let exchange = Exchange(
                client, verb, request, targets, patience: timeout, line: WaitingLine(enabled: !common.json))
            exchange.onAccepted = { _, _ in seconds }
            exchange.onAnswer = { report.take($0) }
            try exchange.run()
            return report.end()
        }
    }
}

/// Prints answers and remembers how they ended.
struct AnswerReport {
    private let json: Bool
    private let toErrors: Bool
    private let isBare: Bool
    private let show: (Reply) -> String
    /// Text about a station without an answer, such as how to look whether it has done it.
    private let afterSilence: (String) -> String
    private(set) var done = 0
    private var refused = 0
    private var silent = 0

    /// - Parameter toErrors: standard output is for something else.
    init(
        json: Bool, toErrors: Bool = false, isBare: Bool = false,
        afterSilence: @escaping (String) -> String = { _ in "" },
        show: @escaping (Reply) -> String
    ) {
        self.afterSilence = afterSilence
        (self.json, self.isBare) = (json, isBare)
        self.toErrors = toErrors
        self.show = show
    }

    mutating func take(_ answer: Answer) {
        switch answer.outcome {
        case .done: done += 1
        case .failed: refused += 1
        case .silent, .offline: silent += 1
        }
        // In their order also where both outputs are one pipe.
        defer { flushOutput() }
        if answer.reply?.isIncomplete == true, !json || toErrors {
            printError("\(answer.station): \(Reply.incomplete)")
        }
        if json { return print(answer.value.jsonText) }
        switch answer.outcome {
        case .done:
            let text = (isBare ? "" : "\(answer.station): ") + (answer.reply.map(show) ?? "done")
            if toErrors { printError(text) } else { print(text) }
            // It was done, and something about the reply is not as it should be.
            for complaint in answer.reply?.complaints ?? [] { printError("\(answer.station): \(complaint)") }
        case .failed:
            let complaints = answer.reply?.complaints ?? []
            printError("\(answer.station): refused" + complaints.map { "\n  " + $0 }.joined())
        case .offline: printError("\(answer.station): offline")
        case .silent:
            printError(
                "\(answer.station): no answer after \(fixed(answer.seconds, 1)) s\(afterSilence(answer.station))")
        }
    }

    /// An answer that is done and that somebody else prints.
    mutating func count(_ station: String, isIncomplete: Bool) {
        done += 1
        if isIncomplete, !json { printError("\(station): \(Reply.incomplete)") }
    }

    /// A sentence about all when there were several.
    func end() -> CtlStatus {
        let all = done + refused + silent
        if !json, all == 0, !Interrupt.came { printError("no station has answered") }
        if !json, all > 1 {
            printError("\(done) done, \(refused) refused, \(silent) without an answer")
        }
        return status
    }

    var status: CtlStatus {
        if Interrupt.came { return .interrupted }
        if refused > 0 { return .refused }
        return silent > 0 || done == 0 ? .silent : .done
    }
}

/// Which stations a command is for.
enum Targets {
    case stations([String])
    case group(String)
}

/// A group of stations, or all of them.
struct GroupOptions: ParsableArguments {
    @Option(help: ArgumentHelp("All stations of this group.", valueName: "name"))
    var group: String?

    @Flag(help: "All stations.")
    var all = false

    func targets(_ stations: [String]) throws -> Targets {
        if group != nil || all {
            guard stations.isEmpty else { throw ValidationError("station names, --group and --all exclude each other") }
            guard group == nil || !all else { throw ValidationError("--group and --all exclude each other") }
            let name = group ?? "all"
            if Topics.problem(inID: name) != nil { throw ValidationError("--group \(name): not a valid group name") }
            return .group(name)
        }
        guard !stations.isEmpty else {
            throw ValidationError(
                "no station given: name one, or use --group or --all; `seismote ctl list` shows the stations")
        }
        for id in stations {
            if let problem = Topics.problem(inID: id) { throw ValidationError("station \(id): \(problem)") }
        }
        var unique: [String] = []
        for id in stations where !unique.contains(id) { unique.append(id) }
        return .stations(unique)
    }
}

/// Stations as arguments, or a group.
struct TargetOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("One or several stations.", valueName: "station"), completion: StationCompletion.kind)
    var stations: [String] = []

    @OptionGroup var several: GroupOptions

    // Here, and not when they are needed: only now is it known whose usage to show.
    func validate() throws { _ = try targets() }

    func targets() throws -> Targets { try several.targets(stations) }
}

/// A stretch of the past.
struct PastOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "From so long ago (90s, 30m, 12h, 7d), or from this time, such as 2026-01-05 or 2026-01-05T10:20:00Z.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("To this time, in the same forms; else now.", valueName: "time"))
    var until: String?

    func validate() throws {
        for (option, text) in [("since", since), ("until", until)] {
            guard let text, Self.time(text, now: 0) == nil else { continue }
            throw ValidationError("--\(option) \(text): must be such as 12h, 7d, 2026-01-05 or 2026-01-05T10:20:00Z")
        }
    }

    /// Nanoseconds of UTC.
    /// - Parameter standard: how long ago it begins where nothing is said (ns).
    func range(standard: Int64) -> (from: Int64, to: Int64) {
        let now = HostClock.wall() / 1_000_000_000 * 1_000_000_000
        let to = until.flatMap { Self.time($0, now: now) } ?? now
        return (since.flatMap { Self.time($0, now: now) } ?? to - standard, to)
    }

    private static func time(_ text: String, now: Int64) -> Int64? {
        if let time = Timestamp(text) ?? Timestamp("\(text)T00:00:00Z") { return time.nanoseconds }
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Double(text.dropLast()), number >= 0,
            number * unit < 9e9
        else { return nil }
        return now - Int64(number * unit * 1e9)
    }
}

extension Int64 {
    /// As commands have it.
    var timeValue: Value { .string(Timestamp(nanoseconds: self).description) }
}

/// The names of stations for a shell that completes: those of which the broker of the environment has kept something.
enum StationCompletion {
    static let kind = CompletionKind.custom { words, _, _ in (try? names(words)) ?? [] }

    private static func names(_ words: [String]) throws -> [String] {
        // Of the line only where the broker is.
        var broker: [String] = []
        for (option, value) in zip(words, words.dropFirst()) where option == "--broker" || option == "--root" {
            broker += [option, value]
        }
        let access = try BrokerOptions.parse(broker).access()
        let client = BrokerClient(access)
        try client.connect()
        defer { client.disconnect() }
        var fleet = Fleet(root: access.mqtt.root)
        try fleet.look(client, filters: ["state/online"], within: 1)
        return fleet.stations.keys.sorted()
    }
}
