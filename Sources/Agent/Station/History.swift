import Seismology

/// The last samples, kept for what an event needs of the time before it. Rings of fixed size.
struct History: Sendable {
    /// Ground motion before an event.
    private var motion: [MotionSample]
    private var motionTimes: [Int64]
    private var motionIndexes: [Int64]
    /// Full-rate samples that a waveform may still need: the time before an event and one message's worth.
    private var raw: [Double]
    private var rawTimes: [Int64]
    /// Samples pushed since the start; the ring holds the last ones.
    private(set) var pushed = 0
    /// Numbers of the first samples that this history has seen.
    private var firstMotion = 0
    private var firstRaw = 0
    /// Where the next sample goes in each ring.
    private var motionPlace = 0
    private var rawPlace = 0

    /// - Parameters:
    ///   - before: samples of context before an event.
    ///   - waveform: full-rate samples to keep, at least `before`.
    init(before: Int, waveform: Int) {
        let zero = MotionSample(ax: 0, ay: 0, az: 0, vx: 0, vy: 0, vz: 0)
        motion = [MotionSample](repeating: zero, count: before)
        motionTimes = [Int64](repeating: 0, count: before)
        motionIndexes = motionTimes
        let kept = max(before, waveform, 1)
        raw = [Double](repeating: 0, count: 3 * kept)
        rawTimes = [Int64](repeating: 0, count: kept)
    }

    /// Number of the oldest full-rate sample that is still there.
    var oldestRaw: Int { max(firstRaw, pushed - rawTimes.count) }
    /// Samples of motion there are.
    var motionCount: Int { min(pushed - firstMotion, motion.count) }

    /// Samples of motion that are kept where none is missing.
    var before: Int { motion.count }

    /// How many of the last samples of motion have this index or a higher one: those behind a gap count as what is missing too.
    func count(since index: Int64) -> Int {
        var first = 0
        while first < motionCount, motion(first).index < index { first += 1 }
        return motionCount - first
    }

    /// Takes over the samples, and their numbers, of a history of another size, as far as there is room.
    mutating func takeOver(_ old: History) {
        if motion.count == old.motion.count, rawTimes.count == old.rawTimes.count {
            self = old
            return
        }
        pushed = max(old.oldestRaw, old.pushed - max(rawTimes.count, motion.count))
        firstRaw = pushed
        firstMotion = max(pushed, old.pushed - old.motionCount)
        motionPlace = motion.isEmpty ? 0 : pushed % motion.count
        rawPlace = pushed % rawTimes.count
        while pushed < old.pushed {
            let place = old.motion.isEmpty ? 0 : pushed % old.motion.count
            let isThere = pushed >= firstMotion
            push(
                isThere ? old.motion[place] : MotionSample(ax: 0, ay: 0, az: 0),
                raw: (old.rawValue(pushed, axis: 0), old.rawValue(pushed, axis: 1), old.rawValue(pushed, axis: 2)),
                time: old.rawTime(pushed), index: isThere ? old.motionIndexes[place] : 0)
        }
    }

    private mutating func push(
        _ sample: MotionSample, raw values: (x: Double, y: Double, z: Double), time: Int64, index: Int64
    ) {
        if !motion.isEmpty {
            (motion[motionPlace], motionTimes[motionPlace], motionIndexes[motionPlace]) = (sample, time, index)
            motionPlace = motionPlace + 1 == motion.count ? 0 : motionPlace + 1
        }
        let k = rawPlace
        rawPlace = k + 1 == rawTimes.count ? 0 : k + 1
        (raw[3 * k], raw[3 * k + 1], raw[3 * k + 2], rawTimes[k]) = (values.x, values.y, values.z, time)
        pushed += 1
    }

    /// Takes `count` samples of a chunk from its sample `i` on.
    /// - Parameter index: of sample `i`, since the start of the agent.
    mutating func push(_ planes: borrowing Planes, _ i: Int, count: Int, index: Int64) {
        let capacity = Planes.capacity
        let times = planes.times + i
        if !motion.isEmpty {
            var place = motionPlace
            let size = motion.count
            motion.withUnsafeMutableBufferPointer { motion in
                motionTimes.withUnsafeMutableBufferPointer { kept in
                    motionIndexes.withUnsafeMutableBufferPointer { indexes in
                        for k in 0..<count {
                            motion[place] = planes.motion(i + k)
                            kept[place] = times[k]
                            indexes[place] = index + Int64(k)
                            place = place + 1 == size ? 0 : place + 1
                        }
                    }
                }
            }
            motionPlace = place
        }
        var place = rawPlace
        let (x, size) = (planes.raw + i, rawTimes.count)
        raw.withUnsafeMutableBufferPointer { raw in
            rawTimes.withUnsafeMutableBufferPointer { kept in
                for k in 0..<count {
                    (raw[3 * place], raw[3 * place + 1], raw[3 * place + 2]) = (
                        x[k], x[capacity + k], x[2 * capacity + k]
                    )
                    kept[place] = times[k]
                    place = place + 1 == size ? 0 : place + 1
                }
            }
        }
        rawPlace = place
        pushed += count
    }

    /// A sample of motion, its time and its index; 0 is the oldest of the `motionCount` there are.
    func motion(_ n: Int) -> (MotionSample, time: Int64, index: Int64) {
        let place = (pushed - motionCount + n) % motion.count
        return (motion[place], motionTimes[place], motionIndexes[place])
    }

    /// One full-rate value by the sample's number.
    func rawValue(_ number: Int, axis: Int) -> Double { raw[3 * (number % rawTimes.count) + axis] }

    func rawTime(_ number: Int) -> Int64 { rawTimes[number % rawTimes.count] }
}
