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

/// Name of one channel of data after the FDSN Source Identifiers definition:
/// `FDSN:NETWORK_STATION_LOCATION_BAND_SOURCE_SUBSOURCE`.
public struct SourceIdentifier: Sendable, Hashable, CustomStringConvertible {
    public var network: String
    public var station: String
    public var location: String
    /// Rate and response of the instrument; `H` is broad band from 80 Hz on.
    public var band: String
    /// Kind of instrument; `N` is an accelerometer.
    public var source: String
    /// Orientation: `Z`, `N`, `E`, or `1`, `2`, `3`.
    public var subsource: String

    public init(
        network: String, station: String, location: String, band: String, source: String, subsource: String
    ) {
        self.network = network
        self.station = station
        self.location = location
        self.band = band
        self.source = source
        self.subsource = subsource
    }

    /// From a SEED channel code: three characters such as `HNZ` are band, source and subsource.
    /// Any other text goes into the subsource alone.
    public init(network: String, station: String, location: String, channel: String) {
        let codes = Array(channel)
        let short = codes.count == 3
        self.init(
            network: network, station: station, location: location,
            band: short ? String(codes[0]) : "", source: short ? String(codes[1]) : "",
            subsource: short ? String(codes[2]) : channel)
    }

    /// From the text form; nil when it does not have the scheme `FDSN:` and six parts.
    public init?(_ text: String) {
        guard text.hasPrefix("FDSN:") else { return nil }
        let parts = text.dropFirst(5).split(separator: "_", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        self.init(
            network: String(parts[0]), station: String(parts[1]), location: String(parts[2]), band: String(parts[3]),
            source: String(parts[4]), subsource: String(parts[5]))
    }

    /// Channel code of miniSEED 2: `HNZ`; longer than three characters when the parts are not one character each.
    public var channel: String { band + source + subsource }

    /// `FDSN:NETWORK_STATION_LOCATION_BAND_SOURCE_SUBSOURCE`.
    public var description: String {
        "FDSN:\(network)_\(station)_\(location)_\(band)_\(source)_\(subsource)"
    }
}

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
