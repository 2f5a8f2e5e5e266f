import Glibc

/// Arrival times that somebody has picked, in seconds from a recording's first sample.
struct Pick: Equatable {
    var p: Double
    /// Nil when it is not known.
    var s: Double?
}

/// A file of picks: lines `file,p_s,s_s`. A recording may have several lines; a line without times says that there is
/// nothing in it.
struct Picks {
    private var byName: [String: [Pick]] = [:]

    /// Picks of a recording by its path: by the whole name, or without its ending; nil when the file does not speak of
    /// it.
    func of(_ path: String) -> [Pick]? {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return byName[name] ?? byName[Self.stem(name)]
    }

    private static func stem(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return name }
        return String(name[..<dot])
    }

    /// - Throws: a line for each line of the file that cannot be read.
    init(path: String) throws(TuneError) {
        guard let text = Self.read(path) else {
            throw TuneError(
                status: .data, lines: ["\(path): cannot read the file: \(String(cString: strerror(errno)))"])
        }
        var errors: [String] = []
        for (number, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let line = raw.filter { $0 != "\r" && $0 != " " }
            if line.isEmpty || line.hasPrefix("#") || (number == 0 && line.hasPrefix("file,")) { continue }
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            let times = fields.dropFirst().filter { !$0.isEmpty }.map { Double($0) }
            guard (1...3).contains(fields.count), !fields[0].isEmpty, times.allSatisfy({ $0?.isFinite == true }),
                !(times.count == 1 && fields[1].isEmpty)
            else {
                errors.append("\(path):\(number + 1): the line must have the form file,p_s,s_s: `\(raw.prefix(60))`")
                continue
            }
            let name = fields[0].split(separator: "/").last.map(String.init) ?? fields[0]
            let both = times.compactMap { $0 }
            if both.count == 2, both[1] < both[0] {
                errors.append("\(path):\(number + 1): S comes before P: `\(raw.prefix(60))`")
                continue
            }
            byName[name, default: []] += both.first.map { [Pick(p: $0, s: both.count == 2 ? both[1] : nil)] } ?? []
        }
        guard errors.isEmpty else { throw TuneError(status: .data, lines: errors) }
    }

    private static func read(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = fread(&buffer, 1, buffer.count, file)
            guard count > 0 else { break }
            bytes += buffer[..<count]
            guard bytes.count < 1 << 26 else { break }
        }
        return ferror(file) == 0 ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
