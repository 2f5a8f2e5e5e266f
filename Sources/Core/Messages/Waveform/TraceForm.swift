/// How blocks of traces are written.
public enum TraceForm: Sendable {
    case json
    /// RFC 8949, the same object as in JSON.
    case cbor
    /// miniSEED.
    case records(TraceRecords)

    var contentType: ContentType {
        switch self {
        case .json: .json
        case .cbor: .cbor
        case .records: .mseed
        }
    }

    var records: TraceRecords? {
        if case .records(let records) = self { records } else { nil }
    }
}
