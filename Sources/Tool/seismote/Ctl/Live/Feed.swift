import ArgumentParser
import Glibc
import MQTT
import Messages
import Platform

/// Messages of some topics for as long as it takes: when the connection breaks it is made anew.
struct Feed {
    private let client: BrokerClient
    private let filters: [String]
    private var isSubscribed = false
    private var isBroken = false
    /// Told when the connection has gone, and when it is back.
    var onChange: (String) -> Void = { printError($0) }

    init(_ client: BrokerClient, _ filters: [String]) {
        self.client = client
        self.filters = filters
    }

    /// The next message; nil when there is none until then, or at Ctrl-C. The first connection has to hold until the
    /// subscriptions are there.
    mutating func next(until deadline: Double) throws(ClientError) -> InboundMessage? {
        if !isSubscribed {
            try client.subscribe(filters)
            isSubscribed = true
        }
        while !Interrupt.came {
            do throws(ClientError) {
                if isBroken {
                    try client.connect()
                    try client.subscribe(filters)
                    isBroken = false
                    onChange("connected again")
                }
                return try client.next(until: deadline)
            } catch {
                if Interrupt.came { return nil }
                if !isBroken { onChange("connection lost: \(error.description); trying again") }
                isBroken = true
                guard pause(until: deadline) else { return nil }
            }
        }
        return nil
    }

    /// Two seconds; false when that is beyond the deadline.
    private func pause(until deadline: Double) -> Bool {
        let end = min(deadline, monotonicSeconds() + 2)
        while !Interrupt.came, monotonicSeconds() < end { poll(nil, 0, 100) }
        return !Interrupt.came && monotonicSeconds() < deadline
    }
}

/// Makes what was printed visible now, for those who read through a pipe.
func flushOutput() {
    if fflush(nil) != 0, errno == EPIPE { endAsBrokenPipe() }
}

/// Ends like a program whose reader has gone, as behind `| head -1`: by the signal, without a word.
func endAsBrokenPipe() -> Never {
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
    _exit(141)
}

/// Stations that are looked at; without a name all of them.
struct StationNames: ParsableArguments {
    @Argument(help: ArgumentHelp("Only these stations.", valueName: "station"), completion: StationCompletion.kind)
    var stations: [String] = []

    func validate() throws {
        for id in stations {
            if let problem = Topics.problem(inID: id) { throw ValidationError("station \(id): \(problem)") }
        }
    }

    /// One of each of these below every one of the stations.
    func filters(_ root: String, _ below: [String]) -> [String] {
        (stations.isEmpty ? ["+"] : stations).flatMap { name in below.map { "\(root)/\(name)/\($0)" } }
    }
}

/// Options of what is shown as it comes.
struct LiveOptions: ParsableArguments {
    @OptionGroup var names: StationNames

    @Option(help: ArgumentHelp("Stop after this number.", valueName: "n"))
    var count: Int?

    @Option(help: ArgumentHelp("Stop after this time.", valueName: "s"))
    var seconds: Double?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1") }
        if let seconds, !(seconds > 0) { throw ValidationError("--seconds must be above 0") }
    }
}
