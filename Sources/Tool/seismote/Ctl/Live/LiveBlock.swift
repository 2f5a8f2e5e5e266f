import Messages
import MiniSEED
import Settings
import Values

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
        guard let text = block["t"]?.rawText, let time = Timestamp(text), let rate = block["rate_hz"]?.number,
            rate > 0, rate <= 1e6,
            let signal = ["filtered", "raw", "rms"].first(where: { block["x", $0]?.list != nil })
        else { return nil }
        start = Double(time.nanoseconds) / 1e9
        (self.rate, self.signal) = (rate, signal)
        values = ["x", "y", "z"].map { axis in (block[axis, signal]?.list ?? []).map { $0.number ?? .nan } }
        triggers = ["x", "y", "z"].map { axis in (block[axis, "triggered"]?.list ?? []).map { $0.number == 1 } }
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
