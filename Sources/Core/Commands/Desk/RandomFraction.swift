extension UInt64 {
    /// A random number as one from 0 up to 1. (`Double.random(in:using:)` would never return with a source that always
    /// says the same.)
    package var fraction: Double { Double(self >> 11) * 0x1p-53 }
}
