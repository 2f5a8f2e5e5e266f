/// Reason why a filter cannot be made.
public enum FilterDesignError: Error, Sendable, Equatable {
    /// The order is not within 1…10.
    case order(Int)
    /// Another parameter that is not within its limits.
    case parameter(String, Double, Interval)
    /// One corner for low and high pass, two for band filters.
    case cornerCount(expected: Int, got: Int)
    /// A corner that is not strictly between 0 and half the sample rate (Hz).
    case corner(Double, rate: Double)
    /// Two corners of a band that do not rise.
    case cornerOrder(Double, Double)
    /// The sample rate is not a positive number.
    case rate(Double)
    /// More than 8 filters in one chain, or chains inside chains deeper than 8.
    case chainLength
}

extension FilterDesignError {
    /// Beyond these a square of a corner is no number any more.
    static func check(rate: Double) throws(FilterDesignError) {
        guard rate >= 1e-6, rate <= 1e9 else { throw .rate(rate) }
    }

    /// A corner 10¹² times below the rate would settle in 10¹² samples; further down numbers vanish.
    static func check(corner: Double, rate: Double) throws(FilterDesignError) {
        guard corner >= rate * 1e-12, corner < rate / 2 else { throw .corner(corner, rate: rate) }
    }
}

extension FilterDesignError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .order(let order): "order \(order) is not allowed: 1 to 10"
        case .parameter(let key, let number, let allowed):
            "\(key) \(number) is not allowed: \(allowed.isOpen ? "above " : "")\(shortText(allowed.lower)) to \(shortText(allowed.upper))"
        case .cornerCount(let expected, let got): "\(got) corner frequencies given, \(expected) needed"
        case .corner(let corner, let rate):
            "corner \(corner) Hz is not allowed: above \(rate * 1e-12) and below \(rate / 2) Hz at \(rate) samples per second"
        case .cornerOrder(let low, let high):
            "corners \(low) and \(high) Hz are not allowed: the second must be higher, by more than rounding"
        case .rate(let rate): "\(rate) samples per second is not allowed: 1e-6 to 1e9"
        case .chainLength: "a chain holds at most 8 filters, 8 deep"
        }
    }
}
