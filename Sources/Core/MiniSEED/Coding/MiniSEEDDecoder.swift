/// Turns the coded samples of a record into numbers. One that is kept does not touch the heap once it has seen the
/// longest record.
public struct MiniSEEDDecoder: Sendable {
    /// The record's frames, where libmseed wants them: aligned.
    private var words: [Int32] = []
    private var integers: [Int32] = []

    public init() {}

    /// Decodes to double precision numbers; exact for every encoding.
    /// - Parameters:
    ///   - payload: of a header that `MiniSEEDParser` made from the same bytes.
    ///   - bytes: the whole record.
    ///   - values: is emptied first.
    public mutating func decode(
        _ payload: MiniSEEDPayload, of bytes: UnsafeRawBufferPointer, record: Int = 1, offset: Int = 0,
        into values: inout [Double]
    ) throws(MiniSEEDError) {
        values.removeAll(keepingCapacity: true)
        if let older = try gainRanged(payload, bytes, record, offset) {
            values += older.values
            return
        }
        let encoding = try check(payload, bytes, record, offset)
        values.reserveCapacity(payload.count)
        let (start, big) = (payload.offset, payload.bigEndian)
        switch encoding {
        case .int16:
            for index in 0..<payload.count {
                values.append(Double(bytes.integer(start + 2 * index, bigEndian: big, as: Int16.self)))
            }
        case .int32:
            for index in 0..<payload.count {
                values.append(Double(bytes.integer(start + 4 * index, bigEndian: big, as: Int32.self)))
            }
        case .float32:
            for index in 0..<payload.count {
                let bits = bytes.integer(start + 4 * index, bigEndian: big, as: UInt32.self)
                values.append(Double(Float(bitPattern: bits)))
            }
        case .float64:
            for index in 0..<payload.count {
                let bits = bytes.integer(start + 8 * index, bigEndian: big, as: UInt64.self)
                values.append(Double(bitPattern: bits))
            }
        case .steim1, .steim2:
            try decodeSteim(payload, bytes, steim2: encoding == .steim2, record, offset)
            for index in 0..<payload.count { values.append(Double(integers[index])) }
        }
    }

    /// Decodes to the type that the encoding holds.
    public mutating func samples(
        _ payload: MiniSEEDPayload, of bytes: UnsafeRawBufferPointer, record: Int = 1, offset: Int = 0
    ) throws(MiniSEEDError) -> MiniSEEDSamples {
        if let older = try gainRanged(payload, bytes, record, offset) {
            return older.isWhole
                ? .integers(older.values.map { Int32($0) }) : .floats(older.values.map { Float($0) })
        }
        let encoding = try check(payload, bytes, record, offset)
        let (start, big) = (payload.offset, payload.bigEndian)
        switch encoding {
        case .int16:
            return .integers(
                (0..<payload.count).map {
                    Int32(bytes.integer(start + 2 * $0, bigEndian: big, as: Int16.self))
                })
        case .int32:
            return .integers(
                (0..<payload.count).map { bytes.integer(start + 4 * $0, bigEndian: big, as: Int32.self) })
        case .float32:
            return .floats(
                (0..<payload.count).map {
                    Float(bitPattern: bytes.integer(start + 4 * $0, bigEndian: big, as: UInt32.self))
                })
        case .float64:
            return .doubles(
                (0..<payload.count).map {
                    Double(bitPattern: bytes.integer(start + 8 * $0, bigEndian: big, as: UInt64.self))
                })
        case .steim1, .steim2:
            try decodeSteim(payload, bytes, steim2: encoding == .steim2, record, offset)
            return .integers(Array(integers.prefix(payload.count)))
        }
    }

    /// The samples of an older coding; nil for any other.
    private func gainRanged(
        _ payload: MiniSEEDPayload, _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> (values: [Double], isWhole: Bool)? {
        guard payload.count > 0, let encoding = GainRangedEncoding(rawValue: payload.encodingCode) else { return nil }
        guard payload.offset >= 0, payload.count <= payload.length / 2, payload.offset <= bytes.count - payload.length
        else {
            throw MiniSEEDError(.header, record: record, offset: offset, "the samples lie outside of the record")
        }
        var values: [Double] = []
        values.reserveCapacity(payload.count)
        for i in 0..<payload.count {
            let word = bytes.integer(payload.offset + 2 * i, bigEndian: payload.bigEndian, as: UInt16.self)
            guard let value = encoding.value(word) else {
                throw MiniSEEDError(
                    .samples, record: record, offset: offset, "sample \(i + 1) has a gain that there is not")
            }
            values.append(value)
        }
        return (values, encoding.isWhole)
    }

    /// Verifies that the payload lies in the bytes and is long enough for the samples it promises.
    private func check(
        _ payload: MiniSEEDPayload, _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> MiniSEEDEncoding {
        func fail(_ code: MiniSEEDError.Code, _ reason: String) -> MiniSEEDError {
            MiniSEEDError(code, record: record, offset: offset, reason)
        }
        // (Headers without samples have any encoding.)
        if payload.count == 0 { return .int32 }
        guard let encoding = MiniSEEDEncoding(rawValue: payload.encodingCode) else {
            if payload.encodingCode == 0 { throw fail(.encoding, "it is the text of a log, and has no samples") }
            throw fail(
                .encoding,
                "encoding \(payload.encodingCode): readable are int16, int32, float32, float64, Steim1 and Steim2")
        }
        guard payload.count >= 0, payload.offset >= 0, payload.length >= 0,
            payload.count == 0 || payload.offset <= bytes.count - payload.length
        else { throw fail(.header, "the samples lie outside of the record") }
        let most: Int
        if let size = encoding.sampleBytes {
            most = payload.length / size
        } else {
            let perFrame = encoding == .steim2 ? Steim.steim2FrameSamples : Steim.steim1FrameSamples
            most = payload.length / Steim.frameBytes * perFrame
        }
        guard payload.count <= most else {
            throw fail(
                .samples, "\(payload.count) samples are promised, \(payload.length) bytes hold at most \(most)")
        }
        return encoding
    }

    private mutating func decodeSteim(
        _ payload: MiniSEEDPayload, _ bytes: UnsafeRawBufferPointer, steim2: Bool, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) {
        let count = payload.count
        guard count > 0 else { return }
        let wordCount = payload.length / Steim.frameBytes * Steim.frameWords
        if words.count < wordCount { words.append(contentsOf: repeatElement(0, count: wordCount - words.count)) }
        if integers.count < count { integers.append(contentsOf: repeatElement(0, count: count - integers.count)) }
        for index in 0..<wordCount {
            words[index] = bytes.loadUnaligned(fromByteOffset: payload.offset + 4 * index, as: Int32.self)
        }
        let swapped = payload.bigEndian != (Int32(1).bigEndian == 1)
        let decoded = words.withUnsafeMutableBufferPointer { words in
            integers.withUnsafeMutableBufferPointer { integers in
                Steim.decode(
                    UnsafeMutableBufferPointer(rebasing: words[0..<wordCount]), steim2: steim2, swapped: swapped,
                    into: UnsafeMutableBufferPointer(rebasing: integers[0..<count]))
            }
        }
        guard let decoded else {
            throw MiniSEEDError(
                .samples, record: record, offset: offset, "a word of the Steim frames has an impossible code")
        }
        guard decoded == count else {
            throw MiniSEEDError(
                .samples, record: record, offset: offset,
                "\(count) samples are promised, the Steim frames hold \(decoded)")
        }
        // The last sample, written a second time in the first frame.
        let last = swapped ? words[2].byteSwapped : words[2]
        guard integers[count - 1] == last else {
            throw MiniSEEDError(
                .samples, record: record, offset: offset,
                "the last sample decodes to \(integers[count - 1]), the frames say \(last): the samples are damaged")
        }
    }
}
