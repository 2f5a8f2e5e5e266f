import CMiniSEED
import Platform

/// Steim's difference coding, by libmseed, behind checks of everything that libmseed takes on trust.
///
/// Frames are 16 words of 32 bits; the first carries the first and the last sample. Differences of Steim2 have at
/// most 30 bits. Reference: SEED manual 2.4, appendix B.
enum Steim {
    static let frameBytes = 64
    static let frameWords = 16
    /// Most samples that one frame can hold.
    static let steim1FrameSamples = 60
    static let steim2FrameSamples = 105
    /// Differences that Steim2 can hold.
    static let differences = Int32(-536_870_912)...536_870_911

    /// libmseed formats its messages in one static buffer, so only one thread at a time may make it complain.
    private static let libraryLock = Mutex(())

    /// "?": the name of the source in messages that nobody sees. libmseed reads it as a C string, to its zero byte.
    nonisolated(unsafe) private static let source = {
        let name = UnsafeMutablePointer<CChar>.allocate(capacity: 2)
        name[0] = 63
        name[1] = 0
        return name
    }()

    /// Hands libmseed a printer that prints nothing, once.
    private static let silenced: Bool = {
        ms_loginit({ @Sendable _ in }, nil, { @Sendable _ in }, nil)
        return true
    }()

    /// Decodes whole frames.
    /// - Parameters:
    ///   - frames: words of whole frames in the order of the record.
    ///   - swapped: the words are in the other byte order than this machine's.
    ///   - samples: as many as the header promises, at most what the frames can hold.
    /// - Returns: the number of samples decoded; nil when a word has an impossible code.
    static func decode(
        _ frames: UnsafeMutableBufferPointer<Int32>, steim2: Bool, swapped: Bool,
        into samples: UnsafeMutableBufferPointer<Int32>
    ) -> Int? {
        guard silenced, frames.count >= frameWords, samples.count > 0 else { return nil }
        return libraryLock.withLock { _ in
            let decoder = steim2 ? msr_decode_steim2 : msr_decode_steim1
            let count = decoder(
                frames.baseAddress, Int32(frames.count / frameWords * frameBytes), Int32(samples.count),
                samples.baseAddress, Int32(clamping: samples.count * 4), source, swapped ? 1 : 0)
            return count < 0 ? nil : Int(count)
        }
    }

    /// Encodes as many samples as fit into the frames, with Steim2, big endian.
    /// - Parameter first: the difference of the first sample to the one before the record, or 0.
    /// - Returns: the number of samples encoded, 0 when a difference has more than 30 bits.
    static func encode2(
        _ samples: UnsafeBufferPointer<Int32>, first: Int32, into frames: UnsafeMutableBufferPointer<Int32>
    ) -> Int {
        guard silenced, samples.count > 0, frames.count >= frameWords else { return 0 }
        let limit = frames.count / frameWords * steim2FrameSamples
        let count = min(samples.count, limit)
        for index in 1..<max(1, count) {
            let (difference, overflow) = samples[index].subtractingReportingOverflow(samples[index - 1])
            // A record ends before a difference that does not fit.
            if overflow || !differences.contains(difference) {
                return pack(UnsafeBufferPointer(rebasing: samples[0..<index]), first: first, into: frames)
            }
        }
        return pack(UnsafeBufferPointer(rebasing: samples[0..<count]), first: first, into: frames)
    }

    private static func pack(
        _ samples: UnsafeBufferPointer<Int32>, first: Int32, into frames: UnsafeMutableBufferPointer<Int32>
    ) -> Int {
        let count = msr_encode_steim2(
            UnsafeMutablePointer(mutating: samples.baseAddress), Int32(samples.count), frames.baseAddress,
            Int32(frames.count / frameWords * frameBytes), differences.contains(first) ? first : 0, source,
            Int32(1).bigEndian == 1 ? 0 : 1)
        return max(0, Int(count))
    }
}

/// Codings of older networks, 16 bits a sample: a mantissa and a gain (SEED Reference Manual 2.4, appendix D). They are read
/// alone.
enum GainRangedEncoding: UInt8 {
    case geoscope3 = 13
    case geoscope4 = 14
    case cdsn = 16
    case sro = 30
    case dwwssn = 32

    /// Whether all its samples are whole numbers.
    var isWhole: Bool { self != .geoscope3 && self != .geoscope4 }

    /// The sample of a word; nil for a gain that there is not.
    func value(_ word: UInt16) -> Double? {
        let low = Int(word & 0x0FFF)
        switch self {
        case .geoscope3: return Double(low - 2048) / Double(1 << Int(word >> 12 & 7))
        case .geoscope4: return Double(low - 2048) / Double(1 << Int(word >> 12))
        case .cdsn: return Double((Int(word & 0x3FFF) - 0x1FFF) << [0, 2, 4, 7][Int(word >> 14)])
        case .sro:
            let exponent = 10 - Int(word >> 12)
            return exponent < 0 ? nil : Double((low > 0x7FF ? low - 0x1000 : low) << exponent)
        case .dwwssn: return Double(Int16(bitPattern: word))
        }
    }
}

extension [UInt8] {
    mutating func appendBig<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        var shift = T.bitWidth
        while shift > 0 {
            shift -= 8
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
        }
    }

    mutating func appendLittle<T: FixedWidthInteger & UnsignedInteger>(_ value: T) {
        var shift = 0
        while shift < T.bitWidth {
            append(UInt8(truncatingIfNeeded: value >> T(shift)))
            shift += 8
        }
    }
}

extension UnsafeRawBufferPointer {
    /// An integer at an offset that the caller has checked, in the given byte order.
    func integer<T: FixedWidthInteger>(_ offset: Int, bigEndian: Bool, as: T.Type = T.self) -> T {
        let value = loadUnaligned(fromByteOffset: offset, as: T.self)
        return bigEndian ? T(bigEndian: value) : T(littleEndian: value)
    }
}
