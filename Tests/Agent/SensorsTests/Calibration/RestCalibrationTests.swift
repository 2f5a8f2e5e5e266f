import Foundation
import SignalProcessing
import Testing

@testable import Sensors

@Suite struct RestCalibrationTests {
    /// White noise of a density in µg/√Hz around a mean.
    static func rest(
        _ mean: [Double], microG: Double = 100, rate: Double = 100, seconds: Double = 20, seed: UInt64 = 3,
        _ change: (Int, inout [Double]) -> Void = { _, _ in }
    ) -> RestRecording {
        var noise = SeededNoise(seed: seed)
        let rms = microG * 1e-6 * standardGravity * (rate / 2).squareRoot()
        var recording = RestRecording(rate: rate)
        var block = SampleBlock(capacity: 100)
        for i in 0..<Int(seconds * rate) {
            var v = mean.map { $0 + rms * noise.gaussian() }
            change(i, &v)
            block.append(v[0], v[1], v[2])
            if block.count == 100 {
                recording.append(block)
                block.removeAll()
            }
        }
        recording.append(block)
        return recording
    }

    @Test(arguments: [(25.0, 100.0), (100, 400), (400, 50)]) func noiseDensityIsThatOfTheNoise(
        microG: Double, rate: Double
    ) throws {
        let result = try RestCalibration(
            Self.rest([0, 0, standardGravity], microG: microG, rate: rate), vertical: (2, 1))
        for axis in [result.x, result.y, result.z] { #expect(abs(axis.microG / microG - 1) < 0.06) }
        #expect(abs(result.x.noise / (microG * 1e-6 * standardGravity * (rate / 2).squareRoot()) - 1) < 0.06)
    }

    @Test func offsetsOfALevelSensorAreAgainstTheVertical() throws {
        let mean = [0.3, -0.2, -standardGravity + 0.1]
        let result = try RestCalibration(Self.rest(mean), vertical: (2, -1))
        for (found, expected) in zip(result.correction.offset, [0.3, -0.2, 0.1]) {
            #expect(abs(found - expected) < 0.002)
        }
        #expect(result.isPlausible)
        let v = result.correction.apply(mean)
        #expect(abs(v[0]) < 0.002 && abs(v[2] + standardGravity) < 0.002)
    }

    @Test func offsetsOfATiltedSensorMakeTheLengthOneG() throws {
        let mean = [3, 4, 8.5]
        let result = try RestCalibration(Self.rest(mean), vertical: nil)
        let v = result.correction.apply(mean)
        #expect(abs((v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).squareRoot() - standardGravity) < 0.002)
        // Along the mean: no direction is preferred.
        #expect(abs(result.x.offset / 3 - result.z.offset / 8.5) < 0.001)
    }

    @Test func aSensorThatShowsTooMuchIsSaidToBeImplausible() throws {
        #expect(try !RestCalibration(Self.rest([0, 0, 1.2 * standardGravity]), vertical: (2, 1)).isPlausible)
    }

    @Test func whatMovedIsRefusedWithTheReason() {
        func reason(_ change: @escaping (Int, inout [Double]) -> Void) -> String? {
            Self.rest([0, 0, standardGravity], change).movement()
        }
        #expect(reason { _, _ in } == nil)
        #expect(reason { i, v in if i / 10 == 53 { v[1] += 0.3 } }?.contains("shaken: axis y in second 6") == true)
        #expect(reason { i, v in v[0] += i > 1000 ? 0.1 : 0 }?.contains("tilted or drifts: axis x") == true)
        #expect(reason { i, v in v[2] += 0.2 * sin(Double(i) / 2) }?.contains("shaken: axis z") == true)
        #expect(Self.rest([0, 0, 9.8], seconds: 1).movement()?.contains("at least 2 s") == true)
        #expect(throws: CalibrationError.self) {
            try RestCalibration(
                Self.rest([0, 0, standardGravity]) { i, v in v[0] += 1e-3 * Double(i) }, vertical: nil)
        }
    }

    /// 3.9 mg steps: many differences are 0, and the spread of the rest is that of the rounding.
    @Test func aCoarseSensorIsAtRestToo() throws {
        let step = 0.0383
        let recording = Self.rest([0.01, 0.02, standardGravity], microG: 400) { _, v in
            v = v.map { ($0 / step).rounded() * step }
        }
        let result = try RestCalibration(recording, vertical: (2, 1))
        // Rounding adds a twelfth of the step's square.
        let expected = (400e-6 * 400e-6 * 50 * standardGravity * standardGravity + step * step / 12).squareRoot()
        #expect(abs(result.x.noise / expected - 1) < 0.1)
    }

    @Test func aSensorThatLiesOtherwiseIsRefused() {
        #expect(throws: CalibrationError.self) {
            try RestCalibration(Self.rest([0, 0, standardGravity]), vertical: (2, -1))
        }
        #expect(throws: CalibrationError.self) {
            try RestCalibration(Self.rest([0, 0, standardGravity]), vertical: (0, 1))
        }
    }
}

@Suite struct PositionCalibrationTests {
    static let directions: [[Double]] = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    static let offset = [0.4, -0.3, 0.7]
    static let scale = [1.03, 0.98, 1.01]

    /// What a sensor with these errors shows of gravity along a direction.
    static func measured(_ direction: [Double], cross: Double = 0) -> [Double] {
        let v = direction.map { $0 * standardGravity }
        return [
            v[0] * scale[0] + cross * v[1] + offset[0], v[1] * scale[1] + offset[1],
            v[2] * scale[2] - cross * v[0] + offset[2],
        ]
    }

    @Test func sixPositionsGiveOffsetScaleAndCrossAxis() throws {
        let means = Self.directions.map { Self.measured($0, cross: 0.02) }
        let result = try PositionCalibration(means, method: .axes)
        #expect(result.worst < 1e-10 && result.before > 0.3)
        for (found, expected) in zip(result.correction.offset, Self.offset) { #expect(abs(found - expected) < 1e-10) }
        // Any other direction is right, too.
        let other = [0.6, -0.64, 0.48]
        for (v, d) in zip(result.correction.apply(Self.measured(other, cross: 0.02)), other) {
            #expect(abs(v - d * standardGravity) < 1e-10)
        }
    }

    /// A few degrees off the axes: the axes' method makes errors of it, that of the length does not.
    @Test func positionsThatAreNotQuiteAlongTheAxesAreForTheLength() throws {
        var means: [[Double]] = []
        for (number, direction) in Self.directions.enumerated() {
            var d = direction
            d[(number / 2 + 1) % 3] += 0.08
            d[(number / 2 + 2) % 3] -= 0.05 * Double(number)
            let length = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).squareRoot()
            means.append(Self.measured(d.map { $0 / length }))
        }
        let result = try PositionCalibration(means, method: .norm)
        for (found, expected) in zip(result.correction.offset, Self.offset) { #expect(abs(found - expected) < 1e-9) }
        for axis in 0..<3 { #expect(abs(result.correction.matrix[4 * axis] - 1 / Self.scale[axis]) < 1e-9) }
        #expect(throws: CalibrationError.self) { try PositionCalibration(means, method: .axes) }
    }

    @Test func moreThanSixPositionsAverageTheirErrors() throws {
        var noise = SeededNoise(seed: 1)
        let means = (0..<10).flatMap { _ in
            Self.directions.map { Self.measured($0).map { $0 + 0.01 * noise.gaussian() } }
        }
        let result = try PositionCalibration(means, method: .axes)
        #expect(result.positions == 60 && result.residual > 0.005 && result.residual < 0.015)
        for (found, expected) in zip(result.correction.offset, Self.offset) { #expect(abs(found - expected) < 0.01) }
    }

    @Test func whatSaysTooLittleIsRefused() {
        func message(_ means: [[Double]]) -> String? {
            do throws(CalibrationError) {
                _ = try PositionCalibration(means, method: .axes)
                return nil
            } catch { return error.message }
        }
        let means = Self.directions.map { Self.measured($0) }
        #expect(message(Array(means.dropLast())) == "positions are missing: -z up")
        #expect(message(means + [[5, 5, 5]])?.hasPrefix("position 7 is not along an axis") == true)
        #expect(message(means + [[0, 0, 0]])?.hasPrefix("position 7") == true)
        // One position in which the sensor slid: 1 m/s² on another axis.
        #expect(
            message(means + [Self.measured([1, 0, 0]).enumerated().map { $0 == 1 ? $1 + 2 : $1 }])?.contains(
                "contradict") == true)
        #expect(PositionCalibration.direction([0, -9.6, 0.3]) == 3)
    }

    @Test func equationsThatSayTheSameAreRefused() {
        var system = LeastSquares(unknowns: 2)
        for i in 0..<10 { system.add([Double(i), 2 * Double(i)], 1) }
        #expect(system.solve() == nil)
        var good = LeastSquares(unknowns: 2)
        for i in 0..<10 { good.add([Double(i), 1], 3 * Double(i) - 2) }
        let x = good.solve() ?? []
        #expect(x.count == 2 && abs(x[0] - 3) < 1e-12 && abs(x[1] + 2) < 1e-12)
    }
}
