import Exchange
import Messages
import MiniSEED
import Settings
import Values

/// Reads what stations publish on `data/trace`, `data/history/trace` and `data/history/waveform/…`: JSON, CBOR or
/// miniSEED. All of it comes from outside.
public struct TraceReading: Sendable {
    /// m/s² of one count of all that the feed hands on, however the station sent it.
    public static let unitPerCount = CountScale().unitPerCount

    /// Which signals are read: `raw`, `filtered`, `rms`.
    public var signals: [String]
    /// Samples of a message at most.
    public var mostSamples = 200_000

    public init(signals: [String]) { self.signals = signals }

    /// - Parameters:
    ///   - codes: the station's.
    ///   - unit: m/s² of a count where it is miniSEED.
    /// - Returns: nil for what is no such message.
    public func blocks(_ payload: [UInt8], codes: ChannelCodes, unit: Double) -> [ChannelBlock]? {
        if payload.withUnsafeBytes({ MiniSEEDParser.recognises($0) }) { return records(payload, codes, unit) }
        let tree = payload.first == UInt8(ascii: "{") ? try? JSONReader.read(payload) : CBORReader.read(payload)
        guard let block = tree.flatMap(TraceBlockReading.init), block.time.isSensibleTime,
            SampleTimeline.rates.contains(block.rate)
        else { return nil }
        let (time, rate) = (block.time, block.rate)
        let scale = CountScale()
        var blocks: [ChannelBlock] = []
        for signal in signals {
            guard let content = Self.content(signal) else { continue }
            for (axis, name) in ["x", "y", "z"].enumerated() {
                guard let values = block.column(name, signal), !values.isEmpty, values.count <= mostSamples
                else { continue }
                let samples = values.compactMap { $0.number.map(scale.count) }
                guard samples.count == values.count else { return nil }
                blocks.append(
                    ChannelBlock(
                        source: codes.source(content, axis: axis, rate: rate), start: time, rate: rate, samples: samples
                    ))
            }
        }
        return blocks
    }

    /// - Returns: the records of our signals, under the station's codes.
    private func records(_ bytes: [UInt8], _ codes: ChannelCodes, _ unit: Double) -> [ChannelBlock]? {
        guard let runs = try? RecordedMessages.runs(bytes) else { return nil }
        let wanted = Set(signals.compactMap { Self.content($0)?.rawValue })
        var blocks: [ChannelBlock] = []
        for run in runs where wanted.contains(run.name.source) && run.count <= mostSamples {
            guard let samples = run.columns.first, run.start.isSensibleTime, SampleTimeline.rates.contains(run.rate)
            else { continue }
            var source = run.name
            (source.network, source.station, source.location) = (codes.network, codes.station, codes.location)
            let factor = (run.unit ?? unit) / Self.unitPerCount
            let scaled =
                abs(factor - 1) < 1e-9
                ? samples : samples.map { CountScale().count(Double($0) * factor * Self.unitPerCount) }
            // Records of a message follow each other: one block of them.
            if let last = blocks.last, last.source == source, last.rate == run.rate,
                abs(Double(last.end - run.start)) * run.rate / 1e9 <= 0.5
            {
                blocks[blocks.count - 1].samples += scaled
            } else {
                blocks.append(ChannelBlock(source: source, start: run.start, rate: run.rate, samples: scaled))
            }
        }
        return blocks
    }

    private static func content(_ signal: String) -> ChannelCodes.Content? {
        switch signal {
        case "raw": .acceleration
        case "filtered": .filtered
        case "rms": .rms
        default: nil
        }
    }
}

extension Int64 {
    /// Whether it is a time in nanoseconds that the feed takes (``Timestamp/sensible``).
    var isSensibleTime: Bool { Timestamp.sensible.contains(self) }

    /// A sensible time that a client has written. Years such as 2599 and 2999, which programs write for an open end and
    /// nanoseconds do not reach, are the last time that is sensible; years before 1920 the first.
    /// - Parameters:
    ///   - text: begins with four digits of the year.
    ///   - read: nanoseconds of a text of the years from 1920 to 2199; nil for what is no time.
    static func time(of text: String, _ read: (String) -> Int64?) -> Int64? {
        let digits = text.utf8.prefix(4)
        guard digits.count == 4, digits.allSatisfy({ $0.isDigit }), let year = Int(String(text.prefix(4))),
            !(1920...2199).contains(year)
        else {
            guard let time = read(text), time.isSensibleTime else { return nil }
            return time
        }
        // The rest of it has to be right all the same; a leap year has a 29 February.
        let isLeap = Timestamp.daysIn(month: 2, year: year) == 29
        guard read((isLeap ? "2000" : "2001") + text.dropFirst(4)) != nil else { return nil }
        return year < 1920 ? Timestamp.sensible.lowerBound : Timestamp.sensible.upperBound
    }
}
