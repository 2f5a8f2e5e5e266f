import Glibc
import Messages
import Platform
import Station
import Values

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
                ProgramOutput.endAsBrokenPipe()
            } else if !ProgramOutput.isOnlyLater(descriptor) {
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

/// Publications as lines of JSON: `{"topic","qos","retain","payload"}`, other payloads as base64 in `payload_b64`.
final class MessageLines {
    private let file: OutputFile

    init(_ file: OutputFile) { self.file = file }

    func write(_ header: PublicationHeader, _ bytes: UnsafeRawBufferPointer) {
        file.append("{\"topic\":")
        file.append(String(decoding: Value.string(header.topic).json(), as: UTF8.self))
        file.append(",\"qos\":")
        file.append(header.qos == 0 ? "0" : "1" as StaticString)
        file.append(",\"retain\":")
        file.append(header.retain ? "true" : "false" as StaticString)
        switch header.contentType {
        case .json where !bytes.isEmpty:
            file.append(",\"payload\":")
            file.append(bytes)
        case .mseed, .cbor:
            file.append(",\"payload_b64\":\"")
            file.append(Base64.text(Array(bytes)))
            file.append("\"")
        default:
            file.append(",\"payload\":")
            file.append(String(decoding: Value.string(String(decoding: bytes, as: UTF8.self)).json(), as: UTF8.self))
        }
        file.append("}")
        file.endLine()
    }

    func check() throws(OutputError) { try file.check() }

    func close() throws(OutputError) { try file.finish() }
}

/// All signals as CSV: a header, then one line a sample. Numbers are the shortest text that reads back to the same
/// double.
final class SeriesWriter {
    private let file: OutputFile
    private var start: Int64?
    private static let axes: [StaticString] = ["x", "y", "z"]

    private let ratios: [RatioColumn]

    init(_ file: OutputFile, ratios: [RatioColumn]) {
        self.ratios = ratios
        self.file = file
        file.append("t")
        for axis in ["x", "y", "z"] {
            for signal in ["raw", "offset_removed", "filtered", "rms", "triggered"] {
                file.append(",\(axis)_\(signal)")
            }
        }
        for ratio in ratios { file.append(",\(ratio.name)") }
        file.endLine()
    }

    func write(_ chunk: SeriesChunk) {
        for i in 0..<chunk.count {
            let time = chunk.time(i)
            let first = start ?? time
            start = first
            number(Double(time - first) / 1e9)
            for axis in 0..<3 {
                let k = axis * chunk.stride + i
                for signal in [chunk.raw, chunk.offsetRemoved, chunk.filtered, chunk.rms] {
                    file.append(UInt8(ascii: ","))
                    number(signal[k])
                }
                file.append(chunk.triggered[k] != 0 ? ",1" : ",0" as StaticString)
            }
            for ratio in ratios {
                file.append(UInt8(ascii: ","))
                number(chunk.ratio(ratio)[i])
            }
            file.endLine()
        }
    }

    private func number(_ value: Double) {
        // Whole numbers without the point: `5` reads back to the same double as `5.0`.
        var text = value.description
        if text.hasSuffix(".0") { text.removeLast(2) }
        file.append(text)
    }

    func check() throws(OutputError) { try file.check() }

    func close() throws(OutputError) { try file.finish() }
}

/// Progress of a command, on a terminal only.
final class ProgressBar {
    private let enabled: Bool
    private var shown = -1

    init(enabled: Bool) { self.enabled = enabled && isatty(STDERR_FILENO) != 0 }

    func show(_ done: Int, of total: Int) {
        guard enabled, total > 0 else { return }
        let percent = min(100, done * 100 / total)
        guard percent != shown else { return }
        shown = percent
        let filled = percent * 40 / 100
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 40 - filled)
        ProgramOutput.write("\r\(bar) \(percent) %")
    }

    func finish() {
        if enabled, shown >= 0 { ProgramOutput.write("\r\u{1b}[K") }
    }
}
