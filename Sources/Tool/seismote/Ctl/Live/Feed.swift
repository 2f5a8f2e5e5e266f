import ArgumentParser
import Glibc
import MQTT
import Messages
import MiniSEED
import Platform
import Settings
import Values

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
    if fflush(nil) != 0, errno == EPIPE { ProgramOutput.endAsBrokenPipe() }
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

/// A block of `data/trace` as it came, of the signal that is shown: filtered if it is sent, else raw, else RMS.
struct LiveBlock {
    /// Time of the first sample, seconds of UTC.
    var start: Double
    var rate: Double
    /// `filtered`, `raw` or `rms`.
    var signal: String
    /// Values of x, y and z, m/s².
    var values: [[Double]]
    /// Whether x, y and z were triggered; empty where it is not said.
    var triggers: [[Bool]]

    /// Nil for what is no such block.
    init?(_ payload: [UInt8]) {
        if payload.withUnsafeBytes({ MiniSEEDParser.recognises($0) }) {
            self.init(records: payload)
        } else if let value = (try? JSONReader.read(payload)) ?? CBORReader.read(payload) {
            self.init(value)
        } else {
            return nil
        }
    }

    /// The object that JSON and CBOR hold.
    private init?(_ block: Value) {
        guard let block = TraceBlockReading(block), block.rate > 0, block.rate <= 1e6,
            let signal = ["filtered", "raw", "rms"].first(where: { block.column("x", $0) != nil })
        else { return nil }
        start = Double(block.time) / 1e9
        (rate, self.signal) = (block.rate, signal)
        values = ["x", "y", "z"].map { axis in (block.column(axis, signal) ?? []).map { $0.number ?? .nan } }
        triggers = ["x", "y", "z"].map { axis in (block.column(axis, "triggered") ?? []).map { $0.number == 1 } }
    }

    /// Records of miniSEED, those of one axis in their order; which axis and signal it is, the channel says.
    private init?(records: [UInt8]) {
        var reader = MiniSEEDReader(records)
        var found: [String: LiveBlock] = [:]
        let unit = CountScale().unitPerCount
        // What comes behind a damaged record cannot be trusted, what came before can.
        while let record = try? reader.next() {
            let header = record.header
            guard let content = ChannelCodes.Content(rawValue: header.source.source), header.rate > 0,
                header.rate <= 1e6, let axis = Self.axis(header.source.subsource)
            else { continue }
            let signal = Self.name(content)
            var block =
                found[signal]
                ?? LiveBlock(start: Double(header.start) / 1e9, rate: header.rate, signal: signal)
            block.values[axis] += record.samples.values.map { $0 * unit }
            found[signal] = block
        }
        guard let best = ["filtered", "raw", "rms"].compactMap({ found[$0] }).first else { return nil }
        self = best
    }

    private init(start: Double, rate: Double, signal: String) {
        (self.start, self.rate, self.signal) = (start, rate, signal)
        values = [[], [], []]
        triggers = [[], [], []]
    }

    private static func axis(_ orientation: String) -> Int? {
        switch orientation {
        case "E", "1": 0
        case "N", "2": 1
        case "Z": 2
        default: nil
        }
    }

    private static func name(_ content: ChannelCodes.Content) -> String {
        switch content {
        case .filtered: "filtered"
        case .acceleration: "raw"
        case .rms: "rms"
        }
    }
}
