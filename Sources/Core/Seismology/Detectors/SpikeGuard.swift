import SignalProcessing

/// Keeps a spike of a single sample from triggering the level of an axis.
///
/// Offset removal and filter spread a spike over a second and more, and the RMS keeps it for a whole window. But both are
/// linear: what they make of it is known as soon as the spike is (see ``SpikeFinder``). So a trigger counts from the sample
/// at which the RMS is above the threshold without the spikes as well, to its end. It is the RMS up to the sample before,
/// since of the newest sample nobody knows yet whether it is one. A trigger without any spike in its window is as it
/// would be without this guard, sample for sample. RMS and trigger of an axis, as published, are never changed.
///
/// A spike is above for one sample before it is known: the guard needs a hold of two samples or more.
struct SpikeGuard: Sendable {
    /// Offset removal for the samples after the guard, one sample late.
    private var offset: OffsetRemoval
    private var filter: AxisFilter
    /// For each axis, over the window of its RMS: by how much the squares are less without spikes.
    private var removed: [SlidingSum]
    private let windows: [Int]
    private let squares: [Double]
    /// Smaller spikes of each axis do not count, m/s².
    private let least: [Double]
    /// Samples after a spike until nothing is left of it, and how many of them are still to come; 0: none is about.
    private let lasting: Int
    private var left = 0
    /// Samples so far, as many as matter.
    private var seen = 0
    /// Filtered signal and RMS of the last sample.
    private var filtered = (0.0, 0.0, 0.0)
    private var rms = (0.0, 0.0, 0.0)
    /// Axes whose trigger has been found good, bits 0, 1, 2.
    private var good: UInt8 = 0

    /// Nil where the filters are not linear.
    init?(_ levels: DetectorContext.Levels, rate: Double, thresholds t: (x: Double, y: Double, z: Double)) {
        guard levels.filter.isLinear else { return nil }
        (offset, filter) = (levels.offset, levels.filter)
        windows = [levels.windows.x, levels.windows.y, levels.windows.z]
        squares = [t.x * t.x, t.y * t.y, t.z * t.z]
        removed = windows.map { SlidingSum(length: $0) }
        least = zip([t.x, t.y, t.z], windows).map(SpikeFinder.least)
        let settling = max(levels.offset.settlingTime, levels.settlingTime)
        lasting = (windows.max() ?? 1) + max(1, Int(min(2 * settling * rate, 1e9).rounded(.up)))
    }

    /// Whether another one has the same windows and thresholds.
    func isLike(_ other: SpikeGuard) -> Bool { windows == other.windows && squares == other.squares }

    /// Forgets all samples.
    mutating func reset() {
        (left, seen, good) = (0, 0, 0)
    }

    /// Takes away from the triggers (bits 0, 1, 2 for x, y, z) of a chunk what only spikes make.
    mutating func process(_ chunk: DetectorChunk, _ triggers: UnsafeMutablePointer<UInt8>) {
        let (count, stride, spikes) = (chunk.count, chunk.stride, chunk.scratch)
        guard count > 0 else { return }
        let found = take(chunk)
        if found || left > 0 {
            if !found { for axis in 0..<3 { (spikes + axis * stride).update(repeating: 0, count: count) } }
            for i in 0..<count { step(chunk, i, triggers) }
        } else {
            good = triggers[count - 1]
            seen = min(seen + count, lasting)
        }
        let (f, r, n) = (chunk.filtered + count - 1, chunk.rms + count - 1, stride)
        (filtered, rms) = ((f[0], f[n], f[2 * n]), (r[0], r[n], r[2 * n]))
    }

    /// Writes the chunk's spikes that are large enough where it works on them.
    /// - Returns: whether there is one; else nothing has been written.
    private func take(_ chunk: DetectorChunk) -> Bool {
        guard let spikes = chunk.spikes else { return false }
        var any = false
        for axis in 0..<3 {
            let (from, to) = (spikes + axis * chunk.stride, chunk.scratch + axis * chunk.stride)
            for i in 0..<chunk.count {
                to[i] = abs(from[i]) > least[axis] ? from[i] : 0
                if to[i] != 0 { any = true }
            }
        }
        return any
    }

    private mutating func step(_ chunk: DetectorChunk, _ i: Int, _ triggers: UnsafeMutablePointer<UInt8>) {
        let (s, n) = (chunk.scratch + i, chunk.stride)
        let isNew = s[0] != 0 || s[n] != 0 || s[2 * n] != 0
        defer { seen = min(seen + 1, lasting) }
        if left == 0 {
            guard isNew else {
                good = triggers[i]
                return
            }
            begin()
        }
        left = isNew ? lasting : left - 1
        offset.process(s, s + n, s + 2 * n, count: 1)
        filter.process(s, s + n, s + 2 * n, count: 1)
        if i > 0 {
            let (f, r) = (chunk.filtered + i - 1, chunk.rms + i - 1)
            (filtered, rms) = ((f[0], f[n], f[2 * n]), (r[0], r[n], r[2 * n]))
        }
        var above: UInt8 = 0
        if isAbove(0, s[0], filtered.0, rms.0) { above |= 1 }
        if isAbove(1, s[n], filtered.1, rms.1) { above |= 2 }
        if isAbove(2, s[2 * n], filtered.2, rms.2) { above |= 4 }
        good = (good | above) & triggers[i]
        triggers[i] = good
    }

    /// Whether the RMS up to the sample before is above the threshold without spikes.
    private mutating func isAbove(_ axis: Int, _ spike: Double, _ filtered: Double, _ rms: Double) -> Bool {
        // (f − s)² − f²
        let less = removed[axis].push(spike * (spike - 2 * filtered))
        if less == 0 { return true }
        return rms * rms + less / Double(max(1, min(seen, windows[axis]))) > squares[axis]
    }

    /// The filters at rest, as if there had always been nothing.
    private mutating func begin() {
        offset.reset()
        filter.reset()
        for axis in removed.indices { removed[axis].reset() }
        var (x, y, z) = (0.0, 0.0, 0.0)
        offset.process(&x, &y, &z, count: 1)
        filter.process(&x, &y, &z, count: 1)
    }
}
