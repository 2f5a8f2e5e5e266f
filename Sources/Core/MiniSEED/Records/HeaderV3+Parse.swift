import Values

extension HeaderV3 {
    static func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count >= fixedBytes && bytes[0] == 0x4D && bytes[1] == 0x53 && bytes[2] == 3
    }

    /// The sum of the parts' lengths.
    static func recordLength(
        _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> Int {
        let data = Int(bytes.integer(36, bigEndian: false, as: UInt32.self))
        let extra = Int(bytes.integer(34, bigEndian: false, as: UInt16.self))
        let length = fixedBytes + Int(bytes[33]) + extra + data
        guard length <= MiniSEEDParser.longestRecord else {
            throw MiniSEEDError(
                .header, record: record, offset: offset,
                "a record of \(length) bytes, allowed are \(MiniSEEDParser.longestRecord)")
        }
        return length
    }

    /// - Precondition: `matches`.
    static func parse(
        _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> MiniSEEDHeader {
        func fail(_ code: MiniSEEDError.Code, _ reason: String) -> MiniSEEDError {
            MiniSEEDError(code, record: record, offset: offset, reason)
        }
        let length = try recordLength(bytes, record, offset)
        guard length <= bytes.count else {
            throw fail(.truncated, "the record has \(length) bytes, only \(bytes.count) are left")
        }
        let whole = UnsafeRawBufferPointer(rebasing: bytes[0..<length])
        let stored = bytes.integer(checksumRange.lowerBound, bigEndian: false, as: UInt32.self)
        let computed = CRC32C.checksum(whole, zeroed: checksumRange)
        guard stored == computed else {
            throw fail(
                .checksum,
                "CRC-32C is 0x\(String(stored, radix: 16)), that of the bytes is 0x\(String(computed, radix: 16))")
        }
        let calendar = CalendarTime(
            year: Int(bytes.integer(8, bigEndian: false, as: UInt16.self)),
            dayOfYear: Int(bytes.integer(10, bigEndian: false, as: UInt16.self)), hour: Int(bytes[12]),
            minute: Int(bytes[13]), second: Int(bytes[14]),
            nanosecond: Int(bytes.integer(4, bigEndian: false, as: UInt32.self)))
        guard let start = calendar.nanoseconds else { throw fail(.header, "\(calendar.text) is no time") }
        // Negative: the sample interval in seconds.
        let written = Double(bitPattern: bytes.integer(16, bigEndian: false, as: UInt64.self))
        let rate = written < 0 ? -1 / written : written
        guard rate.isFinite else { throw fail(.header, "\(written) is no sample rate") }
        let identifierEnd = fixedBytes + Int(bytes[33])
        let text = String(decoding: bytes[fixedBytes..<identifierEnd], as: UTF8.self)
        guard let source = SourceIdentifier(text) else {
            throw fail(.header, "\"\(printable(text))\" is no FDSN source identifier")
        }
        let dataLength = Int(bytes.integer(36, bigEndian: false, as: UInt32.self))
        let encoding = bytes[15]
        return MiniSEEDHeader(
            format: .v3, source: source, start: start, rate: rate, length: length,
            payload: MiniSEEDPayload(
                encodingCode: encoding,
                bigEndian: encoding == MiniSEEDEncoding.steim1.rawValue
                    || encoding == MiniSEEDEncoding.steim2.rawValue,
                count: Int(bytes.integer(24, bigEndian: false, as: UInt32.self)), offset: length - dataLength,
                length: dataLength))
    }
}

/// A text from outside, fit for a message: control characters and what is not ASCII become `?`, and it is cut.
func printable(_ text: String) -> String {
    String(decoding: text.utf8.prefix(64).map { $0 >= 0x20 && $0 < 0x7F ? $0 : 0x3F }, as: UTF8.self)
}
