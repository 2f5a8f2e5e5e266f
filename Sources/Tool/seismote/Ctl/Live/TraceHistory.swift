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
