import Messages

/// The newest samples of a station's traces.
struct TraceHistory {
    private struct Sample {
        /// Seconds of UTC.
        var time: Double
        var values: SIMD3<Double>
        /// Triggered axes, bits 0, 1, 2.
        var triggers: UInt8
    }

    /// What one column of dots shows.
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

    /// Takes a block of `data/trace` in; what is not one is left alone.
    /// - Parameter seconds: what is older than that is forgotten.
    mutating func take(_ block: Value, keeping seconds: Double) {
        guard let text = block["t"]?.rawText, let time = Timestamp(text), let rate = block["rate_hz"]?.real,
            rate > 0, rate <= 1e6,
            let signal = ["filtered", "raw", "rms"].first(where: { block["x", $0]?.list != nil })
        else { return }
        let axes = ["x", "y", "z"].map { block[$0, signal]?.list ?? [] }
        let triggers = ["x", "y", "z"].map { block[$0, "triggered"]?.list ?? [] }
        let start = Double(time.nanoseconds) / 1e9
        // Another signal, or a clock that was set back: the rest does not fit any more.
        if signal != self.signal || start < samples.last?.time ?? start - 1 { samples.removeAll() }
        (self.signal, self.rate) = (signal, rate)
        for i in 0..<axes[0].count {
            var sample = Sample(time: start + Double(i) / rate, values: .zero, triggers: 0)
            for axis in 0..<3 {
                sample.values[axis] = i < axes[axis].count ? axes[axis][i].real ?? .nan : .nan
                if i < triggers[axis].count, triggers[axis][i].real == 1 { sample.triggers |= 1 << UInt8(axis) }
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
