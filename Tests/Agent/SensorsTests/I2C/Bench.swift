import Instruments
import SignalProcessing
import Testing

@testable import Sensors

/// A kind of chip as the tests use it.
struct ChipKind: Sendable, CustomTestStringConvertible {
    var name: String
    var address: UInt8
    var make: @Sendable () -> EmulatedChip
    var testDescription: String { name }

    static let all = [
        ChipKind(name: "adxl345", address: 0x53) { EmulatedADXL345() },
        ChipKind(name: "lis3dh", address: 0x18) { EmulatedLIS3DH() },
        ChipKind(name: "mpu6050", address: 0x68) { EmulatedMPU6050() },
        ChipKind(name: "mpu6500", address: 0x69) { EmulatedMPU6500(0x70, 512, []) },
        ChipKind(name: "mpu9250", address: 0x68) { EmulatedMPU6500(0x71, 512, []) },
        ChipKind(name: "mpu6886", address: 0x68) { EmulatedMPU6500(0x19, 1008, [0x12, 0x34]) },
        ChipKind(name: "icm20600", address: 0x69) { EmulatedMPU6500(0x11, 1008, [0x12, 0x34]) },
        ChipKind(name: "mma8451", address: 0x1D) { EmulatedMMA8451() },
        ChipKind(name: "mma8452", address: 0x1C) { EmulatedMMA8452() },
        ChipKind(name: "adxl355", address: 0x1D) { EmulatedADXL355() },
        ChipKind(name: "lis2dw12", address: 0x19) { EmulatedLIS2DW12() },
        ChipKind(name: "lsm6dso", address: 0x6A) { EmulatedLSM6DSO() },
        ChipKind(name: "adxl313", address: 0x53) { EmulatedADXL313() },
        ChipKind(name: "bmi160", address: 0x69) { EmulatedBMI160() },
        ChipKind(name: "kx134-1211", address: 0x1F) { EmulatedKX134() },
    ]
    static let withFIFO = all.filter { Chip.named($0.name)?.fifo != nil }

    static func named(_ name: String) -> ChipKind { all.first { $0.name == name } ?? all[0] }
}

/// A chip on a bus, and the driver for it.
struct Bench {
    let clock: VirtualClock
    let chip: EmulatedChip
    let bus: FakeBus
    let kind: ChipKind
    var sensor: I2CSensor
    /// m/s² per count.
    let scale: Double

    init(_ kind: ChipKind, rate: Double = 100, range: Double = 2, auto: Bool = false) {
        self.kind = kind
        clock = VirtualClock()
        chip = kind.make()
        bus = FakeBus(clock, [kind.address: chip])
        var settings = SensorConfiguration()
        settings.i2c.address = auto ? nil : Int(kind.address)
        settings.i2c.chip = auto ? "auto" : kind.name
        (settings.rate, settings.range) = (rate, range * standardGravity)
        sensor = I2CSensor(settings, bus: bus, clock: clock)
        scale = (Chip.named(kind.name) ?? .adxl345).range(for: range).step * standardGravity
    }

    /// Numbers of the samples of a delivery, found again by their values; nil where they are not the chip's.
    func indices(_ delivery: Delivery, from start: Int = 0) -> [Int?] {
        var expected = start
        return delivery.x.indices.map { index in
            for candidate in expected..<(expected + 3000) {
                let motion = chip.motion(candidate)
                if abs(Double(motion.0) * scale - delivery.x[index]) < 1e-9,
                    abs(Double(motion.1) * scale - delivery.y[index]) < 1e-9,
                    abs(Double(motion.2) * scale - delivery.z[index]) < 1e-9
                {
                    expected = candidate + 1
                    return candidate
                }
            }
            return nil
        }
    }

    /// The error with which reads end.
    mutating func failure(reads: Int = 100) -> SensorError? {
        var block = SampleBlock(capacity: 16)
        for _ in 0..<reads {
            do throws(SensorError) { _ = try sensor.read(into: &block) } catch { return error }
        }
        return nil
    }
}
