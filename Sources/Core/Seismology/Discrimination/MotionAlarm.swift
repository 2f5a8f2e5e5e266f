/// Whether the ground has moved as fast as an alarm asks for, and twice as fast as ever in the 13 s before, in each of the
/// triggers that ``Discriminator`` judges: from half a second before its onset to its end, for 5 s at least. (White noise of
/// 1 µg/√Hz has a median largest velocity of 7.9e-4 cm/s: that of a poor sensor is no reason for an alarm.)
struct MotionAlarm: Sendable {
    private let rate: Double
    /// Square of the 3-D velocity, m²/s².
    private let threshold: Double
    /// Triggers of each judging: the sample until which it counts in any case, whether the trigger has lasted since its
    /// onset, and the square of the velocity that it asks for.
    private var triggers = Array(repeating: (least: 0, lasts: false, asked: 0.0), count: Discriminator.most)
    /// As bits.
    private(set) var moved: UInt8 = 0

    /// - Parameters:
    ///   - velocity: m/s.
    ///   - rate: samples per second.
    init(velocity: Double, rate: Double) { (threshold, self.rate) = (velocity * velocity, rate) }

    /// Forgets the event.
    mutating func reset() {
        moved = 0
        for k in triggers.indices { triggers[k] = (0, false, 0) }
    }

    /// Trigger `k` begins with sample `i`.
    mutating func begin(_ k: Int, _ motion: RapidMotion, at i: Int) {
        func samples(_ seconds: Double) -> Int { Int((seconds * rate).rounded(.toNearestOrEven)) }
        var before = 0.0
        for j in max(0, i - samples(RapidMotion.past))..<max(1, i - samples(2)) { before = max(before, motion[j].x) }
        let asked = max(threshold, 4 * before)
        triggers[k] = (i + samples(5), true, asked)
        moved &= ~(1 << UInt8(k))
        for j in max(0, i - samples(0.5))..<i where motion[j].x >= asked { moved |= 1 << UInt8(k) }
    }

    /// Takes sample `i` of an event, in a trigger or not.
    mutating func step(_ motion: RapidMotion, at i: Int, on: Bool) {
        for k in triggers.indices {
            if !on { triggers[k].lasts = false }
            if motion[i].x >= triggers[k].asked, triggers[k].lasts || i < triggers[k].least { moved |= 1 << UInt8(k) }
        }
    }
}
