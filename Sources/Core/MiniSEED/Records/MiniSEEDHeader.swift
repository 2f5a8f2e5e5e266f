/// Header of one record, checked; the samples are still coded.
public struct MiniSEEDHeader: Sendable, Equatable {
    public var format: MiniSEEDFormat
    public var source: SourceIdentifier
    /// Time of the first sample: nanoseconds of UTC since 1970-01-01, leap seconds not counted.
    public var start: Int64
    /// Samples per second; 0 for records that are not a time series.
    public var rate: Double
    /// Bytes of the whole record.
    public var length: Int
    public var payload: MiniSEEDPayload
}

extension MiniSEEDHeader {
    /// The extra headers of the record, which begins where `bytes` do; none of version 2.
    public func extraHeaders(in bytes: [UInt8]) -> ArraySlice<UInt8> {
        guard format == .v3, bytes.count >= payload.offset, payload.offset > HeaderV3.fixedBytes else { return [] }
        let count = Int(bytes[34]) | Int(bytes[35]) << 8
        return bytes[max(HeaderV3.fixedBytes, payload.offset - count)..<payload.offset]
    }
}

/// Where and how a record's samples lie; small and without references, so that it can be kept for every record.
public struct MiniSEEDPayload: Sendable, Equatable {
    /// Code of the encoding as it is written; `MiniSEEDEncoding` has those that can be read.
    public var encodingCode: UInt8
    public var bigEndian: Bool
    /// Samples promised.
    public var count: Int
    /// Bytes from the start of the record to the samples.
    public var offset: Int
    /// Bytes of samples, with what fills up the record.
    public var length: Int
}

/// One record with its samples.
public struct MiniSEEDRecord: Sendable, Equatable {
    public var header: MiniSEEDHeader
    /// Number from 1, in the order of the file.
    public var number: Int
    /// Bytes from the start of the file.
    public var offset: Int
    public var samples: MiniSEEDSamples
}

/// Samples in the type that their encoding holds.
public enum MiniSEEDSamples: Sendable, Equatable {
    case integers([Int32])
    case floats([Float])
    case doubles([Double])

    public var count: Int {
        switch self {
        case .integers(let values): values.count
        case .floats(let values): values.count
        case .doubles(let values): values.count
        }
    }

    /// As double precision numbers, exactly.
    public var values: [Double] {
        switch self {
        case .integers(let values): values.map(Double.init)
        case .floats(let values): values.map(Double.init)
        case .doubles(let values): values
        }
    }
}
