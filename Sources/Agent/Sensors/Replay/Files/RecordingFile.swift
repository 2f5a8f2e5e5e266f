import Glibc
import MiniSEED

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
