import MiniSEED

/// Where a record lies in the file and what it holds; small, because a day has tens of thousands.
struct IndexedRecord {
    var offset: Int
    var length: Int
    var payload: MiniSEEDPayload
    /// Time of the first sample in nanoseconds.
    var start: Int64
    /// Number from 1, for messages.
    var number: Int
}

/// One channel of a file: its records in the order of time.
struct IndexedChannel {
    /// Unit of a count by the records' extra headers, m/s².
    enum CountUnit: Equatable {
        case unknown, mixed
        case known(Double)
    }

    var source: SourceIdentifier
    var rate: Double
    var records: [IndexedRecord]
    var unit: CountUnit

    /// Whether samples are counts, and not yet a quantity.
    var holdsIntegers: Bool { records.contains { $0.payload.holdsIntegers } }
}

/// Contents of a miniSEED file without its samples.
struct RecordIndex {
    private(set) var channels: [IndexedChannel] = []
    /// Records that could not be read.
    private(set) var problems = RecordProblems()

    /// Most records taken, which bounds the memory of the index: 72 bytes each.
    static let mostRecords = 4_000_000
    /// Most channels taken; a station has a few dozen.
    static let mostChannels = 1000

    /// Part by which the rates that the records of a channel say may differ.
    private static let rateSpread = 0.01

    /// Reads the header of every record; time series only, others are passed over. Where none can be read it looks for the
    /// next one that can.
    /// - Throws: what is wrong with the first, where no record can be read.
    init(_ file: RecordingFile) throws(SensorError) {
        var places: [SourceIdentifier: Int] = [:]
        var reader = RecordReader(file)
        var (offset, number) = (0, 0)
        while offset < file.size {
            number += 1
            guard number <= Self.mostRecords else {
                throw SensorError(.format, "\(file.path): more than \(Self.mostRecords) records")
            }
            let header: MiniSEEDHeader
            do throws(SensorError) { header = try reader.header(at: offset, number: number) } catch {
                guard error.code == .format else { throw error }
                problems.add(error.message, prefix: file.path)
                offset = try reader.nextRecord(after: offset, number: number)
                continue
            }
            let unit = reader.unitPerCount(header)
            if let next = try reader.recordWithin(header, at: offset, number: number) {
                problems.add(
                    "record \(number) at byte \(offset): it has \(header.length) bytes, and another begins after \(next - offset)",
                    prefix: "")
                offset = next
                continue
            }
            defer { offset += header.length }
            guard header.rate > 0, header.payload.count > 0 else { continue }
            let record = IndexedRecord(
                offset: offset, length: header.length, payload: header.payload, start: header.start, number: number)
            guard SampleTimeline.rates.contains(header.rate) else {
                throw reader.fail(record, "a rate of \(header.rate) Hz, allowed are 0.1 to 1000000 Hz")
            }
            if let place = places[header.source] {
                let rate = channels[place].rate
                guard abs(header.rate / rate - 1) < Self.rateSpread else {
                    throw reader.fail(
                        record, "\(header.source) changes its rate from \(rate) Hz to \(header.rate) Hz")
                }
                channels[place].records.append(record)
                if channels[place].unit != unit { channels[place].unit = .mixed }
            } else {
                guard channels.count < Self.mostChannels else {
                    throw SensorError(.format, "\(file.path): more than \(Self.mostChannels) channels")
                }
                places[header.source] = channels.count
                channels.append(IndexedChannel(source: header.source, rate: header.rate, records: [record], unit: unit))
            }
        }
        if channels.isEmpty, let first = problems.first { throw SensorError(.format, "\(file.path): \(first)") }
        for place in channels.indices {
            // Equal starts stay in the order of the file.
            channels[place].records.sort { ($0.start, $0.number) < ($1.start, $1.number) }
        }
    }
}

/// Records that could not be read and were left out.
struct RecordProblems {
    private(set) var count = 0
    private var examples: [String] = []
    /// Examples that a sentence names.
    private static let most = 3

    /// The first, in a sentence.
    var first: String? { examples.first }

    /// - Parameter prefix: the file, with which the sentence begins, and which is left away.
    mutating func add(_ sentence: String, prefix: String) {
        count += 1
        guard examples.count < Self.most else { return }
        examples.append(sentence.hasPrefix(prefix + ": ") ? String(sentence.dropFirst(prefix.count + 2)) : sentence)
    }

    /// A sentence for the user; none where all could be read.
    var notes: [String] {
        guard count > 0 else { return [] }
        let more = count > examples.count ? "; and \(count - examples.count) more" : ""
        let what = count == 1 ? "1 record could not be read and is" : "\(count) records could not be read and are"
        return ["\(what) left out: \(examples.joined(separator: "; "))\(more)"]
    }
}

/// Reads records of a file into one buffer and names them in its errors.
struct RecordReader {
    private let file: RecordingFile
    private var bytes: [UInt8]
    private var decoder = MiniSEEDDecoder()

    init(_ file: RecordingFile) {
        self.file = file
        bytes = [UInt8](repeating: 0, count: MiniSEEDParser.prefixBytes)
    }

    func fail(_ record: IndexedRecord, _ reason: String) -> SensorError {
        SensorError(.format, "\(file.path): record \(record.number) at byte \(record.offset): \(reason)")
    }

    /// The header of the record at a place.
    mutating func header(at offset: Int, number: Int) throws(SensorError) -> MiniSEEDHeader {
        let prefix = try load(MiniSEEDParser.prefixBytes, at: offset)
        let length = try parsed(prefix) { bytes throws(MiniSEEDError) in
            try MiniSEEDParser.recordLength(bytes, record: number, offset: offset)
        }
        let count = length <= prefix ? prefix : try load(length, at: offset)
        return try parsed(count) { bytes throws(MiniSEEDError) in
            try MiniSEEDParser.header(bytes, record: number, offset: offset)
        }
    }

    /// Where another record begins before this one ends, which was cut in the middle of a file; nil: it is whole.
    mutating func recordWithin(
        _ header: MiniSEEDHeader, at offset: Int, number: Int
    ) throws(SensorError) -> Int? {
        let end = offset + header.length
        guard end < file.size else { return nil }
        let kept = bytes
        defer { bytes = kept }
        let count = try load(MiniSEEDParser.shortestRecord, at: end)
        let isRecord = bytes.withUnsafeBytes {
            MiniSEEDParser.recognises(UnsafeRawBufferPointer(rebasing: $0[0..<count]))
        }
        if isRecord { return nil }
        let next = try nextRecord(after: offset, number: number, until: end)
        return next < end ? next : nil
    }

    /// Where the next record that can be read begins behind one that cannot; the file's end where there is none.
    mutating func nextRecord(after bad: Int, number: Int, until limit: Int = .max) throws(SensorError) -> Int {
        var window = [UInt8](repeating: 0, count: 65536)
        var start = bad + 1
        while start < min(file.size, limit) {
            let (file, from) = (self.file, start)
            var failure: SensorError?
            let count = window.withUnsafeMutableBytes { bytes in
                do throws(SensorError) { return try file.read(at: from, into: bytes) } catch {
                    failure = error
                    return 0
                }
            }
            if let failure { throw failure }
            guard count >= MiniSEEDParser.shortestRecord else { return file.size }
            let last = count - MiniSEEDParser.shortestRecord
            var place = 0
            while place <= last {
                let found = window.withUnsafeBytes { bytes -> Int? in
                    var place = place
                    while place <= last {
                        if MiniSEEDParser.recognises(UnsafeRawBufferPointer(rebasing: bytes[place..<count])) {
                            return place
                        }
                        place += 1
                    }
                    return nil
                }
                guard let found else { break }
                do throws(SensorError) {
                    _ = try header(at: start + found, number: number)
                    return start + found
                } catch {
                    guard error.code == .format else { throw error }
                    place = found + 1
                }
            }
            start += last + 1
        }
        return file.size
    }

    /// Unit of a count by the extra headers of the record that `header` has just read. Ours are JSON without blanks,
    /// see the messages' `CountScale`.
    func unitPerCount(_ header: MiniSEEDHeader) -> IndexedChannel.CountUnit {
        let name = Array(#""unit_per_count":"#.utf8)
        let extra = header.extraHeaders(in: bytes)
        guard extra.count > name.count else { return .unknown }
        for start in extra.startIndex...(extra.endIndex - name.count) where extra[start...].starts(with: name) {
            let number = extra[(start + name.count)...].prefix { $0 != UInt8(ascii: "}") && $0 != UInt8(ascii: ",") }
            let unit = Double(String(decoding: number, as: UTF8.self)) ?? 0
            return unit.isFinite && unit > 0 ? .known(unit) : .unknown
        }
        return .unknown
    }

    /// The samples of a record.
    mutating func samples(of record: IndexedRecord, into values: inout [Double]) throws(SensorError) {
        let count = try load(record.length, at: record.offset)
        guard count == record.length else { throw fail(record, "the file has become shorter") }
        var failure: MiniSEEDError?
        bytes.withUnsafeBytes { bytes in
            do throws(MiniSEEDError) {
                try decoder.decode(
                    record.payload, of: UnsafeRawBufferPointer(rebasing: bytes[0..<count]), record: record.number,
                    offset: record.offset, into: &values)
            } catch {
                failure = error
            }
        }
        if let failure { throw SensorError(.format, "\(file.path): \(failure.description)") }
        for value in values where !value.isFinite {
            throw fail(record, "a sample is not a finite number")
        }
    }

    /// Bytes from a place into the buffer; gives their number, less only at the end of the file.
    private mutating func load(_ count: Int, at offset: Int) throws(SensorError) -> Int {
        if bytes.count < count { bytes.append(contentsOf: repeatElement(0, count: count - bytes.count)) }
        var failure: SensorError?
        let file = self.file
        let loaded = bytes.withUnsafeMutableBytes { bytes in
            do throws(SensorError) {
                return try file.read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: bytes[0..<count]))
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        return loaded
    }

    private func parsed<R>(
        _ count: Int, _ body: (UnsafeRawBufferPointer) throws(MiniSEEDError) -> R
    ) throws(SensorError) -> R {
        let result = bytes.withUnsafeBytes { bytes -> Result<R, MiniSEEDError> in
            do throws(MiniSEEDError) {
                return .success(try body(UnsafeRawBufferPointer(rebasing: bytes[0..<count])))
            } catch {
                return .failure(error)
            }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): throw SensorError(.format, "\(file.path): \(error.description)")
        }
    }
}
