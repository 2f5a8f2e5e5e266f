/// An interval of numbers, either end of which may be left out of it.
public struct Interval: Sendable, Equatable {
    public var lower: Double
    public var upper: Double
    /// The lower end itself is not allowed.
    public var isOpen = false

    public static func above(_ lower: Double, to upper: Double) -> Interval {
        Interval(lower: lower, upper: upper, isOpen: true)
    }
    public static func from(_ lower: Double, to upper: Double) -> Interval { Interval(lower: lower, upper: upper) }

    public func contains(_ number: Double) -> Bool {
        (isOpen ? number > lower : number >= lower) && number <= upper
    }
}

/// A number for people: whole numbers without a fraction.
public func shortText(_ number: Double) -> String {
    if let whole = Int64(exactly: number) { return String(whole) }
    return "\(number)"
}
