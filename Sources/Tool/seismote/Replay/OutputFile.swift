import Glibc

/// A file, or standard output (`-`), that is written in large pieces.
final class OutputFile {
    private let descriptor: Int32
    private let path: String
    private var buffer: [UInt8] = []
    private var failure: OutputError?

    init(path: String) throws(OutputError) {
        self.path = path
        buffer.reserveCapacity(1 << 17)
        if path == "-" {
            descriptor = STDOUT_FILENO
        } else {
            descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
            guard descriptor >= 0 else { throw OutputError(path: path, code: errno) }
        }
    }

    func append(_ byte: UInt8) { buffer.append(byte) }

    func append(_ text: StaticString) { text.withUTF8Buffer { buffer.append(contentsOf: $0) } }

    func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(contentsOf: bytes) }

    func append(_ text: String) { buffer.append(contentsOf: text.utf8) }

    /// Writes when enough has come together; for the end of a line.
    func endLine() {
        buffer.append(UInt8(ascii: "\n"))
        if buffer.count >= 1 << 16 { flush() }
    }

    /// Writes what has come together.
    func flush() {
        var done = 0
        while done < buffer.count, failure == nil {
            let written = buffer.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            }
            if written > 0 {
                done += written
            } else if errno == EPIPE, descriptor == STDOUT_FILENO {
                endAsBrokenPipe()
            } else if errno != EINTR {
                failure = OutputError(path: path, code: errno)
            }
        }
        buffer.removeAll(keepingCapacity: true)
    }

    /// Throws what went wrong while writing.
    func check() throws(OutputError) {
        if let failure { throw failure }
    }

    func finish() throws(OutputError) {
        flush()
        try check()
        if descriptor != STDOUT_FILENO, close(descriptor) != 0 { throw OutputError(path: path, code: errno) }
    }
}

/// A file that cannot be written.
struct OutputError: Error, CustomStringConvertible {
    var path: String
    var code: Int32
    var description: String { "cannot write \(path): \(String(cString: strerror(code)))" }
}
