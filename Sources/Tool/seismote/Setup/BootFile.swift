import Glibc
import Messages
import Settings
import Values

/// A settings file on the boot partition, which another computer can write: taken over at the first start.
struct BootFile {
    private let folder: String
    private let config: String
    private var source: String { "\(folder)/seismote.yaml" }
    /// File with the faults, where the author of the settings can read it.
    private var complaint: String { "\(folder)/seismote-errors.txt" }

    /// Its path, where there is one.
    var waiting: String? { access(source, F_OK) == 0 ? source : nil }
    /// Fault at the last attempt, from the first line; nil: nobody has tried.
    var problem: String? {
        let lines = SmallFiles.text(complaint)?.split(separator: "\n") ?? []
        return lines.count > 1 ? safe(String(lines[1])) : nil
    }

    init(folder: String, config: String) { (self.folder, self.config) = (folder, config) }

    /// Checks it, moves it, and takes its secrets off the partition.
    func take() throws(CtlError) -> CtlStatus {
        guard let found = SmallFiles.text(source) else {
            print("\(source) does not exist: nothing to take over")
            return .done
        }
        let text = Self.plain(found)
        do throws(CodedErrors) { _ = try Settings.load(file: Array(text.utf8)) } catch {
            return try refuse(error.text(fileName: "seismote.yaml"))
        }
        let (changes, moved, missing) = try plan(text)
        if !missing.isEmpty {
            let words = missing.map {
                "seismote.yaml: /\($0.joined(separator: "/")): this file is not on the partition"
            }
            return try refuse(words.joined(separator: "\n"))
        }
        for change in changes {
            print(safeLines(try change.difference()), terminator: "")
            try keep(change)
        }
        for change in changes.reversed() { try change.write() }
        // (The settings file goes last: after a power cut the next start wipes what is left.)
        for path in moved + [source] { try Self.wipe(path) }
        unlink(complaint)
        print("\(source) was taken over as \(config)")
        return .done
    }

    /// Says what is wrong where the one can read it who wrote the file.
    private func refuse(_ words: String) throws(CtlError) -> CtlStatus {
        printError(words)
        try FileChange(path: complaint, text: "seismote.yaml was not taken over:\n\(words)\n").write()
        return .settings
    }

    /// Without what editors of other systems put in: their ends of lines, a mark of the byte order.
    static func plain(_ text: String) -> String {
        String(text.drop { $0 == "\u{feff}" }.map { $0 == "\r\n" ? "\n" : $0 })
    }

    /// Plan: the file to write, other files of the partition that are moved with it, and the keys of those that are
    /// missing.
    private func plan(
        _ text: String
    ) throws(CtlError) -> (changes: [FileChange], moved: [String], missing: [[String]]) {
        let home = config.lastIndex(of: "/").map { String(config[..<$0]) } ?? ""
        do throws(CodedError) {
            let tree = try YAMLDocument.read(Array(text.utf8))
            var (patch, files, moved, missing) = (Value.object([]), [FileChange](), [String](), [[String]]())
            func set(_ key: [String], _ value: Value) { patch = Self.putting(value, at: key[...], into: patch) }
            if let password = tree["mqtt", "password"]?.rawText, !password.isEmpty {
                let path = "\(home)/mqtt-password"
                files.append(FileChange(path: path, text: password + "\n", isSecret: true))
                set(["mqtt", "password"], .null)
                set(["mqtt", "password_file"], .string(path))
            }
            let named: [(key: [String], isSecret: Bool)] = [
                (["mqtt", "password_file"], true), (["mqtt", "tls", "ca_file"], false),
                (["mqtt", "tls", "cert_file"], false),
                (["mqtt", "tls", "key_file"], true), (["mqtt", "tls", "psk_file"], true),
            ]
            // New names by files as they really are: two keys may name one file, and two files may have one name.
            var (homes, names) = ([String: String](), Set(["mqtt-password", Self.name(config)]))
            var gone: [(key: [String], new: String)] = []
            for (key, isSecret) in named {
                var value: Value? = tree
                for part in key { value = value?[part] }
                guard let path = value?.rawText, path.hasPrefix("\(folder)/") else { continue }
                let file = Self.real(path) ?? path
                var new = homes[file]
                if new == nil {
                    var name = Self.name(path)
                    if names.contains(name) { name = "\(key[key.count - 1])-\(name)" }
                    names.insert(name)
                    new = "\(home)/\(name)"
                    homes[file] = new
                }
                guard let new else { continue }
                set(key, .string(new))
                if let at = files.firstIndex(where: { $0.path == new }) {
                    if isSecret { files[at].isSecret = true }
                } else if file.hasPrefix("\(Self.real(folder) ?? folder)/"), let content = SmallFiles.text(file) {
                    files.append(FileChange(path: new, text: content, isSecret: isSecret))
                    moved.append(file)
                } else {
                    gone.append((key, new))
                }
            }
            let settings = try SettingsEdit.edit(text, patch)
            // The power was cut when all had arrived, and while the partition was wiped.
            let hasArrived = SmallFiles.text(config) == settings && gone.allSatisfy { access($0.new, F_OK) == 0 }
            if !hasArrived { missing = gone.map(\.key) }
            return ([FileChange(path: config, text: settings)] + files, moved, missing)
        } catch { throw CtlError(status: .settings, error.text(fileName: source)) }
    }

    private static func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? "file" }

    /// A path without links and dots; nil where nothing is there.
    private static func real(_ path: String) -> String? {
        guard let found = realpath(path, nil) else { return nil }
        defer { free(found) }
        return String(cString: found)
    }

    /// A patch with a value at a key; null stays in it.
    private static func putting(_ value: Value, at key: ArraySlice<String>, into tree: Value) -> Value {
        guard let first = key.first else { return value }
        var members = tree.members ?? []
        let child = putting(value, at: key.dropFirst(), into: tree[first] ?? .object([]))
        members.removeAll { $0.key == first }
        return .object(members + [.init(first, child)])
    }

    /// Keeps the former file beside the new one.
    private func keep(_ change: FileChange) throws(CtlError) {
        guard let old = SmallFiles.text(change.path), old != change.text else { return }
        // (It may have a password in it.)
        try FileChange(path: change.path + ".before-boot", text: old, isSecret: true).write()
    }

    /// Overwrites a file where it is, and deletes it. (What a memory card keeps in its spare blocks nobody can reach.)
    static func wipe(_ path: String) throws(CtlError) {
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        var facts = stat()
        guard file >= 0, fstat(file, &facts) == 0 else {
            throw CtlError(
                status: .files,
                "\(path) cannot be wiped, its secrets are still there: \(String(cString: strerror(errno)))")
        }
        let zeros = [UInt8](repeating: 0, count: max(1, Int(facts.st_size)))
        let isWiped = write(file, zeros, zeros.count) == zeros.count && fsync(file) == 0
        close(file)
        guard isWiped, unlink(path) == 0 else {
            throw CtlError(
                status: .files,
                "\(path) cannot be wiped, its secrets are still there: \(String(cString: strerror(errno)))")
        }
    }
}
