/// Natural modes that are recognised from period to period, so that each keeps its number while temperature, wind and what
/// stands in the building move its frequency. A mode of a period is that one whose frequency is within 4 % and whose shape is
/// alike; of several the nearest. What is like none gets the next number. Numbers are not given twice.
public struct FollowedModes: Sendable, Equatable {
    private struct One: Sendable, Equatable {
        var id: Int
        /// Hz: the mean of the last few periods.
        var frequency: Double
        var shape: [Double]

        /// 0 (the same) to 2; nil: it is another one.
        func distance(to mode: StructureMode) -> Double? {
            let off = abs(mode.frequency / frequency - 1) / FollowedModes.tolerance
            guard off < 1 else { return nil }
            func product(_ a: [Double], _ b: [Double]) -> Double { zip(a, b).reduce(0) { $0 + $1.0 * $1.1 } }
            let both = product(shape, mode.shape)
            let sizes = product(shape, shape) * product(mode.shape, mode.shape)
            // (The modal assurance criterion; a shape that is not known is like any.)
            let likeness = sizes > 0 ? both * both / sizes : 1
            return likeness < FollowedModes.leastLikeness ? nil : off + 1 - likeness
        }
    }

    /// Modes that are followed at once: those that were seen last.
    public static let most = 64
    private static let tolerance = 0.04
    private static let leastLikeness = 0.6
    /// Weight of the newest period in the mean.
    private static let share = 0.25

    /// The one that was seen last comes last.
    private var all: [One] = []
    private var next = 1

    public init() {}

    /// Gives each mode of the next period its number.
    public mutating func recognise(_ modes: inout [StructureMode]) {
        var pairs: [(mode: Int, one: Int, distance: Double)] = []
        for i in modes.indices {
            for k in all.indices {
                if let distance = all[k].distance(to: modes[i]) { pairs.append((i, k, distance)) }
            }
        }
        pairs.sort { $0.distance < $1.distance }
        for i in modes.indices { modes[i].id = nil }
        var taken = [Bool](repeating: false, count: all.count)
        for pair in pairs where modes[pair.mode].id == nil && !taken[pair.one] {
            modes[pair.mode].id = all[pair.one].id
            taken[pair.one] = true
        }
        for i in modes.indices where modes[i].id == nil {
            modes[i].id = next
            next += 1
        }
        recall(modes)
    }

    /// Goes on from a period whose modes have their numbers.
    public mutating func recall(_ modes: [StructureMode]) {
        for mode in modes {
            guard let id = mode.id, mode.frequency > 0 else { continue }
            next = max(next, id + 1)
            var one = One(id: id, frequency: mode.frequency, shape: mode.shape)
            if let index = all.firstIndex(where: { $0.id == id }) {
                one.frequency = all[index].frequency
                one.frequency += Self.share * (mode.frequency - one.frequency)
                all.remove(at: index)
            } else if all.count >= Self.most {
                all.removeFirst()
            }
            all.append(one)
        }
    }
}
