import Messages
import MiniSEED
import Settings
import Values

/// Messages of stations that somebody has recorded: `mosquitto_sub -F '%t %x'` (topic and bytes in hexadecimal, fit for all
/// messages), `-F '%j'` or `'%J'` (JSON messages alone), or the output of `seismote replay`. Anything may be in there: what
/// is no message of a station is passed over, what is damaged is an error.
public struct RecordedMessages: Sendable {
    /// Traces of JSON and CBOR.
    public private(set) var ground: [GroundRun] = []
    /// Records of traces and waveforms.
    public private(set) var records: [ChannelRun] = []
    /// Station id to its `state/info`.
    public private(set) var stations: [String: InfoReading] = [:]
    public private(set) var messages = 0

    /// Owners of the waveforms' channels.
    private var owners: [SourceIdentifier: String] = [:]
    private let signal: TraceConfiguration.Signal
    private let wantsTraces: Bool
    private let wantsWaveforms: Bool
    private let station: String?

    /// - Parameters:
    ///   - signal: which of the traces.
    ///   - station: id; nil: all.
    public init(signal: TraceConfiguration.Signal, traces: Bool = true, waveforms: Bool = true, station: String? = nil)
    {
        (self.signal, wantsTraces, wantsWaveforms, self.station) = (signal, traces, waveforms, station)
    }

    /// Whether a file that begins so holds messages.
    public static func recognises(_ beginning: ArraySlice<UInt8>) -> Bool {
        let line = beginning.prefix { $0 != UInt8(ascii: "\n") }
        if line.first == UInt8(ascii: "{") { return true }
        guard let space = line.lastIndex(of: UInt8(ascii: " ")) else { return false }
        return line[..<space].contains(UInt8(ascii: "/"))
            && line[(space + 1)...].allSatisfy { Hexadecimal.value($0) != nil }
    }

    /// - Throws: what is wrong with the line.
    public mutating func take(line: ArraySlice<UInt8>) throws(ConversionError) {
        if line.isEmpty { return }
        guard let (topic, content) = try Self.split(line) else { return }
        // …/<id>/(state|data)/…
        let levels = topic.split(separator: "/", omittingEmptySubsequences: false)
        guard let kind = levels.lastIndex(where: { $0 == "data" || $0 == "state" }), kind > 0 else { return }
        let id = String(levels[kind - 1])
        var rest = levels[(kind + 1)...]
        guard station == nil || station == id else { return }
        if levels[kind] == "state" {
            guard rest.elementsEqual(["info"]), let value = try content.value(topic) else { return }
            stations[id] = InfoReading(value)
            return
        }
        if rest.first == "history" { rest = rest.dropFirst() }
        let isWaveform = rest.first == "waveform"
        guard isWaveform ? wantsWaveforms : wantsTraces && (rest.first == "trace" || rest.first == "stream") else {
            return
        }
        messages += 1
        if let value = try content.value(topic) {
            if let block = Self.block(value, signal, of: id) { ground.append(block) }
        } else {
            do throws(MiniSEEDError) {
                for var run in try Self.runs(content.bytes) where isWaveform || Self.holds(run.name, signal) {
                    // (miniSEED 2 does not say it; of traces it is always the same.)
                    if isWaveform { owners[run.name] = id } else { run.unit = run.unit ?? CountScale().unitPerCount }
                    records.append(run)
                }
            } catch { throw ConversionError("a message of \(topic): \(error.description)") }
        }
    }

    /// Gives the records of waveforms, which in miniSEED 2 do not say it, the unit that follows from the station's
    /// `state/info`, where that was recorded.
    public mutating func finish() {
        for i in records.indices where records[i].unit == nil {
            guard let info = owners[records[i].name].flatMap({ stations[$0] }),
                let station = DescribedStation(info: info, config: nil)
            else { continue }
            records[i].unit = station.unitPerCount
        }
    }

    // MARK: Lines

    private struct Content {
        var bytes: [UInt8] = []
        var tree: Value?

        /// Nil: miniSEED.
        func value(_ topic: String) throws(ConversionError) -> Value? {
            if let tree { return tree }
            if bytes.withUnsafeBytes({ MiniSEEDParser.recognises($0) }) { return nil }
            if bytes.first == UInt8(ascii: "{"), let value = try? JSONReader.read(bytes) { return value }
            if let value = CBORReader.read(bytes) { return value }
            throw ConversionError("a message of \(topic) is neither JSON nor CBOR nor miniSEED")
        }
    }

    /// Nil: a line without a message.
    private static func split(_ line: ArraySlice<UInt8>) throws(ConversionError) -> (topic: String, Content)? {
        if line.first == UInt8(ascii: "{") {
            guard let tree = try? JSONReader.read(Array(line)), case .string(let topic)? = tree["topic"] else {
                throw ConversionError(
                    "this is no JSON object with a topic: messages in binary need mosquitto_sub -F '%t %x'")
            }
            switch (tree["payload"], tree["payload_b64"]) {
            case (.string(let text)?, _): return text.isEmpty ? nil : (topic, Content(bytes: Array(text.utf8)))
            case (let value?, _): return (topic, Content(tree: value))
            case (_, .string(let text)?):
                guard let bytes = Base64.bytes(text.utf8) else { throw ConversionError("payload_b64 is not base64") }
                return (topic, Content(bytes: bytes))
            default: return nil
            }
        }
        guard let space = line.lastIndex(of: UInt8(ascii: " ")) else {
            throw ConversionError(
                "this is no topic with a payload in hexadecimal, as mosquitto_sub -F '%t %x' writes it")
        }
        let digits = line[(space + 1)...]
        guard let bytes = Hexadecimal.bytes(digits) else {
            let isCut = digits.allSatisfy { Hexadecimal.value($0) != nil }
            throw ConversionError(
                isCut
                    ? "the payload has half a byte: the line is cut"
                    : "the payload is not hexadecimal: use mosquitto_sub -F '%t %x'")
        }
        return bytes.isEmpty ? nil : (String(decoding: line[..<space], as: UTF8.self), Content(bytes: bytes))
    }

    // MARK: Samples

    private static func block(_ value: Value, _ signal: TraceConfiguration.Signal, of id: String) -> GroundRun? {
        guard let block = TraceBlockReading(value), SampleTimeline.rates.contains(block.rate) else { return nil }
        let columns = ["x", "y", "z"].compactMap { axis -> [Double]? in
            guard let list = block.column(axis, signal.rawValue) else { return nil }
            let numbers = list.compactMap(\.number)
            return numbers.count == list.count ? numbers : nil
        }
        guard columns.count == 3, let first = columns.first, !first.isEmpty,
            columns.allSatisfy({ $0.count == first.count })
        else { return nil }
        return GroundRun(id, start: block.time, rate: block.rate, columns: columns)
    }

    /// Whether a channel is of this signal, for traces, which have a channel for each signal.
    private static func holds(_ source: SourceIdentifier, _ signal: TraceConfiguration.Signal) -> Bool {
        let content: ChannelCodes.Content =
            switch signal {
            case .filtered: .filtered
            case .rms: .rms
            case .raw, .triggered: .acceleration
            }
        return source.source == content.rawValue
    }

    /// All records of some bytes. Samples that are no counts become counts of the default unit.
    public static func runs(_ bytes: [UInt8]) throws(MiniSEEDError) -> [ChannelRun] {
        var runs: [ChannelRun] = []
        var reader = MiniSEEDReader(bytes)
        while let record = try reader.next() {
            if let run = run(record, bytes) { runs.append(run) }
        }
        return runs
    }

    /// All records of a file that can be read, at the rates that their times tell (``RecordClock``).
    /// - Parameter problem: is given what is wrong with each that cannot.
    public static func readableRuns(_ bytes: [UInt8], _ problem: (MiniSEEDError) -> Void) -> [ChannelRun] {
        var runs: [ChannelRun] = []
        var reader = MiniSEEDReader(bytes)
        while let record = reader.nextReadable(problem) {
            guard !record.samples.values.contains(where: { !$0.isFinite }) else {
                problem(
                    MiniSEEDError(
                        .samples, record: record.number, offset: record.offset, "a sample is not a finite number"))
                continue
            }
            if let run = run(record, bytes) { runs.append(run) }
        }
        Self.follow(&runs)
        return runs
    }

    /// Gives the channels of an instrument the rate that the times of their records tell.
    private static func follow(_ runs: inout [ChannelRun]) {
        let groups = Dictionary(grouping: runs.indices) { place in
            var name = runs[place].name
            name.subsource = ""
            return name
        }
        for group in groups.values {
            guard let header = group.first.map({ runs[$0].rate }),
                group.allSatisfy({ abs(runs[$0].rate / header - 1) < 0.01 })
            else { continue }
            let channels = Dictionary(grouping: group) { runs[$0].name }
            let clocks = channels.values.map { places in
                RecordClock(
                    places.map { .init(start: runs[$0].start, count: runs[$0].count) }.sorted { $0.start < $1.start },
                    rate: header)
            }
            let rate = RecordClock.rate(clocks, header: header)
            guard rate != header else { continue }
            for place in group { runs[place].rate = rate }
        }
    }

    private static func run(_ record: MiniSEEDRecord, _ bytes: [UInt8]) -> ChannelRun? {
        let header = record.header
        guard header.rate > 0, record.samples.count > 0 else { return nil }
        let scale = CountScale()
        switch record.samples {
        case .integers(let counts):
            let extra = header.extraHeaders(in: Array(bytes[record.offset..<record.offset + header.length]))
            let ours = extra.isEmpty ? nil : try? JSONReader.read(Array(extra))
            return ChannelRun(
                header.source, start: header.start, rate: header.rate, columns: [counts],
                unit: ours?["seismote"]?["unit_per_count"]?.number)
        case .floats, .doubles:
            return ChannelRun(
                header.source, start: header.start, rate: header.rate,
                columns: [record.samples.values.map(scale.count)], unit: scale.unitPerCount)
        }
    }
}

/// Reason why something cannot be converted.
public struct ConversionError: Error, Sendable, Equatable {
    public var message: String
    public init(_ message: String) { self.message = message }
}

/// Samples that follow each other without a gap: of one channel as counts, or of three axes in m/s².
public struct SampledRun<Name: Hashable & Sendable, Number: Sendable>: Sendable {
    public var name: Name
    /// Time of the first sample, nanoseconds of UTC.
    public var start: Int64
    /// Samples per second.
    public var rate: Double
    /// All of the same length.
    public var columns: [[Number]]
    /// m/s² of one count; nil: not known, or no counts.
    public var unit: Double?

    public init(_ name: Name, start: Int64, rate: Double, columns: [[Number]], unit: Double? = nil) {
        (self.name, self.start, self.rate, self.columns, self.unit) = (name, start, rate, columns, unit)
    }

    public var count: Int { columns.first?.count ?? 0 }

    /// Time of the sample behind the last.
    public var end: Int64 { SampleTimeline(start: start, rate: rate).time(of: count) }

    mutating func dropFirst(_ number: Int) {
        start = SampleTimeline(start: start, rate: rate).time(of: number)
        for c in columns.indices { columns[c].removeFirst(number) }
    }
}

public typealias ChannelRun = SampledRun<SourceIdentifier, Int32>
/// x, y, z of a station; the name is its id.
public typealias GroundRun = SampledRun<String, Double>

/// Puts pieces that came in any order, and perhaps twice, together.
public enum Runs {
    /// Joins runs that follow each other; what is there twice is taken once. A run whose clock differs from the count
    /// of samples by more than a thousandth of a sample begins anew at its own time, so that no time is lost.
    /// - Returns: the runs by name and time, and how many samples were there twice.
    public static func joined<Name, Number>(
        _ pieces: [SampledRun<Name, Number>]
    ) -> (runs: [SampledRun<Name, Number>], duplicates: Int) where Name: CustomStringConvertible {
        var runs: [SampledRun<Name, Number>] = []
        var duplicates = 0
        let groups = Dictionary(grouping: pieces) { Key($0.name, rate: $0.rate) }
        for (_, group) in groups.sorted(by: {
            ($0.key.name.description, $0.key.step) < ($1.key.name.description, $1.key.step)
        }) {
            var open: SampledRun<Name, Number>?
            // (Until where there are samples, which is not the end of the run before where that lay within another.)
            var until = Int64.min
            for var piece in group.sorted(by: { ($0.start, $0.count) < ($1.start, $1.count) }) where piece.count > 0 {
                let late = until == .min ? Double.infinity : Double(piece.start - until) * piece.rate / 1e9
                if late < -0.5 {
                    let known = min(piece.count, max(0, Int((-late).rounded())))
                    duplicates += known
                    if known == piece.count { continue }
                    piece.dropFirst(known)
                }
                let offset = until == .min ? Double.infinity : abs(Double(piece.start - until)) * piece.rate / 1e9
                until = piece.end
                if var run = open, offset <= max(1e-3, 2e-6 * piece.rate), run.unit == piece.unit,
                    abs(run.rate / piece.rate - 1) < 1e-6
                {
                    open = nil
                    for c in run.columns.indices { run.columns[c] += piece.columns[c] }
                    open = run
                } else {
                    if let open { runs.append(open) }
                    open = piece
                }
            }
            if let open { runs.append(open) }
        }
        return (runs, duplicates)
    }

    private struct Key<Name: Hashable>: Hashable {
        var name: Name
        /// Steps of 5 % of the rate, of which a channel has one: a rate that was found by the records' times and the one that
        /// a header says belong together.
        var step: Int

        init(_ name: Name, rate: Double) {
            self.name = name
            var (step, limit) = (0, 1e-3)
            while limit < rate * 0.9764, step < 2000 { (step, limit) = (step + 1, limit * 1.05) }
            self.step = step
        }
    }
}

/// Where a SeisComP Data Structure (SDS) keeps the records of a channel and day.
public enum DataStructure {
    /// `2026/XX/BASE/HNZ.D/XX.BASE.00.HNZ.D.2026.005`
    public static func path(of source: SourceIdentifier, at time: Int64) -> String {
        let day = CalendarTime(nanoseconds: time)
        let number = String("00\(day.dayOfYear)".suffix(3))
        let name = "\(source.network).\(source.station).\(source.location).\(source.channel).D.\(day.year).\(number)"
        return "\(day.year)/\(source.network)/\(source.station)/\(source.channel).D/\(name)"
    }

    /// The same run cut at midnight (UTC).
    public static func days(of run: ChannelRun) -> [ChannelRun] {
        var days: [ChannelRun] = []
        var rest = run
        while rest.count > 0 {
            let timeline = SampleTimeline(start: rest.start, rate: rest.rate)
            let (day, remainder) = rest.start.quotientAndRemainder(dividingBy: 86_400_000_000_000)
            let midnight = (remainder < 0 ? day : day + 1) * 86_400_000_000_000
            var first = max(1, timeline.nearestIndex(to: midnight))
            while first < rest.count, timeline.time(of: first) < midnight { first += 1 }
            while first > 1, timeline.time(of: first - 1) >= midnight { first -= 1 }
            var part = rest
            if first < rest.count {
                part.columns = rest.columns.map { Array($0.prefix(first)) }
                rest.dropFirst(first)
            } else {
                rest.columns = []
            }
            days.append(part)
        }
        return days
    }
}
