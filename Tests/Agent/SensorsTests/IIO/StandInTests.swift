import Foundation
import Glibc
import Instruments
import SignalProcessing
import Testing
import Values

@testable import Sensors

/// The driver whole, over the real libiio, with plain files in place of sysfs and a FIFO in place of `/dev/iio:device0`.
/// Needs root, and libiio; the kernel's own drivers are met on the virtual board (deploy/checks/board).
@Suite("IIO: the whole driver over a stand-in", .serialized, .enabled(if: StandIn.isPossible)) struct IIOStandInTests {
    private struct Outcome: Sendable {
        var description: SensorDescription?
        var notes: [String] = []
        var blocks: [(count: Int, gap: Bool, lost: Int, time: Int64)] = []
        var x: [Double] = []
        var z: [Double] = []
        var condition = SensorCondition()
        var error: SensorError?
        var files: [String: String] = [:]
        var inventory: IIOInventory?
    }

    private func run(_ settings: SensorConfiguration, _ standIn: StandIn, samples: Int, removed: Bool = false)
        -> Outcome
    {
        standIn.inside {
            var outcome = Outcome()
            do throws(SensorError) {
                var sensor = IIOSensor(settings)
                outcome.description = try sensor.open()
                outcome.files["while open"] = standIn.read("buffer/enable")
                outcome.notes = sensor.condition.notes
                var block = SampleBlock(capacity: 16)
                while outcome.x.count < samples {
                    _ = try sensor.read(into: &block)
                    outcome.blocks.append((block.count, block.gapBefore, block.lostBefore, block.time))
                    for index in 0..<block.count {
                        outcome.x.append(block[0, index])
                        outcome.z.append(block[2, index])
                    }
                }
                outcome.condition = sensor.condition
                if removed {
                    standIn.remove()
                    _ = try sensor.read(into: &block)
                }
                sensor.close()
                for file in ["buffer/enable", "in_accel_scale", "sampling_frequency", "scan_elements/in_anglvel_x_en"] {
                    outcome.files[file] = standIn.read(file)
                }
            } catch { outcome.error = error }
            return outcome
        }
    }

    @Test("Opens after a crash, sets rate and scale, takes only what it needs, declares a hole exactly, tidies up")
    func whole() throws {
        let standIn = StandIn()
        let start = standIn.now - 640_000_000
        standIn.scans = (0..<64).map { index in
            let tick = index < 32 ? index : index + 3
            return (Int16(index), Int16(0), Int16(-1000), start + Int64(tick) * 10_000_000)
        }
        var settings = SensorConfiguration()
        settings.range = 39.2
        let outcome = run(settings, standIn, samples: 64)
        #expect(outcome.error == nil)
        let description = try #require(outcome.description)
        #expect(description.chip == "standin")
        #expect(description.rate == 100)
        #expect(abs((description.range ?? 0) - 0.001196 * 32768) < 1e-9)
        #expect(outcome.notes.contains { $0.contains("t100") })
        #expect(outcome.files["while open"] == "1")
        #expect(outcome.files["buffer/enable"] == "0")
        #expect(outcome.files["in_accel_scale"] == "0.001196")
        #expect(outcome.files["sampling_frequency"] == "100")
        #expect(outcome.files["scan_elements/in_anglvel_x_en"] == "0")
        // The mount matrix turns x to the board's -y; here the board's x is the chip's -y: 0.
        #expect(outcome.x.allSatisfy { $0 == 0 })
        #expect(outcome.z.allSatisfy { abs($0 + 1.196) < 1e-12 })
        let gaps = outcome.blocks.dropFirst().filter(\.gap)
        #expect(gaps.count == 1)
        #expect(gaps.first?.lost == 3)
        #expect(outcome.condition.lostTriggers == 3)
        let times = outcome.blocks.map(\.time)
        #expect(abs((times.first ?? 0) - start) < 1_000_000)
        #expect(abs((gaps.first?.time ?? 0) - start - 350_000_000) < 1_000_000)
    }

    @Test("A device that is gone is missing, after 2 s without samples")
    func gone() {
        let standIn = StandIn()
        let start = standIn.now - 160_000_000
        standIn.scans = (0..<16).map { (Int16($0), 0, 0, start + Int64($0) * 10_000_000) }
        let outcome = run(SensorConfiguration(), standIn, samples: 16, removed: true)
        #expect(outcome.error?.code == .missing)
        #expect(outcome.error?.message.contains("has disappeared") == true)
    }

    @Test("Discovery: the gyroscope beside it, formats, what can be set; nothing is written")
    func discovery() throws {
        let standIn = StandIn()
        let outcome = standIn.inside {
            var outcome = Outcome()
            do throws(SensorError) { outcome.inventory = try IIODiscovery.inventory() } catch { outcome.error = error }
            outcome.files["buffer/enable"] = standIn.read("buffer/enable")
            return outcome
        }
        let inventory = try #require(outcome.inventory)
        #expect(inventory.isLocal)
        #expect(inventory.triggers == [IIOTriggerReport(id: "trigger0", name: "t100", rate: 100)])
        let index = try inventory.index(of: "auto")
        let device = inventory.devices[index]
        #expect(device.name == "standin")
        #expect(device.isAccelerometer && device.hasBuffer && device.hasTimestamp && device.isCapturing)
        #expect(device.rates == .list([50, 100, 200]))
        #expect(device.trigger == "t100")
        #expect(device.problems.isEmpty)
        #expect(device.channels.first { $0.id == "accel_x" }?.format?.text == "le:s16/16>>0")
        #expect(inventory.devices.count == 2)
        #expect(outcome.files["buffer/enable"] == "1")
    }
}

/// Files as the kernel would have them, seen by one thread alone.
private final class StandIn: @unchecked Sendable {
    /// x, y, z in counts and the stamp.
    var scans: [(Int16, Int16, Int16, Int64)] = []

    static var isPossible: Bool {
        guard geteuid() == 0, FileManager.default.fileExists(atPath: "/sys/bus") else { return false }
        // A container may be root and not be allowed to mount.
        return onThread { ownMounts() && mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0 }
    }

    private static let folder = "/sys/bus/iio/devices/iio:device1"

    var now: Int64 { SystemSensorClock().wall() }

    func read(_ file: String) -> String { Sysfs.read("\(Self.folder)/\(file)") ?? "" }

    func remove() { try? FileManager.default.removeItem(atPath: Self.folder) }

    /// Runs a body on a thread of its own that sees the files.
    func inside<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        Self.onThread {
            guard Self.ownMounts(), mount("none", "/", nil, UInt(MS_REC | MS_PRIVATE), nil) == 0,
                mount("none", "/sys/bus", "tmpfs", 0, nil) == 0, mount("none", "/dev", "tmpfs", 0, nil) == 0
            else { fatalError("no stand-in: \(String(cString: strerror(errno)))") }
            let fifo = self.make()
            defer { close(fifo) }
            return body()
        }
    }

    /// A mount namespace for the calling thread (unshare, CLONE_NEWNS), which Swift's Glibc module does not import.
    private static func ownMounts() -> Bool {
        guard let symbol = dlsym(nil, "unshare") else { return false }
        return unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)(0x20000) == 0
    }

    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value {
        let result = Box<Value>()
        let done = DispatchSemaphore(value: 0)
        Thread {
            result.value = body()
            done.signal()
        }.start()
        done.wait()
        guard let value = result.value else { fatalError("the thread gave nothing") }
        return value
    }

    private final class Box<Value>: @unchecked Sendable { var value: Value? }

    private func write(_ path: String, _ text: String) {
        let file = URL(fileURLWithPath: "/sys/bus/iio/devices/\(path)")
        try? FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try? Data("\(text)\n".utf8).write(to: file)
    }

    /// Makes the files; returns the FIFO, with the scans in it.
    private func make() -> Int32 {
        write("iio:device0/name", "standin")
        write("iio:device0/in_anglvel_x_raw", "5")
        write("trigger0/name", "t100")
        write("trigger0/sampling_frequency", "100.000")
        let device = "iio:device1"
        let texts = [
            ("name", "standin"), ("sampling_frequency", "50"), ("sampling_frequency_available", "50 100 200"),
            ("in_accel_scale", "0.000598"), ("in_accel_scale_available", "0.000598 0.001196 0.002392"),
            ("in_accel_mount_matrix", "0, -1, 0; 1, 0, 0; 0, 0, 1"), ("current_timestamp_clock", "realtime"),
            ("trigger/current_trigger", "t100"), ("buffer/enable", "1"), ("buffer/length", "2"),
            ("buffer/watermark", "1"), ("scan_elements/in_timestamp_en", "0"),
            ("scan_elements/in_timestamp_index", "4"), ("scan_elements/in_timestamp_type", "le:s64/64>>0"),
            ("in_anglvel_x_raw", "1"), ("scan_elements/in_anglvel_x_en", "1"),
            ("scan_elements/in_anglvel_x_index", "3"), ("scan_elements/in_anglvel_x_type", "le:s16/16>>0"),
        ]
        for (file, text) in texts { write("\(device)/\(file)", text) }
        for (index, axis) in ["x", "y", "z"].enumerated() {
            write("\(device)/in_accel_\(axis)_raw", "\(index)")
            write("\(device)/scan_elements/in_accel_\(axis)_en", "0")
            write("\(device)/scan_elements/in_accel_\(axis)_index", "\(index)")
            write("\(device)/scan_elements/in_accel_\(axis)_type", "le:s16/16>>0")
        }
        mkfifo("/dev/iio:device1", 0o600)
        let fifo = open("/dev/iio:device1", O_RDWR | O_NONBLOCK)
        for (x, y, z, stamp) in scans {
            var bytes: [UInt8] = []
            for value in [x, y, z, 0] { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
            withUnsafeBytes(of: stamp.littleEndian) { bytes.append(contentsOf: $0) }
            _ = Glibc.write(fifo, bytes, bytes.count)
        }
        return fifo
    }
}
