#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// log₁₀, for rooms that need nothing else of the C library.
public func decimalLogarithm(_ x: Double) -> Double { log10(x) }

/// The bearing of a horizontal vector in degrees clockwise from y (north), [0, 360).
public func bearing(east x: Double, north y: Double) -> Double {
    let degrees = atan2(x, y) * 180 / Double.pi
    return degrees < 0 ? degrees + 360 : degrees
}
