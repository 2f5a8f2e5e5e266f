import Foundation
import Instruments
import MiniSEED
import Platform
import SignalProcessing

@testable import Sensors

/// A clock that stands still until somebody sleeps: then it is at once as late as was asked for.
final class VirtualClock: SensorClock {
    private struct State {
        var now: Int64
        var deadlines: [Int64] = []
    }
    private let state: Mutex<State>
    private let wallStart: Int64
    private let start: Int64

    init(monotonic: Int64 = 5_000_000_000, wall: Int64 = 1_767_608_430_000_000_000) {
        state = Mutex(State(now: monotonic))
        (start, wallStart) = (monotonic, wall)
    }

    func monotonic() -> Int64 { state.withLock { $0.now } }
    func wall() -> Int64 { state.withLock { wallStart + $0.now - start } }
    func sleep(until deadline: Int64) {
        state.withLock {
            $0.deadlines.append(deadline)
            $0.now = max($0.now, deadline)
        }
    }

    func advance(_ nanoseconds: Int64) { state.withLock { $0.now += nanoseconds } }
    var deadlines: [Int64] { state.withLock { $0.deadlines } }
}

/// Everything that a driver delivered.
struct Delivery: Equatable {
    struct Mark: Equatable {
        /// Index of the first sample behind the gap.
        var index: Int
        var time: Int64
        var lost: Int
    }
    var x: [Double] = []
    var y: [Double] = []
    var z: [Double] = []
    /// Time of every block's first sample, by that sample's index.
    var times: [Int: Int64] = [:]
    var marks: [Mark] = []
    var counts: [Int] = []

    init(_ driver: inout some SensorDriver, block capacity: Int, atMost limit: Int = .max) throws {
        var block = SampleBlock(capacity: capacity)
        // What is left over from before must not show.
        block.append(1, 2, 3)
        block.gapBefore = true
        while x.count < limit, try driver.read(into: &block) == .samples {
            if block.gapBefore { marks.append(.init(index: x.count, time: block.time, lost: block.lostBefore)) }
            times[x.count] = block.time
            counts.append(block.count)
            for index in 0..<block.count {
                x.append(block[0, index])
                y.append(block[1, index])
                z.append(block[2, index])
            }
        }
    }
}

/// A file that lives as long as the body.
func withFile<R>(_ bytes: [UInt8], _ name: String = "recording.csv", _ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seismote-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent(name)
    try Data(bytes).write(to: file)
    return try body(file.path)
}

func withFile<R>(_ text: String, _ body: (String) throws -> R) throws -> R {
    try withFile(Array(text.utf8), "recording.csv", body)
}

/// The whole replay of a text or of bytes.
func replay(
    _ bytes: [UInt8], _ name: String = "recording.csv", block: Int = 16, rate: Double? = nil,
    _ change: (inout ReplaySettings) -> Void = { _ in }
) throws -> (delivery: Delivery, description: SensorDescription) {
    try withFile(bytes, name) { path in
        var settings = ReplaySettings(file: path)
        settings.speed = 0
        // A count is 1 m/s² in these tests.
        settings.scale = PerAxis(x: 1, y: 1, z: 1)
        change(&settings)
        var sensor = ReplaySensor(settings, irregularRate: rate)
        let description = try sensor.open()
        return (try Delivery(&sensor, block: block), description)
    }
}

func replay(
    _ text: String, block: Int = 16, rate: Double? = nil, _ change: (inout ReplaySettings) -> Void = { _ in }
) throws -> (delivery: Delivery, description: SensorDescription) {
    try replay(Array(text.utf8), block: block, rate: rate, change)
}

/// The error with which opening a recording ends.
func openingError(_ bytes: [UInt8], _ name: String = "recording.csv") throws -> SensorError? {
    try withFile(bytes, name) { path in
        var settings = ReplaySettings(file: path)
        settings.speed = 0
        // A count is 1 m/s² in these tests.
        settings.scale = PerAxis(x: 1, y: 1, z: 1)
        var sensor = ReplaySensor(settings)
        do throws(SensorError) {
            _ = try sensor.open()
            return nil
        } catch {
            return SensorError(error.code, error.message.replacingOccurrences(of: path, with: name))
        }
    }
}

func openingError(_ text: String) throws -> SensorError? { try openingError(Array(text.utf8)) }

/// A regular recording as text, with a decimal number of digits in the times.
func csv(_ count: Int, rate: Double, digits: Int = 6, header: Bool = true) -> String {
    var text = header ? "t,x,y,z\n" : ""
    for index in 0..<count {
        text += String(format: "%.\(digits)f", Double(index) / rate) + ",\(index),\(-index),0.5\n"
    }
    return text
}

/// A miniSEED file of channels; each is a list of stretches that start so many nanoseconds after the first.
func miniSEED(
    _ channels: [(name: String, stretches: [(start: Int64, samples: [Int32])])], rate: Double = 100,
    station: String = "BASE", location: String = "00", format: MiniSEEDFormat = .v3, start: Int64 = 1_000_000_000
) throws -> [UInt8] {
    var bytes: [UInt8] = []
    for channel in channels {
        var writer = try MiniSEEDWriter(format: format, recordLength: 256)
        let source = SourceIdentifier(network: "XX", station: station, location: location, channel: channel.name)
        for stretch in channel.stretches {
            bytes += try writer.encode(stretch.samples, start: start + stretch.start, rate: rate, source: source)
        }
    }
    return bytes
}
