import Glibc
import Messages
import Settings
import Values

/// A file that setup writes: shown first, replaced in one step.
struct FileChange {
    var path: String
    var text: String
    /// Not shown; for the agent's group alone.
    var isSecret = false
    /// For nobody but its owner.
    var isForRoot = false
    /// For the service's user alone.
    var isForService = false
    /// Said in place of the difference, for what nobody reads; nil: the difference is shown.
    var summary: String?

    /// The difference to what is there; empty: there is none.
    func difference() throws(CtlError) -> String {
        let old = SmallFiles.text(path)
        if old == text { return "" }
        if isSecret || summary != nil {
            return "\(old == nil ? "new" : "changed") file \(path) (\(summary ?? "not shown"))\n"
        }
        let new = try EditedFile(text)
        let words = [
            "diff", "-u", "--label", path, "--label", "\(path) (new)", old == nil ? "/dev/null" : path, new.path,
        ]
        guard let run = ProgramRun(words), run.status == 0 || run.status == 1 else { return "\(path):\n\(text)" }
        return run.output.split(separator: "\n", omittingEmptySubsequences: false).map(Self.masked).joined(
            separator: "\n")
    }

    /// A line without the password in it.
    static func masked(_ line: Substring) -> String {
        let key = "password:"
        var rest = line
        while !rest.isEmpty, !rest.hasPrefix(key) { rest = rest.dropFirst() }
        return rest.isEmpty ? String(line) : String(line[..<rest.startIndex]) + key + " ***"
    }

    /// The file that is replaced: what a link leads to, with all folders. (A link to a secret is none of ours.)
    private var target: String {
        if !isSecret, !isForService, !isForRoot, let found = realpath(path, nil) {
            defer { free(found) }
            return String(cString: found)
        }
        guard !path.hasPrefix("/"), let folder = getcwd(nil, 0) else { return path }
        defer { free(folder) }
        return "\(String(cString: folder))/\(path)"
    }

    /// Puts the bytes into the file that is there, which stands on its own mount and cannot be replaced (as in a container).
    /// What was written beside it stays until they are on the disk.
    private static func overwrite(_ path: String, _ bytes: [UInt8]) -> Bool {
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { close(file) }
        return write(bytes, to: file) && fsync(file) == 0
    }

    private static func write(_ bytes: [UInt8], to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let count = bytes[done...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Writes it, with the folders above it; a file that is there keeps its owner and mode.
    func write() throws(CtlError) {
        let path = target
        func failed(_ what: String) -> CtlError {
            CtlError(
                status: .files,
                "cannot write \(what): \(String(cString: strerror(errno)))"
                    + (geteuid() == 0 ? "" : "; run it with sudo"))
        }
        var folder = ""
        for part in path.split(separator: "/").dropLast() {
            folder += "/\(part)"
            if mkdir(folder, 0o755) != 0, errno != EEXIST { throw failed(folder) }
        }
        let new = "\(path).new"
        unlink(new)
        let file = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else {
            // The file alone is writable, on a mount of its own in a folder that is not (a container with a read-only root).
            guard errno == EROFS else { throw failed(new) }
            if Self.overwrite(path, Array(text.utf8)) { return }
            throw failed(path)
        }
        defer { close(file) }
        var facts = stat()
        if isForService {
            if geteuid() == 0, let user = getpwnam("seismote")?.pointee { _ = fchown(file, user.pw_uid, user.pw_gid) }
        } else if stat(path, &facts) == 0 {
            _ = fchown(file, facts.st_uid, facts.st_gid)
            _ = fchmod(file, facts.st_mode & 0o7777)
        } else if isForRoot {
            // As it was made.
        } else if isSecret {
            // The agent's group may read it, nobody else.
            if let group = getgrnam("seismote"), fchown(file, 0, group.pointee.gr_gid) == 0 { _ = fchmod(file, 0o640) }
        } else {
            _ = fchmod(file, 0o644)
        }
        let bytes = Array(text.utf8)
        guard Self.write(bytes, to: file), fsync(file) == 0 else { throw failed(new) }
        if rename(new, path) != 0 {
            guard errno == EBUSY, Self.overwrite(path, bytes) else { throw failed(path) }
            unlink(new)
        }
        // The new name is on the disk before anybody is told of what is in the file: a broker gives a certificate for one key.
        let home = open(folder.isEmpty ? "/" : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if home >= 0 {
            fsync(home)
            close(home)
        }
    }
}

/// Changes values in the text of a settings file and leaves everything else as it is, comments too.
enum SettingsEdit {
    private static let heading = """
        # Settings of this station: only what differs from the defaults. Written by `seismote setup`; every key, explained:
        # seismote config default

        """

    /// - Parameters:
    ///   - text: of a valid settings file; empty: there is none.
    ///   - patch: a tree of settings; null takes a key out.
    /// - Returns: a text that means the old one with the patch.
    static func edit(_ text: String, _ patch: Value) throws(CodedError) -> String {
        let old = text.isEmpty ? Value.object([]) : try YAMLDocument.read(Array(text.utf8))
        let tree = old.members == nil ? .object([]) : old
        let merged = MergePatch.apply(patch, to: tree) { path in
            SettingsTable.setting(path.joined(separator: ".")) != nil
        }
        let wanted = pruned(merged)
        if old.members != nil, !text.isEmpty {
            var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            if lines.last == "" { lines.removeLast() }
            var isWhole = true
            for (path, value) in leaves(patch, []) where isWhole {
                var there: Value? = old
                for key in path { there = there?[key] }
                // What is so already stays as it is written.
                if there ?? .null != value { isWhole = put(path, value, &lines) }
            }
            // A group of which nothing is left is no group any more.
            while isWhole, let empty = emptied(lines) { isWhole = put(empty, .null, &lines) }
            let new = lines.joined(separator: "\n") + "\n"
            // Only a text that means what it has to is taken.
            if isWhole, let read = try? YAMLDocument.read(Array(new.utf8)), sorted(read) == sorted(wanted) {
                return new
            }
        }
        return heading + YAMLDocument.text(wanted) { key, _ in SettingsTable.setting(key) != nil }
    }

    /// The key of a group that has nothing in it.
    private static func emptied(_ lines: [String]) -> [String]? {
        func find(_ value: Value, _ path: [String]) -> [String]? {
            if value == .null, SettingsTable.setting(path.joined(separator: ".")) == nil { return path }
            for member in value.members ?? [] {
                if let found = find(member.value, path + [member.key]) { return found }
            }
            return nil
        }
        guard let tree = try? YAMLDocument.read(Array(lines.joined(separator: "\n").utf8)), tree != .null else {
            return nil
        }
        return find(tree, [])
    }

    /// Without groups that are empty.
    private static func pruned(_ value: Value) -> Value {
        guard case .object(let members) = value else { return value }
        return .object(members.map { .init($0.key, pruned($0.value)) }.filter { $0.value != .object([]) })
    }

    private static func leaves(_ value: Value, _ path: [String]) -> [(path: [String], value: Value)] {
        guard case .object(let members) = value, SettingsTable.setting(path.joined(separator: ".")) == nil else {
            return [(path, value)]
        }
        return members.flatMap { leaves($0.value, path + [$0.key]) }
    }

    /// Empty groups say nothing.
    private static func sorted(_ value: Value) -> Value {
        switch value {
        case .object(let members):
            .object(
                members.map { .init($0.key, sorted($0.value)) }.filter { $0.value != .object([]) && $0.value != .null }
                    .sorted { $0.key < $1.key })
        case .int(let number): .double(Double(number))
        default: value
        }
    }

    /// Sets one value in a text of blocks; false where it is written in another way.
    private static func put(_ path: [String], _ value: Value, _ lines: inout [String]) -> Bool {
        var range = 0..<lines.count
        var indent = ""
        for (depth, key) in path.enumerated() {
            guard let line = range.first(where: { lines[$0].hasPrefix("\(indent)\(key):") }) else {
                if value != .null { insert(path, from: depth, value, at: range, indent, &lines) }
                return true
            }
            let end = block(after: line, indent.count, lines)
            if depth == path.count - 1 {
                lines.replaceSubrange(
                    line..<end, with: value == .null ? [] : ["\(indent)\(key): \(YAMLDocument.line(value))"])
                return true
            }
            // A group on one line.
            let rest = lines[line].dropFirst(indent.count + key.count + 1).drop { $0 == " " }
            guard rest.isEmpty || rest.hasPrefix("#") else { return false }
            range = line + 1..<end
            let child = range.first { !isSpace(lines[$0]) }.map { String(lines[$0].prefix { $0 == " " }) }
            if let child, child.count <= indent.count { return false }
            indent = child ?? indent + "  "
        }
        return false
    }

    private static func insert(
        _ path: [String], from depth: Int, _ value: Value, at range: Range<Int>, _ indent: String,
        _ lines: inout [String]
    ) {
        var new: [String] = []
        var space = indent
        for key in path[depth...].dropLast() {
            new.append("\(space)\(key):")
            space += "  "
        }
        new.append("\(space)\(path[path.count - 1]): \(YAMLDocument.line(value))")
        var place = range.upperBound
        while place > range.lowerBound, isSpace(lines[place - 1]) { place -= 1 }
        lines.insert(contentsOf: new, at: place)
    }

    /// The line after all that belongs to the key of a line.
    private static func block(after line: Int, _ indent: Int, _ lines: [String]) -> Int {
        var (place, end) = (line + 1, line + 1)
        while place < lines.count {
            if !isSpace(lines[place]) {
                guard lines[place].prefix(while: { $0 == " " }).count > indent else { break }
                end = place + 1
            }
            place += 1
        }
        return end
    }

    /// Empty, or nothing but a comment.
    private static func isSpace(_ line: String) -> Bool {
        let rest = line.drop { $0 == " " }
        return rest.isEmpty || rest.hasPrefix("#")
    }
}
