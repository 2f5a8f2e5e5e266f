/// Codings of older networks, 16 bits a sample: a mantissa and a gain (SEED Reference Manual 2.4, appendix D). They are read
/// alone.
enum GainRangedEncoding: UInt8 {
    case geoscope3 = 13
    case geoscope4 = 14
    case cdsn = 16
    case sro = 30
    case dwwssn = 32

    /// Whether all its samples are whole numbers.
    var isWhole: Bool { self != .geoscope3 && self != .geoscope4 }

    /// The sample of a word; nil for a gain that there is not.
    func value(_ word: UInt16) -> Double? {
        let low = Int(word & 0x0FFF)
        switch self {
        case .geoscope3: return Double(low - 2048) / Double(1 << Int(word >> 12 & 7))
        case .geoscope4: return Double(low - 2048) / Double(1 << Int(word >> 12))
        case .cdsn: return Double((Int(word & 0x3FFF) - 0x1FFF) << [0, 2, 4, 7][Int(word >> 14)])
        case .sro:
            let exponent = 10 - Int(word >> 12)
            return exponent < 0 ? nil : Double((low > 0x7FF ? low - 0x1000 : low) << exponent)
        case .dwwssn: return Double(Int16(bitPattern: word))
        }
    }
}
