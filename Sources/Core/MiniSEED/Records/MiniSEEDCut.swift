/// Cuts stretches of time out of miniSEED records.
public enum MiniSEEDCut {
    /// Result of a cut.
    public struct Result: Sendable, Equatable {
        public var records = 0
        /// Samples of all channels.
        public var samples = 0
        /// Time of the first and of the last sample, nanoseconds of UTC; nil when there is none.
        public var first: Int64?
        public var last: Int64?
        /// Samples per second of the last record; 0 when there is none.
        public var rate = 0.0
    }

    /// Appends the samples of some records whose time is within a range, as records again: those that lie within it as
    /// they are, byte for byte, those at its ends coded anew with their own source, rate and extra headers.
    /// - Parameters:
    ///   - bytes: whole records of integer samples, of any channels.
    ///   - range: nanoseconds of UTC, both ends included.
    /// - Throws: what is wrong with the first bad record; what came before it has been appended.
    public static func append(
        _ bytes: [UInt8], _ range: ClosedRange<Int64>, to output: inout [UInt8]
    ) throws(MiniSEEDError) -> Result {
        var result = Result()
        var reader = MiniSEEDReader(bytes)
        while let record = try reader.next() {
            let header = record.header
            guard header.rate > 0, case .integers(let samples) = record.samples, !samples.isEmpty else { continue }
            let timeline = SampleTimeline(start: header.start, rate: header.rate)
            var begin = 0
            var end = samples.count
            while begin < end, timeline.time(of: begin) < range.lowerBound { begin += 1 }
            while end > begin, timeline.time(of: end - 1) > range.upperBound { end -= 1 }
            guard begin < end else { continue }
            if begin == 0, end == samples.count {
                output.append(contentsOf: bytes[record.offset..<record.offset + header.length])
                result.records += 1
            } else {
                var writer = try MiniSEEDWriter(format: header.format)
                if header.format == .v3 {
                    writer.extraHeaders = HeaderV3.extraHeaders(bytes, at: record.offset)
                }
                let part = Array(samples[begin..<end])
                let before = output.count
                let records = part.withUnsafeBufferPointer { part -> Swift.Result<Int, MiniSEEDError> in
                    do throws(MiniSEEDError) {
                        return .success(
                            try writer.encode(
                                part, start: timeline.time(of: begin), rate: header.rate, source: header.source,
                                into: &output))
                    } catch { return .failure(error) }
                }
                do throws(MiniSEEDError) { result.records += try records.get() } catch {
                    output.removeSubrange(before...)
                    throw error
                }
            }
            result.samples += end - begin
            result.rate = header.rate
            result.first = min(result.first ?? .max, timeline.time(of: begin))
            result.last = max(result.last ?? .min, timeline.time(of: end - 1))
        }
        return result
    }
}

extension HeaderV3 {
    /// The extra headers of a record that has been parsed.
    static func extraHeaders(_ bytes: [UInt8], at offset: Int) -> [UInt8] {
        let identifier = Int(bytes[offset + 33])
        let count = Int(bytes[offset + 34]) | Int(bytes[offset + 35]) << 8
        let start = offset + fixedBytes + identifier
        return Array(bytes[start..<start + count])
    }
}
