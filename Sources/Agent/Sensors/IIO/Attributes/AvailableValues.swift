/// Values that an attribute can have, as its `_available` file lists them: `1 10 25 50` or `[0.5 0.5 100]`, lowest,
/// step and highest (Documentation/ABI/testing/sysfs-bus-iio).
public enum AvailableValues: Sendable, Equatable {
    case list([Double])
    case range(lowest: Double, step: Double, highest: Double)

    /// Nil for a text without a number that can be used.
    public init?(_ text: String) {
        var numbers: [Double] = []
        for word in text.split(whereSeparator: { " \t\n[]".contains($0) }) {
            guard let number = Double(word), number.isFinite else { continue }
            numbers.append(number)
        }
        if text.contains("["), numbers.count == 3, numbers[2] >= numbers[0] {
            self = .range(lowest: numbers[0], step: numbers[1], highest: numbers[2])
        } else if numbers.isEmpty {
            return nil
        } else {
            self = .list(numbers)
        }
    }

    /// The value nearest to one, by ratio: to 100, 200 is as far as 50. Not more than 0 is never chosen.
    public func nearest(to wanted: Double) -> Double? {
        switch self {
        case .list(let values):
            return values.filter { $0 > 0 }.min { Self.distance($0, wanted) < Self.distance($1, wanted) }
        case .range(let lowest, let step, let highest):
            let inside = min(max(wanted, lowest), highest)
            let onStep = step > 0 ? lowest + ((inside - lowest) / step).rounded() * step : inside
            let value = min(onStep, highest)
            return value > 0 ? value : nil
        }
    }

    /// The smallest value that is not below one, or else the largest.
    public func atLeast(_ wanted: Double) -> Double? {
        switch self {
        case .list(let values):
            let good = values.filter { $0 > 0 }
            return good.filter { $0 >= wanted * 0.999 }.min() ?? good.max()
        case .range(let lowest, let step, let highest):
            guard wanted > lowest, wanted < highest, step > 0 else { return nearest(to: wanted) }
            return min(lowest + ((wanted - lowest) / step - 1e-6).rounded(.up) * step, highest)
        }
    }

    private static func distance(_ a: Double, _ b: Double) -> Double { a > b ? a / b : b / a }
}
