import Glibc
import Messages
import Values

/// Files with settings, read with a bound on their size.
public enum SettingsFile {
    /// The bytes of a file of settings.
    ///
    /// - Parameter isOwn: the agent has written it: anything but a regular file is refused, and nothing is waited for. (A
    ///   file that somebody names may be a pipe.)
    /// - Throws: an error of code `unavailable` that names the file and the reason, `type` when a file of the agent's own
    ///   is none, or `tooLarge`.
    public static func read(_ path: String, isOwn: Bool = false) throws(CodedError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (isOwn ? O_NONBLOCK : 0))
        guard descriptor >= 0 else { throw failure(path, errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(path, errno) }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        if isOwn, !isRegular { throw CodedError("", .type, "\(path) is not a regular file.") }
        if isRegular, status.st_size > ReadingLimit.bytes {
            throw tooLarge(path, "\(status.st_size) bytes")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(path, errno)
            }
            bytes += chunk[..<count]
            if bytes.count > ReadingLimit.bytes { throw tooLarge(path, "more than \(ReadingLimit.bytes) bytes") }
        }
    }

    /// Whether there is anything at a path.
    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR) }

    private static func failure(_ path: String, _ code: Int32) -> CodedError {
        CodedError("", .unavailable, "Cannot read \(path): \(String(cString: strerror(code))).")
    }

    private static func tooLarge(_ path: String, _ size: String) -> CodedError {
        CodedError(
            "", .tooLarge, "\(path) has \(size); settings are read up to \(ReadingLimit.bytes).",
            allowed: "at most \(ReadingLimit.bytes) bytes")
    }
}

extension Settings {
    /// Reads the files and puts the layers together; see ``load(file:preset:overlay:overrides:)``.
    ///
    /// - Parameters:
    ///   - path: of the settings file; nil for none.
    ///   - preset: name of a preset, or path of a file (with a `/` or ending in `.yaml`); nil for none.
    public static func load(
        path: String?, preset: String? = nil, overrides: [String] = []
    ) throws(CodedErrors) -> LoadedSettings {
        var errors: [CodedError] = []
        var bytes: [SettingSource: [UInt8]] = [:]
        if let preset {
            do throws(CodedError) {
                bytes[.preset] = try Preset.bytes(preset)
            } catch {
                errors.append(error.from(.preset))
            }
        }
        if let path {
            do throws(CodedError) {
                bytes[.file] = try SettingsFile.read(path)
            } catch {
                errors.append(error.from(.file))
            }
        }
        do throws(CodedErrors) {
            let loaded = try load(file: bytes[.file], preset: bytes[.preset], overrides: overrides)
            guard errors.isEmpty else { throw CodedErrors(errors) }
            return loaded
        } catch {
            throw errors.isEmpty || error.errors == errors ? error : CodedErrors(errors + error.errors)
        }
    }
}

extension CodedError {
    /// The same error with its source.
    func from(_ source: SettingSource) -> CodedError {
        var error = self
        error.source = source
        return error
    }
}

extension CodedError {
    /// One line for people: place, path, sentence, code, what was given and what is allowed.
    ///
    /// - Parameter fileName: of the settings file; nil when there is none.
    public func text(fileName: String? = nil) -> String {
        var text = ""
        switch source {
        case .file: text += fileName ?? "file"
        case .preset, .overlay, .commandLine, .default: text += source?.rawValue ?? ""
        case nil: break
        }
        if let line { text += ":\(line)" + (column.map { ":\($0)" } ?? "") }
        if !text.isEmpty { text += ": " }
        if !path.isEmpty { text += path + ": " }
        text += message
        var details = [code.rawValue]
        if let got { details.append("got \(Self.short(got))") }
        if let allowed { details.append("allowed: \(allowed)") }
        if let nearest { details.append("did you mean `\(nearest)`?") }
        return text + " [" + details.joined(separator: "; ") + "]"
    }

    /// The object that replies carry (interface.md), with the place in a file where there is one.
    public var value: Value {
        var members: [Value.Member] = [
            .init("path", .string(path)), .init("code", .string(code.rawValue)), .init("message", .string(message)),
        ]
        if let got { members.append(.init("got", got)) }
        if let allowed { members.append(.init("allowed", .string(allowed))) }
        if let nearest { members.append(.init("nearest", .string(nearest))) }
        if let source { members.append(.init("source", .string(source.rawValue))) }
        if let line { members.append(.init("line", .int(Int64(line)))) }
        if let column { members.append(.init("column", .int(Int64(column)))) }
        return .object(members)
    }

    /// A value in a sentence: not longer than a line.
    private static func short(_ value: Value) -> String {
        if case .double(let number) = value, !number.isFinite {
            return number.isNaN ? ".nan" : number < 0 ? "-.inf" : ".inf"
        }
        let text = String(decoding: value.json(), as: UTF8.self)
        return text.count > 80 ? text.prefix(77) + "..." : text
    }
}

extension CodedErrors {
    /// One line for each error.
    public func text(fileName: String? = nil) -> String {
        errors.map { $0.text(fileName: fileName) }.joined(separator: "\n")
    }
}
