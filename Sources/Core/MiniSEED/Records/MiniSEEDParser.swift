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
