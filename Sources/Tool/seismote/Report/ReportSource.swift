import Glibc
import Messages
import Settings
import Values
import Vibration

/// Data that a report is made of: intervals of vibration, natural modes, and what the station says of itself.
struct ReportSource {
    let station: String
    /// Nanoseconds of UTC.
    let range: Range<Int64>
    private(set) var records: [VibrationRecord] = []
    private(set) var modes: [ModesMessage] = []
    /// `state/info`, and the settings of `state/config`; nil: not known.
    var info: Value?
    var settings: Value?
    /// The limit that the newest message names.
    private var named: (start: Int64, limit: VibrationLimit)?

    var isEmpty: Bool { records.isEmpty && modes.isEmpty }

    /// The limit that the station compares with; nil: none, or it is not known.
    var limit: VibrationLimit? {
        settings?["vibration", "limit"]?.rawText.map { VibrationLimit($0) } ?? named?.limit
    }

    /// A number among the settings of vibration; nil: not known.
    func setting(_ name: String) -> Double? { settings?["vibration", name]?.number }

    init(station: String, range: Range<Int64>) { (self.station, self.range) = (station, range) }

    /// Adds what the station has answered, as far as it belongs to the time.
    mutating func take(_ columns: VibrationColumns) { records += columns.records.filter { range.contains($0.start) } }

    mutating func take(_ columns: ModesColumns) { modes += columns.periods.filter { range.contains($0.start) } }

    struct ReadError: Error { var code: Int32 }

    /// Reads messages, one a line.
    mutating func read(_ path: String) throws(ReadError) {
        let file = fopen(path == "-" ? "/dev/stdin" : path, "re")
        guard let file else { throw ReadError(code: errno) }
        defer { fclose(file) }
        var (line, capacity): (UnsafeMutablePointer<CChar>?, Int) = (nil, 0)
        defer { free(line) }
        while true {
            let count = getline(&line, &capacity, file)
            guard count > 0, let line else { break }
            take(UnsafeRawBufferPointer(start: line, count: count))
        }
    }

    /// A line in whichever of the three forms it is; others than those of the station count for nothing.
    private mutating func take(_ line: UnsafeRawBufferPointer) {
        // (A day has millions of other messages.)
        guard let brace = line.firstIndex(of: UInt8(ascii: "{")) else { return }
        let topic = String(decoding: line[..<brace], as: UTF8.self)
        guard topic.isEmpty || ["/vibration", "/modes", "/info", "/config"].contains(where: topic.contains) else {
            return
        }
        guard let value = try? JSONReader.read(Array(line[brace...])) else { return }
        let message = value["payload"] ?? value
        if message["station", "id"]?.rawText == station, message["agent"] != nil {
            info = message
        } else if message["station"]?.rawText == station {
            if let record = VibrationRecord(message) {
                guard range.contains(record.start) else { return }
                records.append(record)
                if record.start >= named?.start ?? .min,
                    let limit = message["limit", "name"]?.rawText.flatMap({ VibrationLimit($0) })
                {
                    named = (record.start, limit)
                }
            } else if let period = ModesMessage(message) {
                if range.contains(period.start) { modes.append(period) }
            } else if message["rev"] != nil, let all = message["config"] {
                settings = all
            }
        }
    }
}
