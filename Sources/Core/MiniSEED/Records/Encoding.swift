/// How the samples of a record are written; the numbers are those of SEED's blockette 1000 and of miniSEED 3.
public enum MiniSEEDEncoding: UInt8, Sendable, CaseIterable {
    case int16 = 1
    case int32 = 3
    case float32 = 4
    case float64 = 5
    case steim1 = 10
    case steim2 = 11

    /// Bytes of one sample; nil for the Steim codings.
    var sampleBytes: Int? {
        switch self {
        case .int16: 2
        case .int32, .float32: 4
        case .float64: 8
        case .steim1, .steim2: nil
        }
    }
}

/// Which edition of the format.
public enum MiniSEEDFormat: UInt8, Sendable, CaseIterable {
    case v2 = 2
    case v3 = 3
}
