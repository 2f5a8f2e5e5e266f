extension Int64 {
    /// As a time in nanoseconds it lies between 1900 and 2200: differences of such times do not overflow.
    var isSensibleTime: Bool { self > -2_208_988_800_000_000_000 && self < 7_258_118_400_000_000_000 }
}
