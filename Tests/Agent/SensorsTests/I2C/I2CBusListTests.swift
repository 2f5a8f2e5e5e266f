import Foundation
import Testing

@testable import Sensors

@Suite struct I2CBusListTests {
    private func withTree(_ body: (String) throws -> Void) throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("seismote-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: root) }
        func folder(_ path: String) throws {
            try FileManager.default.createDirectory(
                atPath: root + path, withIntermediateDirectories: true)
        }
        func file(_ path: String, _ text: String) throws {
            try folder((path as NSString).deletingLastPathComponent)
            try text.write(toFile: root + path, atomically: true, encoding: .utf8)
        }
        for name in ["i2c-10", "i2c-1", "i2c-stub", "null"] { try file("/dev/" + name, "") }
        try file("/sys/class/i2c-dev/i2c-1/name", "bcm2835 (i2c@7e804000)\n")
        try folder("/sys/bus/i2c/drivers/st-accel-i2c")
        try file("/sys/bus/i2c/devices/1-0018/name", "lis3dh\n")
        try file("/sys/bus/i2c/devices/1-0053/name", "adxl345\n")
        try file("/sys/bus/i2c/devices/10-0068/name", "mpu6050\n")
        for device in ["1-0018", "10-0068"] {
            try FileManager.default.createSymbolicLink(
                atPath: root + "/sys/bus/i2c/devices/\(device)/driver",
                withDestinationPath: "../../drivers/st-accel-i2c")
        }
        try body(root)
    }

    @Test func busesAndWhoHasTheirAddresses() throws {
        try withTree { root in
            let buses = I2CBusList.all(dev: root + "/dev", sys: root + "/sys")
            #expect(buses.map(\.number) == [1, 10])
            #expect(buses.map(\.name) == ["bcm2835 (i2c@7e804000)", ""])
            // A device without a driver is nobody's.
            #expect(buses[0].owners == [I2COwner(address: 0x18, driver: "st-accel-i2c", device: "lis3dh")])
            #expect(buses[1].owners == [I2COwner(address: 0x68, driver: "st-accel-i2c", device: "mpu6050")])
        }
        #expect(I2CBusList.all(dev: "/no-such-folder", sys: "/no-such-folder").isEmpty)
    }

    @Test func missingBusIsSaid() {
        let bus = LinuxI2CBus(number: 255)
        do throws(SensorError) {
            try bus.open(identifyOnly: true)
            Issue.record("there is no such bus")
        } catch {
            #expect(error.code == .missing && error.message.hasPrefix("/dev/i2c-255: there is no such bus"))
        }
        #expect(!bus.exists && bus.owner(of: 0x53) == nil)
    }

    @Test func dataReadyLineIsChecked() {
        for (text, code) in [
            ("17", SensorError.Code.unsupported), ("gpiochip0", .unsupported), ("gpiochip0:x", .unsupported),
            ("gpiochip99:1", .missing),
        ] {
            do throws(SensorError) {
                _ = try DataReadyLine(text)
                Issue.record("\(text) was taken")
            } catch {
                #expect(error.code == code, "\(text): \(error)")
            }
        }
    }
}
