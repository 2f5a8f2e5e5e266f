import Glibc

/// Output of a program beside its results.
public enum ProgramOutput {
    /// The whole text; in one write where it is taken, so that lines of several threads do not mix.
    public static func write(_ text: String, to descriptor: Int32 = STDERR_FILENO) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// One or more lines to standard error.
    public static func printError(_ text: String) { write(text + "\n") }
}

/// Exit statuses, where they can be those of sysexits.h.
public enum ExitStatus: Int32, Sendable {
    case fault = 1
    case usage = 64
    /// Input that is wrong, or is not there.
    case data = 65
    case noInput = 66
    /// A broker, sensor or service cannot be had.
    case unavailable = 69
    /// A file that cannot be read or written.
    case files = 74
    case settings = 78
}
