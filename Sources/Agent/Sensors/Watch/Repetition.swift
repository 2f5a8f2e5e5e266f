import SignalProcessing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Finds a value that repeats itself for longer than it does by itself.
///
/// A MEMS sensor whose noise is about its smallest step or more hardly ever gives the same value on three axes twice. A
/// coarse one, whose noise is far below its step, may stand still for minutes and be well. So the share of repeated
/// samples is learned, over the last few thousand samples, and a run counts as stuck when it has lasted the shortest
/// time of all and would, with that share, come by once in 10⁹ samples.
struct Repetition: Sendable, Equatable {
    /// Samples since the start of the run that equal its first.
    private(set) var run = 0
    private(set) var isStuck = false
    /// Share of samples that equal the one before them.
    private(set) var share: Double
    /// Samples that a run must have whatever the share is.
    private let shortest: Int
    /// Samples at which the present run is stuck, once it has reached the shortest.
    private var limit = Int.max
    /// Changes since a run of half the shortest.
    private var changes = 0

    /// The share is learned over this many samples; a run counts as a third of them at most, so that a freeze of
    /// minutes does not pass for the sensor's nature.
    private static let memory = 3000.0
    private static let longestLesson = 1000
    /// A stuck value is a good one again after so many changes without a long run between them.
    private static let changesToClear = 3
    /// ln 10⁻⁹.
    private static let rare = -20.723

    init(shortest: Int, share: Double) {
        self.shortest = max(2, shortest)
        self.share = share
    }

    /// Takes a sample that equals the one before, or does not.
    @inline(__always)
    mutating func take(same: Bool) {
        if same {
            run += 1
            if run >= shortest / 2 { grow() }
        } else {
            if run > 0 { end() }
            share -= share * (1 / Self.memory)
            if isStuck { changed() }
        }
    }

    private mutating func grow() {
        if run == shortest / 2 { changes = 0 }
        if run == shortest {
            let expected = share > 0 ? Self.rare / log(min(share, 0.99999)) : 0
            limit = max(shortest, Int(expected))
        }
        if run >= shortest && run >= limit { isStuck = true }
    }

    private mutating func end() {
        share += (1 - share) * (Double(min(run, Self.longestLesson)) / Self.memory)
        run = 0
    }

    private mutating func changed() {
        changes += 1
        if changes >= Self.changesToClear {
            isStuck = false
            changes = 0
        }
    }
}
