/// Reads and checks the headers of records in memory. Nothing in the bytes is taken on trust.
public enum MiniSEEDParser {
    /// Bytes that suffice to find the length of any record that starts in them.
    public static let prefixBytes = 4096
    /// Bytes that the shortest header has.
    public static let shortestRecord = 48
    /// Longest record taken, in bytes; the longest of miniSEED 2 is 1 MiB, libmseed 3 writes at most 10 MiB.
    static let longestRecord = 10 << 20

    /// The length of the record that starts at byte 0, from its first bytes alone.
    /// - Parameters:
    ///   - bytes: the start of the record, at least `prefixBytes` unless the file ends before.
    ///   - record: number and `offset` of the record in its file, for the error.
    public static func recordLength(
        _ bytes: UnsafeRawBufferPointer, record: Int = 1, offset: Int = 0
    ) throws(MiniSEEDError) -> Int {
        if HeaderV3.matches(bytes) { return try HeaderV3.recordLength(bytes, record, offset) }
        if HeaderV2.matches(bytes) { return try HeaderV2.layout(bytes, record, offset).recordLength }
        throw noRecord(bytes, record, offset)
    }

    /// The header of the record that starts at byte 0 and lies wholly in `bytes`; a check sum is checked.
    public static func header(
        _ bytes: UnsafeRawBufferPointer, record: Int = 1, offset: Int = 0
    ) throws(MiniSEEDError) -> MiniSEEDHeader {
        if HeaderV3.matches(bytes) { return try HeaderV3.parse(bytes, record, offset) }
        if HeaderV2.matches(bytes) { return try HeaderV2.parse(bytes, record, offset) }
        throw noRecord(bytes, record, offset)
    }

    /// Whether a record of miniSEED 2 or 3 seems to start at byte 0.
    public static func recognises(_ bytes: UnsafeRawBufferPointer) -> Bool {
        HeaderV3.matches(bytes) || HeaderV2.matches(bytes)
    }

    private static func noRecord(_ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int) -> MiniSEEDError {
        bytes.count < HeaderV2.fixedBytes
            ? MiniSEEDError(
                .truncated, record: record, offset: offset,
                "only \(bytes.count) bytes are left, a record has more")
            : MiniSEEDError(
                .signature, record: record, offset: offset, "no miniSEED 2 or 3 record starts here")
    }
}

/// Reads all records of a file in memory, one after the other, with their samples.
public struct MiniSEEDReader: Sendable {
    private let bytes: [UInt8]
    private var decoder = MiniSEEDDecoder()
    private var offset = 0
    private var number = 0

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next record that can be read; nil at the end.
    /// - Parameter problem: is given what is wrong with each that cannot.
    public mutating func nextReadable(_ problem: (MiniSEEDError) -> Void) -> MiniSEEDRecord? {
        while true {
            do throws(MiniSEEDError) { return try next() } catch { problem(error) }
            number += 1
            offset = behindBad()
        }
    }

    /// Where the next record begins behind one that cannot be read.
    private func behindBad() -> Int {
        bytes.withUnsafeBytes { all in
            func length(at place: Int) -> Int? {
                let rest = UnsafeRawBufferPointer(rebasing: all[place...])
                guard MiniSEEDParser.recognises(rest) else { return nil }
                do throws(MiniSEEDError) { return try MiniSEEDParser.header(rest).length } catch { return nil }
            }
            // (A record that was cut in the middle of a file has another one within its length.)
            let end = length(at: offset).map { offset + $0 } ?? all.count
            var place = offset + 1
            while place < end {
                if length(at: place) != nil { return place }
                place += 1
            }
            return end
        }
    }

    /// The next record; nil at the end. After an error the reader stands still: the rest cannot be trusted.
    public mutating func next() throws(MiniSEEDError) -> MiniSEEDRecord? {
        guard offset < bytes.count else { return nil }
        let (start, record) = (offset, number + 1)
        var decoder = self.decoder
        let result = bytes.withUnsafeBytes { all -> Result<MiniSEEDRecord, MiniSEEDError> in
            let rest = UnsafeRawBufferPointer(rebasing: all[start...])
            do throws(MiniSEEDError) {
                let header = try MiniSEEDParser.header(rest, record: record, offset: start)
                let samples = try decoder.samples(
                    header.payload, of: UnsafeRawBufferPointer(rebasing: rest[0..<header.length]), record: record,
                    offset: start)
                return .success(MiniSEEDRecord(header: header, number: record, offset: start, samples: samples))
            } catch {
                return .failure(error)
            }
        }
        self.decoder = decoder
        let found = try result.get()
        number = record
        offset += found.header.length
        return found
    }
}

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
