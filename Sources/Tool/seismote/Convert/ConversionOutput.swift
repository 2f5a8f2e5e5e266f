import Exchange
import Glibc
import Messages
import MiniSEED
import Platform
import Sensors
import Settings
import Values

/// Writes what was read in another form.
enum ConversionOutput {
    /// `t,x,y,z`, in m/s²; a gap is a jump of the time.
    static func csv(_ runs: [GroundRun], _ path: String) throws {
        guard !runs.isEmpty else { throw ConversionError("there are no samples of three axes") }
        let file = try OutputFile(path: path)
        file.append("t,x,y,z")
        file.endLine()
        for run in runs.sorted(by: { $0.start < $1.start }) {
            let timeline = SampleTimeline(start: run.start, rate: run.rate)
            for i in 0..<run.count {
                file.append(Timestamp(nanoseconds: timeline.time(of: i)).description)
                for axis in 0..<3 { file.append(",\(run.columns[axis][i])") }
                file.endLine()
            }
            try file.check()
        }
        try file.finish()
    }

    /// Three channels in m/s²: they are chosen, aligned and scaled as `seismote replay` does.
    static func ground(_ records: [ChannelRun], _ options: RecordingOptions) throws -> [GroundRun] {
        var path = Array(
            "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/seismote-convert.XXXXXX".utf8CString)
        let descriptor = mkstemp(&path)
        let name = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard descriptor >= 0 else { throw OutputError(path: name, code: errno) }
        close(descriptor)
        defer { unlink(name) }
        try self.records(Runs.joined(records).runs, name, .v3)
        do {
            let loaded = try Settings.load(overrides: try options.overrides(name))
            return try GroundRun.all(of: ReplaySensor(loaded), name: "", file: "recording")
        } catch let error as SensorError {
            throw ConversionError(error.message.replacing("\(name): ", with: ""))
        }
    }

    /// Counts of m/s². Channels are named as the station names them, by its `state/info` where that is known.
    static func channels(
        of ground: [GroundRun], codes: String?, stations: [String: Value], unit: Double
    ) throws -> [ChannelRun] {
        let scale = CountScale(unit: unit)
        return ground.flatMap { run -> [ChannelRun] in
            var names =
                stations[run.name].flatMap { DescribedStation(info: $0, config: nil)?.codes }
                ?? ChannelCodes(network: "XX", station: "", location: "00", id: run.name)
            if let parts = codes?.split(separator: ".", omittingEmptySubsequences: false).map(String.init) {
                names = ChannelCodes(network: parts[0], station: parts[1], location: parts[2], id: run.name)
            }
            return run.columns.enumerated().map { axis, column in
                ChannelRun(
                    names.source(.acceleration, axis: axis, rate: run.rate), start: run.start, rate: run.rate,
                    columns: [column.map(scale.count)], unit: unit)
            }
        }
    }

    static func records(_ runs: [ChannelRun], _ path: String, _ format: MiniSEEDFormat) throws {
        let bytes = try encoded(runs, format)
        let file = try OutputFile(path: path)
        bytes.withUnsafeBytes { file.append($0) }
        try file.finish()
    }

    /// Files of a day and channel; what is there already stays, and is joined with what is new.
    static func archive(_ runs: [ChannelRun], folder: String, _ format: MiniSEEDFormat) throws {
        var files: [String: [ChannelRun]] = [:]
        for day in runs.flatMap(DataStructure.days) {
            files[DataStructure.path(of: day.name, at: day.start), default: []].append(day)
        }
        for (name, days) in files.sorted(by: { $0.key < $1.key }) {
            let path = (folder.hasSuffix("/") ? folder : folder + "/") + name
            try makeFolders(above: path)
            var all = days
            if access(path, F_OK) == 0 {
                do { all += try RecordedMessages.runs(WholeFile(path).bytes) } catch let error as MiniSEEDError {
                    throw ConversionError("\(path) is there, and cannot be read: \(error.description)")
                }
            }
            // (What the archive has may not know its unit.)
            let unit = days.lazy.compactMap(\.unit).first
            for i in all.indices { all[i].unit = all[i].unit ?? unit }
            try records(Runs.joined(all).runs, path + ".new", format)
            guard rename(path + ".new", path) == 0 else { throw OutputError(path: path, code: errno) }
        }
    }

    private static func encoded(
        _ runs: [ChannelRun], _ format: MiniSEEDFormat
    ) throws(ConversionError) -> [UInt8] {
        var bytes: [UInt8] = []
        do throws(MiniSEEDError) {
            var writer = try MiniSEEDWriter(format: format)
            for run in runs {
                writer.extraHeaders = run.unit.map { CountScale(unit: $0).extraHeaders } ?? []
                bytes += try writer.encode(run.columns[0], start: run.start, rate: run.rate, source: run.name)
            }
        } catch { throw ConversionError(error.description) }
        return bytes
    }

    private static func makeFolders(above path: String) throws {
        var place = path.startIndex
        while let slash = path[place...].firstIndex(of: "/") {
            let folder = String(path[..<slash])
            place = path.index(after: slash)
            if folder.isEmpty || SystemFiles().isFolder(folder) { continue }
            guard mkdir(folder, 0o777) == 0 || errno == EEXIST else { throw OutputError(path: folder, code: errno) }
        }
    }
}
