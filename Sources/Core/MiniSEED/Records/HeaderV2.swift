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

extension HeaderV2 {
    /// Sequence number, quality and reserved byte as SEED demands them.
    static func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= fixedBytes else { return false }
        for index in 0..<6 where !bytes[index].isDigit && bytes[index] != 0x20 && bytes[index] != 0 { return false }
        switch bytes[6] {
        case 0x44, 0x52, 0x51, 0x4D: return bytes[7] == 0x20 || bytes[7] == 0  // D, R, Q, M
        default: return false
        }
    }

    /// Contents of the blockettes, and the header's byte order.
    struct Layout {
        var bigEndian: Bool
        var recordLength: Int
        var encoding: UInt8
        var dataBigEndian: Bool
        /// From blockette 1001.
        var microseconds = 0
        /// From blockette 100.
        var rate: Double?
    }

    /// Walks the chain of blockettes.
    /// - Precondition: `matches`.
    static func layout(
        _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> Layout {
        func fail(_ code: MiniSEEDError.Code, _ reason: String) -> MiniSEEDError {
            MiniSEEDError(code, record: record, offset: offset, reason)
        }
        // The order in which year and day make sense is the header's.
        let bigEndian: Bool
        if sensibleDate(bytes, bigEndian: true) {
            bigEndian = true
        } else if sensibleDate(bytes, bigEndian: false) {
            bigEndian = false
        } else {
            throw fail(.header, "year and day of the start time make no sense in either byte order")
        }
        var found: Layout?
        var microseconds = 0
        var rate: Double?
        var position = Int(bytes.integer(46, bigEndian: bigEndian, as: UInt16.self))
        // Each blockette lies behind the one before, so the chain ends.
        while position != 0 {
            guard position >= fixedBytes, position + 8 <= bytes.count else {
                throw fail(
                    position >= fixedBytes && bytes.count < MiniSEEDParser.prefixBytes ? .truncated : .header,
                    "a blockette at byte \(position) of the record lies outside of it")
            }
            let type = bytes.integer(position, bigEndian: bigEndian, as: UInt16.self)
            let next = Int(bytes.integer(position + 2, bigEndian: bigEndian, as: UInt16.self))
            switch type {
            case 1000:
                let exponent = bytes[position + 6]
                guard (7...20).contains(exponent) else {
                    throw fail(.header, "a record length of 2^\(exponent) bytes, allowed are 2^7 to 2^20")
                }
                found = Layout(
                    bigEndian: bigEndian, recordLength: 1 << Int(exponent), encoding: bytes[position + 4],
                    dataBigEndian: bytes[position + 5] != 0)
            case 1001:
                microseconds = Int(Int8(bitPattern: bytes[position + 5]))
            case 100:
                rate = Double(Float(bitPattern: bytes.integer(position + 4, bigEndian: bigEndian, as: UInt32.self)))
            default: break
            }
            guard next == 0 || next >= position + 4 else {
                throw fail(.header, "blockette \(type) at byte \(position) of the record points back to byte \(next)")
            }
            position = next
        }
        guard var layout = found else {
            throw fail(.header, "no blockette 1000, so it is not miniSEED")
        }
        layout.microseconds = microseconds
        layout.rate = rate
        return layout
    }

    private static func sensibleDate(_ bytes: UnsafeRawBufferPointer, bigEndian: Bool) -> Bool {
        (1900...2100).contains(bytes.integer(20, bigEndian: bigEndian, as: UInt16.self))
            && (1...366).contains(bytes.integer(22, bigEndian: bigEndian, as: UInt16.self))
    }

    /// - Precondition: `matches`.
    static func parse(
        _ bytes: UnsafeRawBufferPointer, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> MiniSEEDHeader {
        func fail(_ code: MiniSEEDError.Code, _ reason: String) -> MiniSEEDError {
            MiniSEEDError(code, record: record, offset: offset, reason)
        }
        let layout = try layout(bytes, record, offset)
        let big = layout.bigEndian
        let length = layout.recordLength
        guard length <= bytes.count else {
            throw fail(.truncated, "the record has \(length) bytes, only \(bytes.count) are left")
        }
        let count = Int(bytes.integer(30, bigEndian: big, as: UInt16.self))
        let dataOffset = Int(bytes.integer(44, bigEndian: big, as: UInt16.self))
        guard count == 0 || (dataOffset >= fixedBytes && dataOffset < length) else {
            throw fail(.header, "samples at byte \(dataOffset) of a record of \(length) bytes")
        }
        let factor = Int16(bitPattern: bytes.integer(32, bigEndian: big, as: UInt16.self))
        let multiplier = Int16(bitPattern: bytes.integer(34, bigEndian: big, as: UInt16.self))
        let rate = layout.rate ?? nominalRate(factor, multiplier)
        guard rate.isFinite, rate >= 0 else { throw fail(.header, "\(rate) is no sample rate") }
        let source = SourceIdentifier(
            network: code(bytes, 18..<20), station: code(bytes, 8..<13), location: code(bytes, 13..<15),
            channel: code(bytes, 15..<18))
        return MiniSEEDHeader(
            format: .v2, source: source, start: try start(bytes, layout, record, offset), rate: rate, length: length,
            payload: MiniSEEDPayload(
                encodingCode: layout.encoding, bigEndian: layout.dataBigEndian, count: count, offset: dataOffset,
                length: max(0, length - dataOffset)))
    }

    private static func start(
        _ bytes: UnsafeRawBufferPointer, _ layout: Layout, _ record: Int, _ offset: Int
    ) throws(MiniSEEDError) -> Int64 {
        let big = layout.bigEndian
        let ticks = Int(bytes.integer(28, bigEndian: big, as: UInt16.self))
        let calendar = CalendarTime(
            year: Int(bytes.integer(20, bigEndian: big, as: UInt16.self)),
            dayOfYear: Int(bytes.integer(22, bigEndian: big, as: UInt16.self)), hour: Int(bytes[24]),
            minute: Int(bytes[25]), second: Int(bytes[26]), nanosecond: ticks * 100_000)
        guard let time = calendar.nanoseconds else {
            throw MiniSEEDError(.header, record: record, offset: offset, "\(calendar.text) is no time")
        }
        // The time correction, in 100 µs, is added unless activity flag 1 says that it already has been.
        let correction = Int64(bytes.integer(40, bigEndian: big, as: Int32.self))
        let applied = bytes[36] & 0x02 != 0
        return time + Int64(layout.microseconds) * 1000 + (applied ? 0 : correction * 100_000)
    }

    /// Factor and multiplier: positive ones multiply, negative ones divide.
    private static func nominalRate(_ factor: Int16, _ multiplier: Int16) -> Double {
        let (f, m) = (Double(factor), Double(multiplier))
        guard f != 0, m != 0 else { return 0 }
        return (f > 0 ? f : -1 / f) * (m > 0 ? m : -1 / m)
    }

    /// A code of the fixed header without its spaces; bytes that are not printable become `?`.
    private static func code(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> String {
        var text: [UInt8] = []
        // (Loggers are known that leave what is not ASCII in codes that they do not use.)
        for byte in bytes[range] where byte != 0x20 && byte != 0 && byte < 0x7F {
            text.append(byte > 0x20 ? byte : 0x3F)
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension CalendarTime {
    /// For messages.
    var text: String { "year \(year) day \(dayOfYear) \(hour):\(minute):\(second) +\(nanosecond) ns" }
}
