/// Decides when a program publishes its own value on a retained topic again, after another client has written one. Pure.
///
/// A bridge of two brokers brings the last will of an earlier connection late, or an old value; any account with the right
/// may write. Readers believe what they find. The program's value follows after a moment, in which it may come back behind
/// an older one by itself. Pauses double, so that two programs of one name do not fight.
public struct RetainedCorrection: Sendable, Equatable {
    /// From another value to the correction (ns).
    public static var moment: UInt64 { 300_000_000 }
    /// Between two corrections: at first, and at most (ns).
    public static var shortest: UInt64 { 1_000_000_000 }
    public static var longest: UInt64 { 300_000_000_000 }
    /// Corrections are forgotten after this time without another (ns).
    public static var memory: UInt64 { 600_000_000_000 }

    /// When the next correction is due; nil: the value stands.
    public private(set) var due: UInt64?
    private var corrected: UInt64?
    private var pause = RetainedCorrection.shortest

    public init() {}

    /// Takes a message on the topic.
    /// - Parameter now: nanoseconds of a clock that does not go back.
    public mutating func heard(isOwn: Bool, now: UInt64) {
        if isOwn {
            due = nil
        } else if due == nil {
            due = max(now + Self.moment, corrected.map { $0 + pause } ?? 0)
        }
    }

    /// Returns whether the value is to be published again now.
    /// - Parameter isPresence: pauses do not grow, so that who is there never counts as gone for long.
    public mutating func takeDue(now: UInt64, isPresence: Bool = false) -> Bool {
        guard let due, now >= due else { return false }
        if isForgotten(at: now) {
            pause = Self.shortest
        } else if !isPresence {
            pause = min(2 * pause, Self.longest)
        }
        (self.due, corrected) = (nil, now)
        return true
    }

    /// Whether nothing is due, and there has been no correction for long.
    public func isOver(now: UInt64) -> Bool { due == nil && isForgotten(at: now) }

    private func isForgotten(at now: UInt64) -> Bool {
        corrected.map { now - min(now, $0) >= Self.memory } ?? true
    }

    /// A connection is over: all is published anew in the next one.
    public mutating func disconnected() { due = nil }
}
