import Glibc
import MiniSEED
import Values

/// A regular file that is open for reading. All reads name their place, so it can be shared and has no position.
final class RecordingFile: Sendable {
    let path: String
    let size: Int
    private let descriptor: Int32

    init(_ path: String) throws(SensorError) {
        self.path = path
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let code = errno
            let kind: SensorError.Code =
                switch code {
                case ENOENT, ENOTDIR, ENAMETOOLONG: .missing
                case EACCES, EPERM: .permission
                default: .fault
                }
            throw SensorError(kind, "\(path): \(Self.text(code))")
        }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            Glibc.close(descriptor)
            throw SensorError(.format, "\(path): not a regular file")
        }
        guard status.st_size > 0 else {
            Glibc.close(descriptor)
            throw SensorError(.format, "\(path): the file is empty")
        }
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { Glibc.close(descriptor) }

    /// Fills the buffer from a place on, less only at the end of the file.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(SensorError) -> Int {
        var done = 0
        while done < buffer.count {
            let count = pread(
                descriptor, buffer.baseAddress?.advanced(by: done), buffer.count - done, off_t(offset + done))
            if count == 0 { break }
            if count < 0 {
                let code = errno
                if code == EINTR { continue }
                throw SensorError(.fault, "\(path): \(Self.text(code))")
            }
            done += count
        }
        return done
    }

    private static func text(_ code: Int32) -> String {
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}

/// A channel of a recording, with the times of its first and last sample (ns of UTC).
public struct RecordedChannel: Sendable, Equatable {
    public var source: SourceIdentifier
    public var start: Int64
    public var end: Int64
}

/// Progress of a replay.
public struct ReplayProgress: Sendable, Equatable {
    /// Samples delivered in this pass of the file.
    public var read: Int
    /// Samples that one pass delivers.
    public var total: Int
}

/// Lines of a file, through one buffer of fixed size.
struct LineReader {
    /// Longest line taken, in bytes.
    static let longestLine = 4096
    private static let bufferBytes = 65536

    private let file: RecordingFile
    private var buffer: [UInt8]
    /// Bytes of the buffer that hold file content.
    private var filled = 0
    /// Where the next line starts in the buffer.
    private var position = 0
    /// Where the content behind the buffer starts in the file.
    private var offset = 0
    /// Number of the line last returned, from 1.
    private(set) var number = 0

    init(_ file: RecordingFile) {
        self.file = file
        buffer = [UInt8](repeating: 0, count: Self.bufferBytes)
    }

    /// Back to the first line.
    mutating func rewind() { (filled, position, offset, number) = (0, 0, 0, 0) }

    /// Gives the next line, without its end, to the body; nil at the end of the file.
    mutating func next<R>(_ body: (UnsafeRawBufferPointer) -> R) throws(SensorError) -> R? {
        var scanned = position
        while true {
            if let end = newline(from: scanned) {
                return try take(end, next: end + 1, body)
            }
            scanned = filled
            if offset >= file.size || filled - position > Self.longestLine {
                guard filled - position <= Self.longestLine else {
                    throw SensorError(
                        .format, "\(file.path):\(number + 1): the line is longer than \(Self.longestLine) bytes")
                }
                return filled == position ? nil : try take(filled, next: filled, body)
            }
            scanned -= position
            try refill()
        }
    }

    private func newline(from start: Int) -> Int? {
        buffer.withUnsafeBufferPointer { bytes in
            var index = start
            while index < filled {
                if bytes[index] == 0x0A { return index }
                index += 1
            }
            return nil
        }
    }

    private mutating func take<R>(
        _ end: Int, next: Int, _ body: (UnsafeRawBufferPointer) -> R
    ) throws(SensorError) -> R {
        number += 1
        guard end - position <= Self.longestLine else {
            throw SensorError(.format, "\(file.path):\(number): the line is longer than \(Self.longestLine) bytes")
        }
        let start = position
        position = next
        return buffer.withUnsafeBytes { bytes in
            var (first, last) = (start, end)
            // The byte order mark before the first line, and the carriage return of a line's end.
            if number == 1, last - first >= 3, bytes[first] == 0xEF, bytes[first + 1] == 0xBB, bytes[first + 2] == 0xBF
            {
                first += 3
            }
            if last > first, bytes[last - 1] == 0x0D { last -= 1 }
            return body(UnsafeRawBufferPointer(rebasing: bytes[first..<last]))
        }
    }

    /// Moves what is left to the front and reads more behind it.
    private mutating func refill() throws(SensorError) {
        let left = filled - position
        if position > 0 {
            buffer.withUnsafeMutableBytes { bytes in
                let rest = UnsafeRawBufferPointer(rebasing: bytes[position..<filled])
                UnsafeMutableRawBufferPointer(rebasing: bytes[0..<left]).copyMemory(from: rest)
            }
            position = 0
            filled = left
        }
        var failure: SensorError?
        let (file, at) = (self.file, offset)
        let count = buffer.withUnsafeMutableBytes { bytes in
            do throws(SensorError) {
                return try file.read(at: at, into: UnsafeMutableRawBufferPointer(rebasing: bytes[left...]))
            } catch {
                failure = error
                return 0
            }
        }
        if let failure { throw failure }
        // A file that has become shorter ends here.
        offset = count == 0 ? file.size : offset + count
        filled = left + count
    }
}

/// Formats that people give for recordings and that are not read: each is named, with what makes a recording of it.
enum ForeignFormat {
    /// A sentence on the format of a file that begins so; nil: it is none of these.
    static func sentence(_ bytes: UnsafeRawBufferPointer) -> String? {
        guard let (name, remedy) = recognised(bytes) else { return nil }
        return "this is \(name): \(remedy)"
    }

    private static let byObsPy =
        "convert it with ObsPy: python3 -c 'import obspy; obspy.read(\"FILE\").write(\"FILE.mseed\", \"MSEED\")'"
    private static let noSamples = "it describes stations and has no samples; give it as --stationxml to a recording"
    private static let unpack = "unpack it, and give the recording that is in it"

    private static func recognised(_ bytes: UnsafeRawBufferPointer) -> (String, String)? {
        for (start, name, remedy) in [
            ("WID2 ", "GSE2", byObsPy), ("WID1 ", "GSE1", byObsPy), ("XW01", "GSE1", byObsPy),
            ("BEGIN GSE", "GSE2", byObsPy),
            ("BEGIN IMS", "IMS 1.0", byObsPy), ("TIMESERIES ", "SLIST or TSPAIR text", byObsPy),
            ("Origin Time ", "K-NET or KiK-net text", byObsPy),
            ("PK\u{3}\u{4}", "a ZIP archive (or a table of Excel)", unpack),
            ("RIFF", "WAV", "write it as CSV with columns t, x, y, z"),
            (
                "{", "JSON",
                "messages of a station are read by seismote convert; write others as CSV with columns t, x, y, z"
            ),
            ("MATLAB 5.0", "a file of MATLAB", "write it as CSV with columns t, x, y, z"),
            ("%PDF", "a PDF", "a recording is CSV or miniSEED"),
        ] where begins(bytes, Array(start.utf8)) { return (name, remedy) }
        if begins(bytes, [0x1F, 0x8B]) { return ("gzip", unpack) }
        if begins(bytes, [0x89, 0x48, 0x44, 0x46]) { return ("HDF5", "write it as CSV with columns t, x, y, z") }
        if begins(bytes, [0x3C]) || begins(bytes, [0xEF, 0xBB, 0xBF, 0x3C]) {
            if contains(bytes, "FDSNStationXML") { return ("StationXML", noSamples) }
            if contains(bytes, "quakeml") { return ("QuakeML", "it describes earthquakes and has no samples") }
            return ("XML", "a recording is CSV or miniSEED")
        }
        // Sequence number and the code of a control header.
        if bytes.count >= 8, bytes[0..<6].allSatisfy({ $0.isDigit }), "VASTRN".utf8.contains(bytes[6]),
            bytes[7] == 0x20 || bytes[7] == 0x2A
        {
            return ("full SEED or a dataless volume", byObsPy)
        }
        return isSAC(bytes) ? ("SAC", byObsPy) : nil
    }

    private static func begins(_ bytes: UnsafeRawBufferPointer, _ start: [UInt8]) -> Bool {
        bytes.count >= start.count && bytes[0..<start.count].elementsEqual(start)
    }

    private static func contains(_ bytes: UnsafeRawBufferPointer, _ word: String) -> Bool {
        let word = Array(word.utf8)
        guard bytes.count >= word.count else { return false }
        return (0...(bytes.count - word.count)).contains { bytes[$0..<$0 + word.count].elementsEqual(word) }
    }

    /// The version of the header, 6 or 7, in either order of bytes; what is no text stands around it.
    private static func isSAC(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 632 else { return false }
        let version = bytes.loadUnaligned(fromByteOffset: 304, as: UInt32.self)
        guard [6, 7].contains(version.littleEndian) || [6, 7].contains(version.bigEndian) else { return false }
        return bytes[0..<440].contains(0)
    }
}
