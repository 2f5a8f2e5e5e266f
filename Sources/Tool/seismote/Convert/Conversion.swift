import Exchange
import Glibc
import Messages
import MiniSEED
import Platform
import Sensors
import Settings
import SignalProcessing
import Values

/// Input to convert: three axes in m/s², and channels in counts.
struct ConversionInput {
    var ground: [GroundRun] = []
    var records: [ChannelRun] = []
    private var messages: RecordedMessages
    var stations: [String: InfoReading] { messages.stations }

    init(_ messages: RecordedMessages) { self.messages = messages }

    /// A file, or all files of a folder.
    mutating func read(_ path: String, _ options: RecordingOptions) throws {
        if SystemFiles().isFolder(path) {
            for name in SmallFiles.names(in: path) where !name.hasPrefix(".") { try read("\(path)/\(name)", options) }
            return
        }
        let file = try WholeFile(path)
        let beginning = file.bytes.prefix(4096)
        if file.bytes.withUnsafeBytes({ MiniSEEDParser.recognises($0) }) {
            records += try Self.readable(file.bytes, path)
        } else if RecordedMessages.recognises(beginning) {
            var number = 0
            for line in file.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
                number += 1
                do { try messages.take(line: line) } catch {
                    throw ConversionError("\(path):\(number): \(error.message)")
                }
            }
        } else {
            try readCSV(path, options)
        }
    }

    /// The records of a file that can be read; what is wrong with the others is said.
    /// - Throws: what is wrong with the first, where none can be read.
    private static func readable(_ bytes: [UInt8], _ path: String) throws(ConversionError) -> [ChannelRun] {
        var problems: [MiniSEEDError] = []
        let runs = RecordedMessages.readableRuns(bytes) { problems.append($0) }
        guard let first = problems.first else { return runs }
        guard !runs.isEmpty else { throw ConversionError("\(path): \(first.description)") }
        let shown = problems.prefix(3).map(\.description).joined(separator: "; ")
        let more = problems.count > 3 ? "; and \(problems.count - 3) more" : ""
        let count = problems.count
        let what = count == 1 ? "1 record could not be read and is" : "\(count) records could not be read and are"
        printError("\(path): \(what) left out: \(shown)\(more)")
        return runs
    }

    /// Finishes the input from messages.
    mutating func finish() throws {
        messages.finish()
        ground += messages.ground
        records += messages.records
    }

    /// m/s² of a count of x, y and z, or of all.
    mutating func setUnits(_ scales: [Double]) {
        let axes = ["E": 0, "1": 0, "N": 1, "2": 1, "Z": 2, "3": 2]
        for i in records.indices {
            if let axis = axes[records[i].name.subsource] { records[i].unit = scales[min(axis, scales.count - 1)] }
        }
    }

    private mutating func readCSV(_ path: String, _ options: RecordingOptions) throws {
        let loaded = try Settings.load(overrides: try options.overrides(path))
        ground += try GroundRun.all(of: ReplaySensor(loaded), name: "", file: path)
    }
}

extension GroundRun {
    /// The stretches of a recording.
    /// - Parameter file: its name for what there is to be said of it.
    static func all(of sensor: ReplaySensor, name: String, file: String) throws -> [GroundRun] {
        var sensor = sensor
        let rate = try sensor.open().rate
        sensor.tellNotes(file)
        var runs: [GroundRun] = []
        var block = SampleBlock(capacity: 4096)
        while try sensor.read(into: &block) == .samples {
            // (A clock that is set by a part of a sample is no gap; the samples have its time all the same.)
            if block.gapBefore || runs.last.map({ abs(block.time - $0.end) > 2000 }) ?? true {
                runs.append(GroundRun(name, start: block.time, rate: rate, columns: [[], [], []]))
            }
            for axis in 0..<3 {
                for i in 0..<block.count { runs[runs.count - 1].columns[axis].append(block[axis, i]) }
            }
        }
        return runs
    }
}

/// A file that is read whole, up to 4 GB.
struct WholeFile {
    private(set) var bytes: [UInt8] = []
    private static let most = 4 << 30

    init(_ path: String) throws(ConversionError) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw ConversionError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw ConversionError("\(path): not a regular file")
        }
        guard status.st_size <= Self.most else {
            throw ConversionError("\(path): \(status.st_size) bytes, at most \(Self.most) are taken: cut it")
        }
        let size = Int(status.st_size)
        var code: Int32 = 0
        bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            while count < size {
                let more = Glibc.read(file, buffer.baseAddress?.advanced(by: count), size - count)
                if more < 0, errno == EINTR { continue }
                if more < 0 { code = errno }
                guard more > 0 else { break }
                count += more
            }
        }
        guard code == 0 else { throw ConversionError("\(path): \(String(cString: strerror(code)))") }
        guard !bytes.isEmpty else { throw ConversionError("\(path): the file is empty") }
    }
}

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
        of ground: [GroundRun], codes: String?, stations: [String: InfoReading], unit: Double
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
