import Foundation
import SignalProcessing
import TestSupport
import Testing

@testable import Sensors

@Suite struct ChipTableTests {
    private struct Vectors: Decodable {
        struct Sample: Decodable {
            var chip: String
            var range: Double
            var bytes: String
            var acceleration: [Double]
        }
        struct Temperature: Decodable {
            var chip: String
            var bytes: String
            var celsius: Double
        }
        var samples: [Sample]
        var temperatures: [Temperature]
    }

    private func vectors() throws -> Vectors {
        try JSONDecoder().decode(Vectors.self, from: TestSupport.Vectors.data("chips/decode.json"))
    }

    private func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.utf8.count, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
    }

    @Test func samplesDecodeAsTheDataSheetsSay() throws {
        let samples = try vectors().samples
        #expect(samples.count > 100)
        for vector in samples {
            let chip = try #require(Chip.named(vector.chip))
            let range = chip.range(for: vector.range)
            #expect(range.g == vector.range)
            let decoder = SampleDecoder(chip, scale: range.step * standardGravity)
            // As it lies in the FIFO: between bytes that are no sample.
            var raw = [UInt8](repeating: 0xA5, count: decoder.slot)
            let data = bytes(vector.bytes)
            raw.replaceSubrange(decoder.offset..<(decoder.offset + data.count), with: data)
            let value = raw.withUnsafeBufferPointer { $0.baseAddress.map(decoder.sample) }
            let (x, y, z) = try #require(value)
            for (got, wanted) in zip([x, y, z], vector.acceleration) {
                #expect(abs(got - wanted) <= 1e-12 * max(1, abs(wanted)), "\(vector)")
            }
        }
    }

    @Test func temperaturesDecodeAsTheDataSheetsSay() throws {
        for vector in try vectors().temperatures {
            let temperature = try #require(Chip.named(vector.chip)?.temperature)
            let data = bytes(vector.bytes)
            #expect(abs(temperature.celsius(data[0], data[1]) - vector.celsius) < 1e-9, "\(vector)")
        }
    }

    /// m/s² per count in the smallest range that the kernel's drivers use; two sources of the same data sheets.
    @Test(arguments: [
        ("adxl345", 0.0383), ("adxl313", 0.009576806), ("lis3dh", 0.009806650), ("lis2dw12", 0.002392822),
        ("mpu6050", 0.000598), ("mma8451", 0.002394), ("mma8452", 0.009577), ("lsm6dso", 0.000598205),
        ("bmi160", 0.000598), ("adxl355", 0.000038245), ("kx134-1211", 0.002394202),
    ])
    func scalesAgreeWithTheKernel(name: String, scale: Double) throws {
        let chip = try #require(Chip.named(name))
        let ours = chip.range(for: name == "adxl313" ? 2 : 2).step * standardGravity
        #expect(abs(ours / scale - 1) < 2e-3, "\(name): \(ours)")
    }

    @Test func tableIsConsistent() throws {
        #expect(Set(Chip.all.map(\.name)).count == Chip.all.count)
        for chip in Chip.all {
            #expect(!chip.identity.isEmpty && !chip.addresses.isEmpty && !chip.source.isEmpty)
            #expect(chip.addresses.allSatisfy { (0x08...0x77).contains($0) })
            #expect(chip.rates.map(\.hertz) == chip.rates.map(\.hertz).sorted(), "\(chip.name)")
            #expect(chip.ranges.map(\.g) == chip.ranges.map(\.g).sorted(), "\(chip.name)")
            #expect(chip.start.contains { $0.register == chip.sentry && $0.check != 0 }, "\(chip.name)")
            #expect(chip.fifo != nil || chip.ready != nil)
            // Full scale fits into the bits that are there.
            for range in chip.ranges {
                let counts = range.g / range.step
                #expect(counts <= Double(1 << (8 * chip.format.bytes - chip.format.shift - 1)) * 1.024, "\(chip.name)")
            }
            for rate in chip.rates {
                let choice = ChipChoice(chip, rate: rate.hertz, range: 2)
                #expect(choice.rate.hertz == rate.hertz)
                guard let fifo = chip.fifo else { continue }
                #expect(choice.watermark >= 1 && choice.watermark <= fifo.depth / 2)
                // At 400 kHz a block is read in less than half of the time in which it comes.
                let time = Double(fifo.slot + (fifo.kind == .slots ? 3 : 0)) * 22.5e-6
                #expect(time * rate.hertz < 0.5, "\(chip.name) at \(rate.hertz) Hz")
            }
        }
    }

    /// Chips that may be at one address are told apart, or named as each other's likes.
    @Test func identitiesAreToldApart() {
        for (index, chip) in Chip.all.enumerated() {
            for other in Chip.all[(index + 1)...] where !Set(chip.addresses).isDisjoint(with: other.addresses) {
                let clash =
                    chip.identity.allSatisfy { mine in
                        other.identity.allSatisfy { theirs in
                            theirs.register != mine.register
                                || (theirs.value ^ mine.value) & theirs.mask & mine.mask == 0
                        }
                    } && Set(chip.identity.map(\.register)) == Set(other.identity.map(\.register))
                #expect(!clash || chip.lookalikes.contains(other.name), "\(chip.name) and \(other.name)")
            }
        }
    }

    @Test func nearestIsByRatio() {
        #expect(Chip.adxl355.rate(nearest: 100).hertz == 125)
        #expect(Chip.lsm6dso.rate(nearest: 100).hertz == 104)
        #expect(Chip.lis3dh.rate(nearest: 10_000).hertz == 1344)
        #expect(Chip.adxl345.rate(nearest: 0.1).hertz == 6.25)
        #expect(Chip.adxl355.range(for: 2).g == 2.048 && Chip.adxl355.range(for: 2.1).g == 4.096)
        #expect(Chip.mma8451.range(for: 16).g == 8)
    }
}
