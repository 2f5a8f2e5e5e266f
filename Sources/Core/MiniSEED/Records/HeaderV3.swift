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
