import Messages
import Platform
import Settings
import Station
import Values

/// A small file of the storage directory: the level that the sensor showed last. Pure but for the file.
///
/// It is written once an hour, and when the agent ends.
struct LevelMemory {
    static let fileName = "level.json"
    /// ns.
    static let interval: Int64 = 3_600_000_000_000

    private let file: DurableFile
    private var written: RestLevel?
    private var due: Int64?

    init(directory: String) { file = DurableFile(directory: directory, name: Self.fileName) }

    /// The level of an earlier run; nil where there is none that can be one.
    static func read(directory: String) -> RestLevel? {
        let path = DurableFile(directory: directory, name: fileName).path
        guard let root = try? JSONReader.read(try SettingsFile.read(path, isOwn: true)), root["v"]?.integer == 1,
            let x = root["x"]?.number, let y = root["y"]?.number, let z = root["z"]?.number,
            let time = root["time"]?.anyTime,
            let origin = root["of"]?.rawText.flatMap({ UInt64($0, radix: 16) })
        else { return nil }
        return RestLevel(x: x, y: y, z: z, time: time, origin: origin)
    }

    /// To be called now and then.
    /// - Parameters:
    ///   - now: of the monotonic clock (ns).
    ///   - isEnd: the agent ends.
    /// - Returns: writes it down, and says why it cannot; nil where nothing is due.
    mutating func look(_ level: RestLevel?, now: Int64, isEnd: Bool = false) -> (@Sendable () -> String?)? {
        guard let level, level != written else { return nil }
        let due = due ?? now + Self.interval
        self.due = due
        guard isEnd || now >= due else { return nil }
        (written, self.due) = (level, now + Self.interval)
        return { [file] in
            do throws(FileError) {
                try file.write([
                    "v": 1, "x": .double(level.x), "y": .double(level.y), "z": .double(level.z),
                    "time": .string(Timestamp(nanoseconds: level.time).description),
                    "of": .string(String(level.origin, radix: 16)),
                ])
            } catch { return "the sensor's level is not saved: \(error.message)" }
            return nil
        }
    }
}
