import SignalProcessing

/// The first motion of the ground: which way it went at the arrival.
public struct FirstMotion: Sendable, Equatable {
    /// 0, 1, 2.
    public var axis: Int
    /// True along the axis, false against it.
    public var positive: Bool
    /// Place in the record of the first sample of that half cycle.
    public var place: Int
}

extension EventRecord {
    /// Seconds after the onset in which it is looked for.
    public static let firstMotionSearch = 1.0

    /// Looks for the first motion; nil where it is not plain.
    ///
    /// The noise is that of the first half of the time before the onset (at least a second, no gap up to the onset). An
    /// axis has moved with the first sample beyond five times its RMS, and 1.5 times its largest value, about its mean;
    /// the motion began after the last change of sign before that, and its sign is that of this half cycle. It is plain
    /// where the half cycle is at least twice as large as the one before it: an emergent arrival says nothing of
    /// polarity (compare Baer & Kradolfer 1987, BSSA 77, for thresholds by the noise and a signal that must last).
    /// The vertical is taken unless a horizontal axis moved more than 0.2 s before it.
    public func firstMotion() -> FirstMotion? {
        let noise = onset / 2
        guard noise >= max(8, Int(rate)), segments.allSatisfy({ $0.first == 0 || $0.first > onset }) else { return nil }
        let end = min(count, onset + max(1, Int((Self.firstMotionSearch * rate).rounded())))
        var found: (axis: Int, at: Int, mean: Double)?
        for axis in [2, 0, 1] {
            guard let (at, mean) = excursion(axis, noise: noise, end: end) else { continue }
            let lead = found.map { $0.axis == 2 ? Int(0.2 * rate) : 0 } ?? 0
            if let found, at >= found.at - lead { continue }
            found = (axis, at, mean)
        }
        guard let found else { return nil }
        let positive = value(axis: found.axis, found.at) > found.mean
        func height(_ i: Int) -> Double { (value(axis: found.axis, i) - found.mean) * (positive ? 1 : -1) }
        var start = found.at
        while start > 0, height(start - 1) > 0 { start -= 1 }
        var peak = 0.0
        var i = start
        while i < count, height(i) > 0 {
            peak = max(peak, height(i))
            i += 1
        }
        var before = 0.0
        i = start - 1
        while i >= 0, height(i) <= 0 {
            before = max(before, -height(i))
            i -= 1
        }
        guard peak >= 2 * before else { return nil }
        return FirstMotion(axis: found.axis, positive: positive, place: start)
    }

    /// The first sample of an axis that stands out of its noise, and the noise's mean.
    private func excursion(_ axis: Int, noise: Int, end: Int) -> (Int, Double)? {
        var mean = 0.0
        for i in 0..<noise { mean += value(axis: axis, i) }
        mean /= Double(noise)
        var (squares, largest) = (0.0, 0.0)
        for i in 0..<noise {
            let height = abs(value(axis: axis, i) - mean)
            squares += height * height
            largest = max(largest, height)
        }
        let limit = max(5 * (squares / Double(noise)).squareRoot(), 1.5 * largest)
        var i = noise
        while i < end {
            if abs(value(axis: axis, i) - mean) > limit { return (i, mean) }
            i += 1
        }
        return nil
    }
}
