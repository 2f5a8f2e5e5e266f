import Values

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
