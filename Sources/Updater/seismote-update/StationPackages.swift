import Administration
import Glibc
import Platform

/// Packages: `apt` and `dpkg`, started with lists of arguments.
extension StationMachine {
    private static let options = [
        "-y", "-qq", "--no-install-recommends", "--no-remove", "-o", "Dpkg::Use-Pty=0",
        "-o", "Dpkg::Options::=--force-confdef", "-o", "Dpkg::Options::=--force-confold",
        "-o", "APT::Get::AllowUnauthenticated=false", "-o", "Acquire::AllowInsecureRepositories=false",
        "-o", "DPkg::Lock::Timeout=300",
    ]

    /// An older version is let in where it was asked for.
    private static func more(_ allowsOlder: Bool) -> [String] { allowsOlder ? ["-y", "--allow-downgrades"] : [] }

    private static func of(_ version: String) -> String { "\(Place.package)=\(version)" }

    /// Runs a program whose output goes into the job's log.
    /// - Returns: nil: it is done; else why not.
    private func logged(_ words: [String], seconds: Int, folder: String? = nil) -> String? {
        let path = "\(Place.job)/log"
        unlink(path)
        // (A full disk takes no log.)
        var log = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if log < 0 { log = Glibc.open("/dev/null", O_RDWR | O_CLOEXEC) }
        defer { Glibc.close(log) }
        let place = folder.map { ["env", "-C", $0] } ?? []
        // (`timeout` ends what the program has started as well.)
        let run = ChildProgram(
            place + ["timeout", "-k", "20", "\(seconds)"] + words, seconds: Double(seconds + 60),
            files: (nil, log, log))
        if run?.isDone == true { return nil }
        if run?.status == 124 { return "\(words[0]) did not end within \(seconds) s" }
        return AptOutput.reason(Disk.text(path) ?? "")
    }

    func installed() -> (version: String, state: String) {
        let text =
            ChildProgram(["dpkg-query", "-W", "-f", "${db:Status-Abbrev}\t${Version}", Place.package])?.text ?? ""
        let parts = text.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return parts.count == 2 ? (parts[1], parts[0]) : ("", "")
    }

    func isOlder(_ version: String, than other: String) -> Bool {
        ChildProgram(["dpkg", "--compare-versions", version, "lt", other])?.isDone == true
    }

    func shortage(fetch: Int, unpack: Int) -> String? {
        let words = ChildProgram(["du", "-sm", Place.data], seconds: 300)?.text.split { $0 == "\t" || $0 == "\n" }
        let copy = words?.first.flatMap { Int($0) } ?? 0
        let needs = [(Place.kept, copy), (Place.archives, fetch), ("/usr", unpack)].compactMap { place, size in
            Self.disk(place).map { DiskNeeds.Need($0.place, disk: $0.disk, free: $0.free, size: size) }
        }
        return DiskNeeds.shortage(needs, spare: Place.spare, fetch: fetch, unpack: unpack, copy: copy)
    }

    /// The disk of a folder, or of the one that it will be made in.
    private static func disk(_ path: String) -> (place: String, disk: UInt64, free: Int)? {
        let place = DiskSpace.folder(at: path)
        var facts = stat()
        guard stat(place, &facts) == 0, let space = DiskSpace(place) else { return nil }
        return (place, UInt64(facts.st_dev), Int(space.free) / (1 << 20))
    }

    // MARK: sources

    private static var lists: [String] {
        Disk.names(Place.lists).filter { $0 != "lock" && $0 != "partial" && $0 != "auxfiles" }
            .map { "\(Place.lists)/\($0)" }
    }

    func hasEmptyLists() -> Bool {
        Self.lists.contains { path in
            let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard file >= 0 else { return false }
            defer { Glibc.close(file) }
            // (A file system may bring a length to the disk before its bytes, which then are zeros.)
            var byte: UInt8 = 0
            return read(file, &byte, 1) != 1 || byte == 0
        }
    }

    func readSources(anew: Bool) -> String? {
        if anew {
            say("the lists of packages are fetched anew")
            for path in Self.lists { unlink(path) }
        }
        return logged(["apt-get", "update", "-qq"], seconds: 600)
    }

    func simulate(_ version: String, allowsOlder: Bool) -> Simulation {
        let more = Self.more(allowsOlder)
        let command = ["apt-get", "-s", "-qq", "--no-install-recommends"] + more + ["install", Self.of(version)]
        guard let run = ChildProgram(command, seconds: 300) else { return Simulation(problem: "apt-get is missing") }
        guard run.isDone else { return Simulation(problem: AptOutput.reason(run.errorText + "\n" + run.text)) }
        var simulation = Simulation()
        simulation.removed = AptOutput.removed(run.text)
        let list = ["apt-get"] + Self.options + more + ["--print-uris", "install", Self.of(version)]
        simulation.fetch = AptOutput.megabytesToFetch(ChildProgram(list, seconds: 300)?.text ?? "")
        let packages = AptOutput.installed(run.text)
        if !packages.isEmpty {
            let facts = ChildProgram(["apt-cache", "show"] + packages, seconds: 300)?.text ?? ""
            simulation.unpack = AptOutput.megabytesUnpacked(facts)
        }
        return simulation
    }

    func fetch(_ version: String, allowsOlder: Bool) -> String? {
        let command = ["apt-get"] + Self.options + Self.more(allowsOlder)
        return logged(command + ["--download-only", "install", Self.of(version)], seconds: 1800)
    }

    // MARK: the present version

    private static var kept: String? {
        Disk.names("\(Place.job)/old").filter { $0.hasSuffix(".deb") }.map { "\(Place.job)/old/\($0)" }.first
    }

    var isKept: Bool { Self.kept != nil }

    /// As apt has kept it, else from the source, else made of what is installed.
    func keep(_ version: String) -> String? {
        let folder = "\(Place.job)/old"
        Self.removeAll(folder)
        mkdir(folder, 0o755)
        let cached = Disk.names(Place.archives).first { name in
            name.hasPrefix("\(Place.package)_") && name.hasSuffix(".deb")
                && Self.field("Version", of: "\(Place.archives)/\(name)") == version
        }
        if let cached {
            ChildProgram(["cp", "--", "\(Place.archives)/\(cached)", "\(folder)/"], seconds: 300)
        } else if logged(["apt-get", "download", "-qq", Self.of(version)], seconds: 900, folder: folder) != nil,
            ChildProgram.path("dpkg-repack") != nil,
            logged(["dpkg-repack", Place.package], seconds: 900, folder: folder) == nil
        {
            say("the package of \(version) was made of what is installed")
        }
        guard let file = Self.kept, Self.field("Package", of: file) == Place.package,
            Self.field("Version", of: file) == version, Self.isWhole(file), Disk.syncFile(file)
        else {
            return
                "the package of \(version), which is installed, cannot be kept: neither apt nor its source has it, and dpkg-repack is not installed"
        }
        Disk.syncFolder(of: file)
        return nil
    }

    private static func field(_ name: String, of file: String) -> String? {
        guard let run = ChildProgram(["dpkg-deb", "-f", file, name]), run.isDone else { return nil }
        return run.text.filter { !$0.isWhitespace }
    }

    /// Whether all of it can be unpacked.
    private static func isWhole(_ file: String) -> Bool {
        let nothing = Glibc.open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { Glibc.close(nothing) }
        let run = ChildProgram(["dpkg-deb", "--fsys-tarfile", file], seconds: 300, files: (nil, nothing, nothing))
        return run?.isDone == true
    }

    // MARK: installing

    func configure() {
        _ = logged(["dpkg", "--force-confold", "--configure", "-a"], seconds: 900)
    }

    func install(_ version: String, allowsOlder: Bool, isAgain: Bool) -> String? {
        // (All is here: it asks no network.)
        let more = Self.more(allowsOlder) + (isAgain ? ["--reinstall"] : [])
        return logged(["apt-get"] + Self.options + more + ["install", Self.of(version)], seconds: 1800)
    }

    func putBack() -> String? {
        guard let file = Self.kept else { return "its package is not there any more" }
        return logged(["dpkg", "--force-confold", "--force-downgrade", "-i", file], seconds: 1800)
    }
}

/// Output of apt and dpkg, read.
enum AptOutput {
    /// The first line that says why.
    static func reason(_ text: String) -> String {
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("E: ") || line.hasPrefix("dpkg: ") {
            return String(line.prefix(250))
        }
        return ""
    }

    /// Packages that `apt-get -s` would remove.
    static func removed(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Remv ") }.compactMap {
            $0.dropFirst(5).split(separator: " ").first.map(String.init)
        }
    }

    /// Packages with versions that `apt-get -s` would install: `name=version`.
    static func installed(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("Inst ") }.compactMap { line in
            // `Inst name [version before] (version source [architecture])`
            let words = line.dropFirst(5).split(separator: " ")
            guard let name = words.first, let version = words.dropFirst().first(where: { $0.hasPrefix("(") }) else {
                return nil
            }
            return "\(name)=\(version.dropFirst().prefix { $0 != ")" })"
        }
    }

    /// Megabytes that `--print-uris` lists, rounded up: each line has address, file, bytes, checksum.
    static func megabytesToFetch(_ text: String) -> Int {
        var bytes = 0
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("'") {
            let words = line.split(separator: " ")
            if words.count > 2, let size = Int(words[2]), size >= 0 { bytes += min(size, 1 << 40) }
        }
        return (bytes + (1 << 20) - 1) >> 20
    }

    /// Megabytes of `Installed-Size` that `apt-cache show` tells, rounded up.
    static func megabytesUnpacked(_ text: String) -> Int {
        var kilobytes = 0
        for line in text.split(whereSeparator: \.isNewline) where line.hasPrefix("Installed-Size:") {
            let size = line.dropFirst(15).filter { $0 != " " }
            if let size = Int(size), size >= 0 { kilobytes += min(size, 1 << 30) }
        }
        return (kilobytes + 1023) / 1024
    }
}

/// Whether disks have room for what is to be written. What goes to one disk is counted together.
struct DiskNeeds {
    struct Need: Sendable {
        var place: String
        /// Number of its device, and megabytes that are free there.
        var disk: UInt64
        var free: Int
        var size: Int

        init(_ place: String, disk: UInt64, free: Int, size: Int) {
            (self.place, self.disk, self.free, self.size) = (place, disk, free, size)
        }
    }

    /// - Parameters:
    ///   - spare: megabytes that have to stay free.
    ///   - fetch, unpack, copy: megabytes, for the sentence.
    /// - Returns: what is too little; nil: all has room.
    static func shortage(_ needs: [Need], spare: Int, fetch: Int, unpack: Int, copy: Int) -> String? {
        for need in needs {
            let size = needs.filter { $0.disk == need.disk }.reduce(spare) { $0 + $1.size }
            guard need.free < size else { continue }
            let place = needs.first { $0.disk == need.disk }?.place ?? need.place
            return "the disk of \(place) is too full: \(need.free) MB are free, \(size) MB are needed "
                + "(\(fetch) MB to fetch, \(unpack) MB unpacked, \(copy) MB for a copy of the data, \(spare) MB to spare)"
        }
        return nil
    }
}
