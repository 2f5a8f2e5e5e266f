import Administration
import Glibc
import Messages
import Settings
import Values

/// A file of settings that only we can read, while a person edits it.
final class EditedFile {
    let path: String

    init(_ text: String) throws(CtlError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/seismote-XXXXXX.yaml".utf8CString)
        let file = mkstemps(&name, 5)
        guard file >= 0 else { throw Self.failure("a file in \(folder)") }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { close(file) }
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                write(file, raw.baseAddress.map { $0 + done }, bytes.count - done)
            }
            guard count > 0 else { throw Self.failure(path) }
            done += count
        }
    }

    deinit { unlink(path) }

    private static func failure(_ what: String) -> CtlError {
        CtlError(status: .files, "cannot write \(what): \(String(cString: strerror(errno)))")
    }

    /// Runs $VISUAL, $EDITOR or vi on it.
    func edit() throws(CtlError) {
        var editor: String?
        for name: String in ["EDITOR", "VISUAL"] {
            if let value = getenv(name), value.pointee != 0 { editor = String(cString: value) }
        }
        let words = ["/bin/sh", "-c", (editor ?? "vi") + " \"$1\"", "sh", path]
        let run = ChildProgram(words, seconds: .infinity, files: (STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO))
        guard let run else { throw CtlError(status: .files, "the editor: /bin/sh cannot be started") }
        guard run.isDone else {
            throw CtlError(status: .files, "the editor \(editor ?? "vi") returned an error; nothing was sent")
        }
    }

    func tree() throws(CodedError) -> Value {
        do throws(CodedError) {
            return try YAMLDocument.read(try SettingsFile.read(path))
        } catch {
            var error = error
            error.source = .file
            throw error
        }
    }
}
