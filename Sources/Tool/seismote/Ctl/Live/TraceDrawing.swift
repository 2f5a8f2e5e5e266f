import Glibc

/// One axis of a trace, drawn.
struct TraceDrawing {
    /// Rows of the curve from the top, and one below that marks where the axis was triggered.
    var rows: [[Character]]
    var marks: [Bool]

    /// - Parameter columns: two for each character.
    init(_ columns: [TraceHistory.Column?], rows: Int, scale: Double) {
        let width = columns.count / 2
        var field = BrailleField(width: width, rows: rows)
        marks = [Bool](repeating: false, count: width)
        let height = Double(4 * rows - 1)
        func dot(_ value: Double) -> Int {
            Int(((1 - max(-1, min(1, value / scale))) / 2 * height).rounded())
        }
        var before: TraceHistory.Column?
        for (x, column) in columns.enumerated() {
            defer { before = column }
            guard let column else { continue }
            // Joined with the column before.
            let low = min(column.low, before?.high ?? column.low)
            let high = max(column.high, before?.low ?? column.high)
            for y in dot(high)...dot(low) { field.set(x, y) }
            if column.isTriggered, x / 2 < width { marks[x / 2] = true }
        }
        self.rows = (0..<rows).map { field.characters(row: $0) }
    }

    /// 1, 2 or 5 times a power of ten that nothing goes beyond.
    static func scale(_ columns: [[TraceHistory.Column?]]) -> Double {
        let largest = columns.joined().reduce(1e-6) { max($0, abs($1?.low ?? 0), abs($1?.high ?? 0)) }
        let power = pow(10, floor(log10(largest)))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= largest } ?? largest
    }

    /// A level as a bar over the decades from 10 µm/s² to 10 m/s², its peak marked.
    static func bar(rms: Double?, peak: Double?, width: Int) -> String {
        func place(_ value: Double?) -> Int {
            guard let value, value > 0 else { return 0 }
            return Int((Double(width) * (log10(value) + 5) / 6).rounded()).clamped(0, width)
        }
        let (filled, top) = (place(rms), place(peak))
        return String((1...max(1, width)).map { $0 <= filled ? "█" : $0 == top ? "│" : "·" })
    }
}

extension Int {
    fileprivate func clamped(_ low: Int, _ high: Int) -> Int { Swift.min(Swift.max(self, low), high) }
}

/// The newest samples of a station's traces.
struct TraceHistory {
    private struct Sample {
        /// Seconds of UTC.
        var time: Double
        var values: SIMD3<Double>
        /// Triggered axes, bits 0, 1, 2.
        var triggers: UInt8
    }

    /// One column of dots.
    struct Column {
        var low: Double
        var high: Double
        var isTriggered: Bool
    }

    private static let limit = 500_000

    private var samples: [Sample] = []
    /// Which signal is there: filtered if it is sent, else raw without its mean, else rms.
    private(set) var signal = ""
    private(set) var rate = 0.0

    /// - Parameter seconds: what is older than that is forgotten.
    mutating func take(_ block: LiveBlock, keeping seconds: Double) {
        let (axes, triggers, start) = (block.values, block.triggers, block.start)
        // Another signal, or a clock that was set back: the rest does not fit any more.
        if block.signal != signal || start < samples.last?.time ?? start - 1 { samples.removeAll() }
        (signal, rate) = (block.signal, block.rate)
        for i in 0..<(axes.map(\.count).max() ?? 0) {
            var sample = Sample(time: start + Double(i) / rate, values: .zero, triggers: 0)
            for axis in 0..<3 {
                sample.values[axis] = i < axes[axis].count ? axes[axis][i] : .nan
                if i < triggers[axis].count, triggers[axis][i] { sample.triggers |= 1 << UInt8(axis) }
            }
            samples.append(sample)
        }
        let oldest = (samples.last?.time ?? 0) - seconds
        let old = samples.firstIndex { $0.time >= oldest } ?? 0
        samples.removeFirst(max(old, samples.count - Self.limit))
    }

    var isEmpty: Bool { samples.isEmpty }

    /// The last seconds of an axis in so many columns, oldest first; nil where there is no sample.
    func columns(axis: Int, count: Int, seconds: Double) -> [Column?] {
        var columns = [Column?](repeating: nil, count: count)
        guard let last = samples.last?.time, count > 0 else { return columns }
        let mean = signal == "raw" ? self.mean(axis) : 0
        let bit = UInt8(1) << UInt8(axis)
        for sample in samples {
            // Each sample lasts until the next one, so that there are no holes between them.
            let age = last - sample.time
            let first = Int((Double(count) * (1 - (age + 1 / max(rate, 1e-3)) / seconds)).rounded(.up))
            let end = Int((Double(count) * (1 - age / seconds)).rounded(.up))
            let value = sample.values[axis] - mean
            guard value.isFinite, end > 0 else { continue }
            let isTriggered = sample.triggers & bit != 0
            for i in max(0, min(first, end - 1))..<min(end, count) {
                columns[i] = Column(
                    low: min(value, columns[i]?.low ?? value), high: max(value, columns[i]?.high ?? value),
                    isTriggered: isTriggered || columns[i]?.isTriggered == true)
            }
        }
        return columns
    }

    private func mean(_ axis: Int) -> Double {
        let values = samples.map { $0.values[axis] }.filter(\.isFinite)
        return values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
    }
}
