import Values

/// The pieces of one waveform as they come, put together.
struct WaveformParts {
    /// Bytes that are kept at most.
    private static let limit = 1 << 30

    private(set) var bytes: [UInt8] = []
    private var seen: Set<[UInt8]> = []
    private(set) var overflows = false

    /// A piece that came before comes again with QoS 1 sometimes; records of miniSEED begin at a time, so that none is the
    /// same as another.
    mutating func take(_ piece: [UInt8]) {
        var digest = SHA256()
        digest.update(piece)
        guard seen.insert(digest.digest()).inserted else { return }
        if bytes.count + piece.count > Self.limit {
            overflows = true
        } else {
            bytes += piece
        }
    }

    /// Reason why these are not the bytes that a station said it sent; nil when they are.
    func problem(_ result: Value) -> String? {
        if overflows { return "larger than \(Self.limit) bytes" }
        if let wanted = result["bytes"]?.whole, wanted != bytes.count {
            return "\(bytes.count) of \(wanted) bytes received"
        }
        if let wanted = result["sha256"]?.rawText, wanted != SHA256.hexDigest(of: bytes) {
            return "the digest does not match"
        }
        return nil
    }
}
