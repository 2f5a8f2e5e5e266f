import CMiniSEED
import Threads

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
