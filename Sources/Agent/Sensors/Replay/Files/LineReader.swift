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
