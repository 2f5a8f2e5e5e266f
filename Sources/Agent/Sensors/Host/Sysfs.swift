import Glibc
import Platform

/// Files, folders and links of sysfs and configfs.
enum Sysfs {
    /// The text without white space at its ends; nil when it cannot be read.
    static func read(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { memory in
            guard let base = memory.baseAddress else { return nil }
            let count = Glibc.read(file, base, memory.count)
            guard count >= 0 else { return nil }
            return trimmed(String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self))
        }
    }

    /// Returns 0 or an error number.
    static func write(_ path: String, _ text: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var text = text
        let count = text.withUTF8 { Glibc.write(file, $0.baseAddress, $0.count) }
        return count < 0 ? errno : 0
    }

    /// Where a link leads: the last component; nil where it is none.
    static func linkName(_ path: String) -> String? {
        guard let real = resolve(path), let slash = real.lastIndex(of: "/") else { return nil }
        return String(real[real.index(after: slash)...])
    }

    /// The folder in which a path really lies.
    static func parent(_ path: String) -> String? {
        guard let real = resolve(path), let slash = real.lastIndex(of: "/") else { return nil }
        return String(real[..<slash])
    }

    private static func resolve(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Names in a folder, in no order; without those that are hidden.
    static func names(in folder: String) -> [String] { FolderNames.all(in: folder).filter { !$0.hasPrefix(".") } }

    static func trimmed(_ text: String) -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\t" || $0 == "\0" }
        guard let first = text.firstIndex(where: { !isSpace($0) }), let last = text.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(text[first...last])
    }
}
