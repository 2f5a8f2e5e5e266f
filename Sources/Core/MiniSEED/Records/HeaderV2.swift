import Values

/// A sample rate as miniSEED 2 writes it: factor and multiplier, and blockette 100 where those do not suffice.
struct RateFields {
    var factor: Int16
    var multiplier: Int16
    /// Factor and multiplier give the rate to 1e-9; otherwise blockette 100 is needed.
    var exact: Bool
    var rate: Double

    init(rate: Double) {
        self.rate = rate
        for divisor in 1...1000 {
            let product = rate * Double(divisor)
            let whole = product.rounded()
            guard whole <= 32767 else { break }
            if whole >= 1, abs(product - whole) <= 1e-9 * product {
                (factor, multiplier, exact) = (Int16(whole), divisor == 1 ? 1 : Int16(-divisor), true)
                return
            }
        }
        // The nearest that fits; readers take blockette 100 instead.
        exact = false
        if rate > 32767 {
            (factor, multiplier) = (Int16(min(32767, (rate / 1000).rounded())), 1000)
        } else {
            let divisor = max(1, min(1000, (32767 / rate).rounded(.down)))
            (factor, multiplier) = (Int16((rate * divisor).rounded()), Int16(-divisor))
        }
    }
}

/// The fixed header and the blockettes 1000, 1001 and 100 of miniSEED 2, big endian. Reference: SEED manual 2.4.
enum HeaderV2 {
    static let fixedBytes = 48

    /// Whether the source's codes fit into the fixed header.
    static func check(_ source: SourceIdentifier) throws(MiniSEEDError) {
        try check(source.network, "network", 2)
        try check(source.station, "station", 5)
        try check(source.location, "location", 2)
        try check(source.channel, "channel", 3)
    }

    private static func check(_ code: String, _ name: String, _ most: Int) throws(MiniSEEDError) {
        guard code.isMade(0...most, of: { $0.isVisible }) else {
            throw MiniSEEDError(
                .argument, "\(name) code \"\(code)\": miniSEED 2 takes at most \(most) printable characters")
        }
    }

    static func append(
        to output: inout [UInt8], sequence: Int, source: SourceIdentifier, time: Int64, rate: RateFields,
        encoding: MiniSEEDEncoding, count: Int, recordLength: Int, dataOffset: Int, frames: Int
    ) {
        let start = output.count
        var divisor = 100_000
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(sequence / divisor % 10))
            divisor /= 10
        }
        output.append(UInt8(ascii: "D"))
        output.append(UInt8(ascii: " "))
        append(source.station, padded: 5, to: &output)
        append(source.location, padded: 2, to: &output)
        let channel = output.count
        append(source.band, padded: 0, to: &output)
        append(source.source, padded: 0, to: &output)
        append(source.subsource, padded: 0, to: &output)
        while output.count < channel + 3 { output.append(0x20) }
        append(source.network, padded: 2, to: &output)
        // Round to the microsecond, then split into ticks of 100 µs and the microseconds of blockette 1001.
        let rounded = time.addingReportingOverflow(500).partialValue
        let calendar = CalendarTime(nanoseconds: rounded)
        let microseconds = calendar.nanosecond / 1000
        output.appendBig(UInt16(calendar.year))
        output.appendBig(UInt16(calendar.dayOfYear))
        output.append(UInt8(calendar.hour))
        output.append(UInt8(calendar.minute))
        output.append(UInt8(calendar.second))
        output.append(0)
        output.appendBig(UInt16(microseconds / 100))
        output.appendBig(UInt16(count))
        output.appendBig(UInt16(bitPattern: rate.factor))
        output.appendBig(UInt16(bitPattern: rate.multiplier))
        output.append(0)  // activity
        output.append(0)  // input and output
        output.append(0)  // data quality
        output.append(rate.exact ? 2 : 3)
        output.appendBig(UInt32(0))  // time correction
        output.appendBig(UInt16(dataOffset))
        output.appendBig(UInt16(fixedBytes))
        // Blockette 1000: coding, big endian, length.
        output.appendBig(UInt16(1000))
        output.appendBig(UInt16(56))
        output.append(encoding.rawValue)
        output.append(1)
        output.append(UInt8(recordLength.trailingZeroBitCount))
        output.append(0)
        // Blockette 1001: timing quality is not known, microseconds, frames.
        output.appendBig(UInt16(1001))
        output.appendBig(UInt16(rate.exact ? 0 : 64))
        output.append(0)
        output.append(UInt8(microseconds % 100))
        output.append(0)
        output.append(UInt8(min(frames, 255)))
        if !rate.exact {
            output.appendBig(UInt16(100))
            output.appendBig(UInt16(0))
            output.appendBig(Float(rate.rate).bitPattern)
            output.appendBig(UInt32(0))
        }
        while output.count < start + dataOffset { output.append(0) }
    }

    /// The text, filled up with spaces; `check` has seen that it is not longer.
    private static func append(_ text: String, padded width: Int, to output: inout [UInt8]) {
        var count = 0
        for byte in text.utf8 {
            output.append(byte)
            count += 1
        }
        while count < width {
            output.append(0x20)
            count += 1
        }
    }
}
