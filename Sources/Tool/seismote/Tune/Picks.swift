import Glibc
import SignalProcessing

/// Arrival times that somebody has picked, in seconds from a recording's first sample.
struct Pick: Equatable {
    var p: Double
    /// Nil when it is not known.
    var s: Double?
}

/// A file of picks: lines `file,p_s,s_s`. A recording may have several lines; a line without times says that there is
/// nothing in it.
struct Picks {
    private var byName: [String: [Pick]] = [:]

    /// Picks of a recording by its path: by the whole name, or without its ending; nil when the file does not speak of
    /// it.
    func of(_ path: String) -> [Pick]? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return byName[name] ?? byName[Self.stem(name)]
    }

    private static func stem(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// - Throws: a line for each line of the file that cannot be read.
    init(path: String) throws(TuneError) {
        guard let text = Self.read(path) else {
            throw TuneError(
                status: .data, lines: ["\(path): cannot read the file: \(String(cString: strerror(errno)))"])
        }
        var errors: [String] = []
        for (number, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = raw.filter { $0 != "\r" && $0 != " " }
            if line.isEmpty || line.hasPrefix("#") || (number == 0 && line.hasPrefix("file,")) { continue }
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let times = fields.dropFirst().filter { !$0.isEmpty }.map { Double($0) }
            guard (1...3).contains(fields.count), !fields[0].isEmpty, times.allSatisfy({ $0?.isFinite == true }),
                !(times.count == 1 && fields[1].isEmpty)
            else {
                errors.append("\(path):\(number + 1): the line must have the form file,p_s,s_s: `\(raw.prefix(60))`")
                continue
            }
            let name = fields[0].split(separator: "/").last.map(String.init) ?? fields[0]
            let both = times.compactMap { $0 }
            if both.count == 2, both[1] < both[0] {
                errors.append("\(path):\(number + 1): S comes before P: `\(raw.prefix(60))`")
                continue
            }
            byName[name, default: []] += both.first.map { [Pick(p: $0, s: both.count == 2 ? both[1] : nil)] } ?? []
        }
        guard errors.isEmpty else { throw TuneError(status: .data, lines: errors) }
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count < 1 << 26 else { break }
        }
        return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}

/// Finds earthquakes in a recording by a rule that knows nothing of the detectors that are tried on it, and can look
/// ahead: the RMS over 1 s of the 3-D vector from 1 to 8 Hz beside its quiet level, the 10 % quantile of 10 minutes.
struct Shaking {
    /// A stretch of time, in seconds from the recording's first sample.
    struct Stretch: Equatable {
        var begin: Double
        var end: Double
        /// Largest RMS over the quiet level.
        var peak: Double
        /// When that is.
        var peakTime: Double
        /// Strong enough to be one to catch; weaker ones are neither event nor quiet.
        var isEvent: Bool { peak >= 10 }
    }

    /// The rule, for people.
    static let rule =
        "where the RMS over 1 s of the 3-D vector from 1 to 8 Hz is above 3 times its quiet level (the 10 % quantile "
        + "of 10 minutes) for 4 s or more and reaches 10 times; the event begins with the 3 times"

    private var filter: AxisFilter
    private var sum: SlidingSum
    private let every: Int
    private let settle: Int
    private var levels: [(time: Double, rms: Double)] = []
    private var x: [Double] = []
    private var y: [Double] = []
    private var z: [Double] = []
    private var seen = 0

    init(rate: Double) throws(FilterDesignError) {
        let high = min(8, 0.4 * rate)
        let design = try FilterSpecification.butterworth(
            .init(band: .bandpass, corners: [min(1, high / 8), high], order: 2)
        ).design(rate: rate)
        filter = AxisFilter(design, design, design)
        sum = SlidingSum(length: WindowLength.seconds(1).samples(at: rate))
        every = max(1, Int((rate / 10).rounded()))
        settle = Int(((design.settlingTime(rate: rate) + 1) * rate).rounded())
    }

    /// The samples of a chunk, offset removed; `time` is that of its first sample.
    mutating func add(
        _ signal: UnsafePointer<Double>, stride: Int, count: Int, time: Double, rate: Double, startsStretch: Bool
    ) {
        if startsStretch {
            filter.reset()
            sum.reset()
            seen = 0
        }
        x = Array(UnsafeBufferPointer(start: signal, count: count))
        y = Array(UnsafeBufferPointer(start: signal + stride, count: count))
        z = Array(UnsafeBufferPointer(start: signal + 2 * stride, count: count))
        filter.process(&x, &y, &z, count: count)
        for i in 0..<count {
            let total = sum.push(x[i] * x[i] + y[i] * y[i] + z[i] * z[i])
            seen += 1
            if seen > settle, seen % every == 0 {
                levels.append((time + Double(i) / rate, (total / Double(sum.count)).squareRoot()))
            }
        }
    }

    /// Median of the RMS in m/s²; nil for a recording of a few seconds.
    var median: Double? { levels.isEmpty ? nil : levels.map(\.rms).sorted()[levels.count / 2] }

    /// All stretches of strong and of doubtful shaking.
    func stretches() -> [Stretch] {
        let quiet = quietLevels()
        var found: [Stretch] = []
        var open: (stretch: Stretch, last: Double)?
        func close() {
            guard case (var stretch, let last)? = open else { return }
            stretch.end = last
            if last - stretch.begin >= 4, stretch.peak >= 5 { found.append(stretch) }
            open = nil
        }
        for (level, quiet) in zip(levels, quiet) where quiet > 0 {
            if let last = open?.last, level.time - last > 5 { close() }
            let ratio = level.rms / quiet
            guard ratio >= 3 else { continue }
            var (stretch, _) =
                open ?? (Stretch(begin: level.time, end: level.time, peak: ratio, peakTime: level.time), level.time)
            if ratio > stretch.peak { (stretch.peak, stretch.peakTime) = (ratio, level.time) }
            open = (stretch, level.time)
        }
        close()
        return found
    }

    /// The quiet level at each of the levels.
    private func quietLevels() -> [Double] {
        guard let first = levels.first, let last = levels.last else { return [] }
        // Blocks of equal length, as near to 10 minutes as goes.
        let blocks = max(1, Int(((last.time - first.time) / 600).rounded()))
        let length = (last.time - first.time) / Double(blocks) + 1e-9
        var sorted = [[Double]](repeating: [], count: blocks)
        func block(_ time: Double) -> Int { length > 1e-6 ? min(blocks - 1, Int((time - first.time) / length)) : 0 }
        for level in levels where level.rms > 0 { sorted[block(level.time)].append(level.rms) }
        let quiet = sorted.map { values in values.isEmpty ? 0 : values.sorted()[values.count / 10] }
        return levels.map { quiet[block($0.time)] }
    }
}
