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

/// A miniSEED record that cannot be read or written, with the place where it lies.
public struct MiniSEEDError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The bytes end before the record does.
        case truncated
        /// No miniSEED 2 or 3 record starts here.
        case signature
        /// A header field has a value that no record may have.
        case header
        /// An encoding that is not one of int16, int32, float32, float64, Steim1, Steim2.
        case encoding
        /// The check sum is wrong.
        case checksum
        /// The samples do not decode to what the header promises.
        case samples
        /// A value that the format cannot hold was given to the writer.
        case argument
    }
    public var code: Code
    /// Number of the record, from 1; 0 when the error is not about a record.
    public var record: Int
    /// Bytes from the start of the file to the start of the record.
    public var offset: Int
    /// Fault, without the place.
    public var reason: String

    public init(_ code: Code, record: Int = 0, offset: Int = 0, _ reason: String) {
        self.code = code
        self.record = record
        self.offset = offset
        self.reason = reason
    }

    public var description: String {
        record == 0 ? reason : "record \(record) at byte \(offset): \(reason)"
    }
}
