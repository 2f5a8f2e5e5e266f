import ArgumentParser
import Glibc
import MQTT
import Messages
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
