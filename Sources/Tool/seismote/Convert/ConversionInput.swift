import Exchange
import Files
import Glibc
import Messages
import MiniSEED
import Sensors
import Settings
import SignalProcessing
import Values

/// What there is to convert: three axes in m/s², and channels in counts.
struct ConversionInput {
    var ground: [GroundRun] = []
    var records: [ChannelRun] = []
    private var messages: RecordedMessages
    var stations: [String: Value] { messages.stations }

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
            do { records += try RecordedMessages.runs(file.bytes) } catch {
                throw ConversionError("\(path): \(error.description)")
            }
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

    /// What the messages have.
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
        var settings = try Settings.load(overrides: try options.overrides(path)).configuration.sensor.replay
        settings.speed = 0
        ground += try GroundRun.all(of: ReplaySensor(settings), name: "")
    }
}

extension GroundRun {
    /// The stretches of a recording.
    static func all(of sensor: ReplaySensor, name: String) throws -> [GroundRun] {
        var sensor = sensor
        let rate = try sensor.open().rate
        var runs: [GroundRun] = []
        var block = SampleBlock(capacity: 4096)
        while try sensor.read(into: &block) == .samples {
            if block.gapBefore || runs.isEmpty {
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
