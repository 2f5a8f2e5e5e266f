import Glibc
import Platform

/// Files of the system that are read whole.
enum SmallFiles {
    /// At most a megabyte as text; nil when it cannot be read. Never waits.
    static func text(_ path: String) -> String? { SmallFile.text(path) }

    static func number(_ path: String) -> Int? {
        text(path).flatMap { Int($0.prefix { $0 != "\n" }) }
    }

    /// Names in a folder, in their order; empty when it cannot be read.
    static func names(in path: String) -> [String] { FolderNames.all(in: path).sorted() }

    /// Target of a symbolic link.
    static func link(_ path: String) -> String? {
        var target = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &target, target.count)
        guard count > 0 else { return nil }
        return String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Processes called `seismoted`.
enum AgentProcesses {
    static var all: [Int] {
        SmallFiles.names(in: "/proc").compactMap(Int.init).filter {
            $0 != getpid() && SmallFiles.text("/proc/\($0)/comm") == "seismoted\n"
        }
    }

    /// The one that was started with a settings file.
    static func with(settings path: String) -> Int? {
        guard let wanted = identity(path) else { return nil }
        return all.first { process in
            let words = (SmallFiles.text("/proc/\(process)/cmdline") ?? "").split(separator: "\0").map(String.init)
            for (i, word) in words.enumerated() {
                var name: String?
                if word == "--config" || word == "-c" { name = words.count > i + 1 ? words[i + 1] : nil }
                if word.hasPrefix("--config=") { name = String(word.dropFirst(9)) }
                guard let name else { continue }
                let full = name.hasPrefix("/") ? "/proc/\(process)/root\(name)" : "/proc/\(process)/cwd/\(name)"
                if let its = identity(full), its == wanted { return true }
            }
            return false
        }
    }

    /// Which file a name stands for: two names of one file have one.
    private static func identity(_ path: String) -> [UInt64]? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        return [UInt64(facts.st_dev), UInt64(facts.st_ino)]
    }
}
