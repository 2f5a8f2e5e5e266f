#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Standard gravity in m/s², exact by definition (3rd CGPM, 1901).
public let standardGravity = 9.80665

/// log₁₀, for rooms that need nothing else of the C library.
public func decimalLogarithm(_ x: Double) -> Double { log10(x) }

/// The bearing of a horizontal vector in degrees clockwise from y (north), [0, 360).
public func bearing(east x: Double, north y: Double) -> Double {
    let degrees = atan2(x, y) * 180 / Double.pi
    return degrees < 0 ? degrees + 360 : degrees
}

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

/// A length of time given by a person: in seconds, or as a bare number of samples.
public enum WindowLength: Sendable, Equatable {
    /// Seconds; becomes round(seconds × rate) samples, halves to the even number, at least 1.
    case seconds(Double)
    /// Samples, at least 1.
    case samples(Int)

    /// The number of samples at a rate in Hz, at least 1.
    public func samples(at rate: Double) -> Int {
        switch self {
        case .seconds(let s):
            let n = (s * rate).rounded(.toNearestOrEven)
            return n >= 1 ? Int(min(n, 1e15)) : 1
        case .samples(let n): return max(1, n)
        }
    }
}
