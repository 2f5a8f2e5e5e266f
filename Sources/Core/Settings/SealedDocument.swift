import Glibc
import Instruments
import Messages
import Platform
import Values

/// An object with a check sum: the digest of all bytes before it, as the last member.
///
/// JSON alone does not show damage: one flipped bit turns a latitude of 48 into one of 49.
enum SealedDocument {
    /// Key of the check sum.
    static let member = "sum"

    /// The file's bytes.
    static func bytes(_ document: Value) -> [UInt8] {
        let body = [UInt8](document.json().dropLast())
        return body + seal(of: body)
    }

    /// The object of a file, and whether it has a check sum. Files of versions before this one have none, nor has one that
    /// a person has edited and taken it out of.
    ///
    /// - Parameter known: all other keys. A file without a check sum has no others: it may be the key `sum` that was hit.
    /// - Throws: `syntax`: the file is not as it was written.
    static func read(
        _ bytes: [UInt8], known: [String]
    ) throws(CodedError) -> (document: Value, isSealed: Bool) {
        let document: Value
        do throws(ReadingError) { document = try JSONReader.read(bytes) } catch { throw CodedError(error) }
        guard case .object(let members) = document else {
            throw CodedError("", .syntax, "It is not a JSON object.")
        }
        guard members.contains(where: { $0.key == member }) else {
            if let other = members.first(where: { !known.contains($0.key) }) {
                throw CodedError("/\(other.key)", .unknownKey, "It has a member that no version has written.")
            }
            return (document, false)
        }
        let end = bytes.lastIndex { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ?? 0
        let length = seal(of: []).count
        let body = bytes[...end].dropLast(length)
        guard end >= length, bytes[...end].suffix(length).elementsEqual(seal(of: [UInt8](body))) else {
            throw CodedError(
                "/\(member)", .syntax,
                "Its check sum does not agree: it is damaged, or was edited without taking the member `\(member)` out.")
        }
        return (document, true)
    }

    private static func seal(of body: [UInt8]) -> [UInt8] {
        Array(",\"\(member)\":\"\(SHA256.hexDigest(of: body))\"}".utf8)
    }
}

/// Results of each chip that are kept over a restart: its last self-test and its last calibration. One small JSON file
/// in the folder of `storage.directory`, replaced as a whole, so that a power cut leaves the old one or the new one.
public struct SensorMemory: Sendable, Equatable {
    /// Kind of a kept result.
    public enum Report: String, Sendable, CaseIterable {
        case selfTest = "self_test"
        case calibration
    }

    /// An object of objects: chip, then report.
    private var chips: [Value.Member] = []

    public static let fileName = "sensor.json"

    public init() {}

    /// Kept result of a chip; nil when there is none.
    public func report(_ report: Report, of chip: String) -> Value? {
        chips.first { $0.key == chip }?.value[report.rawValue]
    }

    /// Takes a report in the place of the one before.
    public mutating func set(_ report: Report, of chip: String, _ value: Value) {
        var members: [Value.Member] = []
        if case .object(let before)? = chips.first(where: { $0.key == chip })?.value { members = before }
        members.removeAll { $0.key == report.rawValue }
        members.append(.init(report.rawValue, value))
        chips.removeAll { $0.key == chip }
        chips.append(.init(chip, .object(members)))
    }

    // MARK: File

    /// Reads the file of a folder. No file is an empty memory; one that cannot be read or understood, too, with a word.
    public static func read(directory: String) -> (memory: SensorMemory, problem: String?) {
        let path = directory + "/" + fileName
        guard access(path, F_OK) == 0 || errno != ENOENT else { return (SensorMemory(), nil) }
        let bytes: [UInt8]
        do throws(CodedError) { bytes = try SettingsFile.read(path, isOwn: true) } catch {
            return (SensorMemory(), error.message)
        }
        var memory = SensorMemory()
        guard bytes.count <= limit, let root = try? JSONReader.read(bytes), root["v"] == .int(1),
            case .object(let chips)? = root["chips"]
        else { return (memory, "\(path): not a file that this program has written") }
        memory.chips = chips
        return (memory, nil)
    }

    /// Takes a report into the file of a folder, beside what others have put there. The folder is not made: it has to
    /// belong to the agent, not to whoever runs the tool.
    public static func keep(
        _ report: Report, of chip: String, _ value: Value, directory: String
    ) throws(FileError) {
        guard access(directory, F_OK) == 0 else { throw FileError(call: "open", path: directory, code: errno) }
        var memory = read(directory: directory).memory
        memory.set(report, of: chip, value)
        try DurableFile(directory: directory, name: fileName, isPublic: true)
            .write(["v": 1, "chips": .object(memory.chips)])
    }

    private static let limit = 1 << 16
}

extension SelfTestReport {
    /// As `sensor.self_test` in `state/info`.
    /// - Parameter time: nanoseconds of UTC.
    public func value(time: Int64) -> Value {
        func one(_ axis: Axis) -> Value {
            .object([
                .init("change", .double(axis.change)), .init("min", .double(axis.minimum)),
                .init("max", .double(axis.maximum)),
            ])
        }
        return .object([
            .init("t", .string(Timestamp(nanoseconds: time).description)), .init("passed", .bool(passed)),
            .init("unit", .string(unit)), .init("source", .string(source)), .init("x", one(x)), .init("y", one(y)),
            .init("z", one(z)),
        ])
    }
}
