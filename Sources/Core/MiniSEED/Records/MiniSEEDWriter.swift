/// Writes continuous integer samples as miniSEED records, Steim2 coded.
///
/// A record in which two samples differ by more than Steim2 can hold (30 bits) is written as plain 32-bit integers.
/// A writer that is kept does not touch the heap as long as the output's capacity suffices.
public struct MiniSEEDWriter: Sendable {
    public let format: MiniSEEDFormat
    /// Version 2: bytes of a record, a power of two. Version 3: most bytes of samples in a record.
    public let recordLength: Int

    /// Version 3: a JSON object that goes into the extra headers of every record, at most 65535 bytes; empty: none.
    /// Version 2 has no place for it and leaves it out.
    public var extraHeaders: [UInt8] = []

    private var frames: [Int32] = []
    /// Number of the last record (version 2).
    private var sequence = 0

    /// Lengths that `init` takes: powers of two for version 2, multiples of 64 for version 3.
    static let recordLengths = 256...65536

    /// - Parameters:
    ///   - recordLength: 512 for version 2 and 4096 for version 3 when nil.
    public init(format: MiniSEEDFormat, recordLength: Int? = nil) throws(MiniSEEDError) {
        let length = recordLength ?? (format == .v2 ? 512 : 4096)
        let fits = format == .v2 ? length & (length - 1) == 0 : length % Steim.frameBytes == 0
        guard Self.recordLengths.contains(length), fits else {
            throw MiniSEEDError(
                .argument,
                "record length \(length): allowed are "
                    + (format == .v2 ? "powers of two" : "multiples of 64") + " from 256 to 65536")
        }
        self.format = format
        self.recordLength = length
        frames = [Int32](repeating: 0, count: length / 4)
    }

    /// The next record is the first one again: what is written then does not depend on what was written before.
    public mutating func restart() { sequence = 0 }

    /// Appends the records of a continuous series to `output`.
    /// - Parameters:
    ///   - samples: at least one.
    ///   - start: time of the first sample in nanoseconds since 1970-01-01; version 2 keeps microseconds.
    ///   - rate: samples per second, `SampleTimeline.rates`.
    ///   - source: version 2: at most 2, 5, 2 and 3 characters of ASCII for network, station, location and channel.
    /// - Returns: the number of records written.
    @discardableResult
    public mutating func encode(
        _ samples: UnsafeBufferPointer<Int32>, start: Int64, rate: Double, source: SourceIdentifier,
        into output: inout [UInt8]
    ) throws(MiniSEEDError) -> Int {
        guard samples.count > 0 else { throw MiniSEEDError(.argument, "no samples to write") }
        guard rate.isFinite, SampleTimeline.rates.contains(rate) else {
            throw MiniSEEDError(.argument, "rate \(rate) Hz: allowed are 0.1 to 1000000 Hz")
        }
        let timeline = SampleTimeline(start: start, rate: rate)
        let rate2 = RateFields(rate: rate)
        if format == .v2 {
            try HeaderV2.check(source)
        } else {
            try HeaderV3.check(source)
            guard extraHeaders.count <= Int(UInt16.max) else {
                throw MiniSEEDError(.argument, "extra headers of \(extraHeaders.count) bytes: allowed are 65535")
            }
        }
        var position = 0
        var records = 0
        while position < samples.count {
            let rest = UnsafeBufferPointer(rebasing: samples[position...])
            let time = timeline.time(of: position)
            position +=
                format == .v2
                ? appendV2(rest, time: time, rate: rate2, source: source, into: &output)
                : appendV3(rest, time: time, rate: rate, source: source, into: &output)
            records += 1
        }
        return records
    }

    /// The records of a continuous series, for those who do not mind the allocation.
    public mutating func encode(
        _ samples: [Int32], start: Int64, rate: Double, source: SourceIdentifier
    ) throws(MiniSEEDError) -> [UInt8] {
        var output: [UInt8] = []
        var failure: MiniSEEDError?
        samples.withUnsafeBufferPointer { samples in
            do throws(MiniSEEDError) {
                try encode(samples, start: start, rate: rate, source: source, into: &output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return output
    }

    /// Codes one record's samples into `frames`.
    /// - Returns: the coding, the number of samples and the words used.
    private mutating func code(
        _ samples: UnsafeBufferPointer<Int32>, words: Int, integersBigEndian: Bool
    ) -> (encoding: MiniSEEDEncoding, count: Int, words: Int) {
        let atMost = min(samples.count, Int(UInt16.max))
        return frames.withUnsafeMutableBufferPointer { frames in
            let room = UnsafeMutableBufferPointer(rebasing: frames[0..<words])
            let offered = UnsafeBufferPointer(rebasing: samples[0..<atMost])
            let count = Steim.encode2(offered, first: 0, into: room)
            let cutShort = count < atMost && (count == 0 || Steim.isTooFar(offered[count - 1], offered[count]))
            if count > 0, !cutShort {
                return (.steim2, count, Steim.usedWords(room))
            }
            let integers = min(atMost, words)
            for index in 0..<integers {
                room[index] = integersBigEndian ? offered[index].bigEndian : offered[index].littleEndian
            }
            return (.int32, integers, integers)
        }
    }

    private mutating func appendV2(
        _ samples: UnsafeBufferPointer<Int32>, time: Int64, rate: RateFields, source: SourceIdentifier,
        into output: inout [UInt8]
    ) -> Int {
        let dataOffset = rate.exact ? 64 : 128
        let coded = code(samples, words: (recordLength - dataOffset) / 4, integersBigEndian: true)
        sequence = sequence % 999_999 + 1
        let frameCount = coded.encoding == .steim2 ? coded.words / Steim.frameWords : 0
        HeaderV2.append(
            to: &output, sequence: sequence, source: source, time: time, rate: rate, encoding: coded.encoding,
            count: coded.count, recordLength: recordLength, dataOffset: dataOffset, frames: frameCount)
        append(words: coded.words, to: &output)
        for _ in 0..<(recordLength - dataOffset - 4 * coded.words) { output.append(0) }
        return coded.count
    }

    private mutating func appendV3(
        _ samples: UnsafeBufferPointer<Int32>, time: Int64, rate: Double, source: SourceIdentifier,
        into output: inout [UInt8]
    ) -> Int {
        let coded = code(samples, words: recordLength / 4, integersBigEndian: false)
        let start = output.count
        HeaderV3.append(
            to: &output, source: source, time: time, rate: rate, encoding: coded.encoding, count: coded.count,
            dataLength: 4 * coded.words, extra: extraHeaders)
        append(words: coded.words, to: &output)
        HeaderV3.seal(&output, from: start)
        return coded.count
    }

    /// The words as they lie in memory: they are already in the order of the record.
    private func append(words: Int, to output: inout [UInt8]) {
        frames.withUnsafeBytes { output.append(contentsOf: $0[0..<(4 * words)]) }
    }
}

extension Steim {
    /// Whether two neighbours differ by more than Steim2 can hold.
    static func isTooFar(_ a: Int32, _ b: Int32) -> Bool {
        let (difference, overflow) = b.subtractingReportingOverflow(a)
        return overflow || !differences.contains(difference)
    }

    /// Words of the frames that hold anything; frames after the data are zero.
    static func usedWords(_ frames: UnsafeMutableBufferPointer<Int32>) -> Int {
        var used = frames.count / frameWords
        while used > 1, (0..<frameWords).allSatisfy({ frames[(used - 1) * frameWords + $0] == 0 }) { used -= 1 }
        return used * frameWords
    }
}
