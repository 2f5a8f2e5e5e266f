import Values

/// The header of miniSEED 3, little endian. Reference: FDSN, miniSEED 3 specification (2023), section "Record layout".
enum HeaderV3 {
    static let fixedBytes = 40
    static let checksumRange = 28..<32

    /// Whether the source's text fits.
    static func check(_ source: SourceIdentifier) throws(MiniSEEDError) {
        let parts = (
            source.network, source.station, source.location, source.band, source.source, source.subsource
        )
        let good =
            legal(parts.0, 8) && legal(parts.1, 8) && legal(parts.2, 8) && legal(parts.3, 8) && legal(parts.4, 8)
            && legal(parts.5, 8)
        guard good else {
            throw MiniSEEDError(
                .argument,
                "source \(source): each part takes at most 8 of A-Z, a-z, 0-9 and - (FDSN source identifiers)")
        }
    }

    private static func legal(_ part: String, _ most: Int) -> Bool {
        part.isMade(0...most) { $0.isAlphanumeric || $0 == 0x2D }
    }

    static func append(
        to output: inout [UInt8], source: SourceIdentifier, time: Int64, rate: Double, encoding: MiniSEEDEncoding,
        count: Int, dataLength: Int, extra: [UInt8] = []
    ) {
        let calendar = CalendarTime(nanoseconds: time)
        let start = output.count
        output.append(UInt8(ascii: "M"))
        output.append(UInt8(ascii: "S"))
        output.append(3)
        output.append(0)
        output.appendLittle(UInt32(calendar.nanosecond))
        output.appendLittle(UInt16(calendar.year))
        output.appendLittle(UInt16(calendar.dayOfYear))
        output.append(UInt8(calendar.hour))
        output.append(UInt8(calendar.minute))
        output.append(UInt8(calendar.second))
        output.append(encoding.rawValue)
        output.appendLittle(rate.bitPattern)
        output.appendLittle(UInt32(count))
        output.appendLittle(UInt32(0))  // check sum, see `seal`
        output.append(1)  // publication version
        output.append(0)  // length of the source identifier, below
        output.appendLittle(UInt16(extra.count))
        output.appendLittle(UInt32(dataLength))
        appendText("FDSN:", to: &output)
        appendText(source.network, to: &output)
        appendPart(source.station, to: &output)
        appendPart(source.location, to: &output)
        appendPart(source.band, to: &output)
        appendPart(source.source, to: &output)
        appendPart(source.subsource, to: &output)
        output[start + 33] = UInt8(output.count - start - fixedBytes)
        output.append(contentsOf: extra)
    }

    /// Puts the check sum into the record that reaches from `start` to the end.
    static func seal(_ output: inout [UInt8], from start: Int) {
        let sum = output.withUnsafeBytes {
            CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[start...]), zeroed: checksumRange)
        }
        for byte in 0..<4 { output[start + checksumRange.lowerBound + byte] = UInt8(sum >> (8 * UInt32(byte)) & 0xFF) }
    }

    private static func appendPart(_ text: String, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "_"))
        appendText(text, to: &output)
    }

    private static func appendText(_ text: String, to output: inout [UInt8]) {
        for byte in text.utf8 { output.append(byte) }
    }
}

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
