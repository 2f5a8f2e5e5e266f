import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct CalibrateTests {
    /// 100 Hz, white noise of 1 mg peak to peak around means that change after so many seconds.
    private static func csv(_ means: [[Double]], seconds: Int, moving: Int = 0) -> String {
        var state: UInt64 = 9
        func noise(_ size: Double) -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (Double(state >> 40) / Double(1 << 24) - 0.5) * size
        }
        var lines = ["t,x,y,z"]
        var sample = 0
        for mean in means {
            for i in 0..<(seconds + moving) * 100 {
                let size = i < moving * 100 ? 8.0 : 0.01
                let v = mean.map { String($0 + noise(size)) }.joined(separator: ",")
                lines.append("\(Double(sample) / 100),\(v)")
                sample += 1
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    @Test func atRestFromARecording() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("rest.csv", Self.csv([[0.2, -0.1, 9.9]], seconds: 20))
        let tool = try Tool("calibrate", file, "--json", "-o", folder.path("out.yaml"))
        #expect(tool.status == 0, "\(tool.errors)")
        let report = try tool.object()
        let offset = try #require(report["offset"] as? [Double])
        for (found, expected) in zip(offset, [0.2, -0.1, 9.9 - 9.80665]) { #expect(abs(found - expected) < 0.001) }
        #expect(report["plausible"] as? Bool == true)
        // Uniform noise has a deviation of a width over √12, over 50 Hz.
        let density = try #require(report["noise_ug_per_sqrt_hz"] as? [Double])
        for d in density { #expect(abs(d / (0.01 / 12.0.squareRoot() / 50.0.squareRoot() / 9.80665 * 1e6) - 1) < 0.1) }
        // What it writes is a settings file, and with it the rest is right.
        let check = try Tool("config", "check", folder.path("out.yaml"))
        #expect(check.status == 0, "\(check.output) \(check.errors)")
        #expect(try String(contentsOfFile: folder.path("out.yaml"), encoding: .utf8).contains("    offset: [0."))
    }

    @Test func whatMovedIsRefused() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("moved.csv", Self.csv([[0, 0, 9.8], [0, 1, 9.7]], seconds: 5))
        let tool = try Tool("calibrate", file)
        #expect(tool.status == 1)
        #expect(tool.errors.contains("was not at rest"))
    }

    @Test(arguments: ["axes", "norm"]) func sixPositionsFromARecording(method: String) throws {
        let folder = try TemporaryFolder()
        let g = 9.80665
        let means = [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]].map {
            [$0[0] * g * 1.02 + 0.3, $0[1] * g * 0.97 - 0.2, $0[2] * g + 0.1]
        }
        let file = try folder.write("turned.csv", Self.csv(means, seconds: 6, moving: 2))
        let tool = try Tool("calibrate", file, "--six-positions", "--method", method, "--json")
        #expect(tool.status == 0, "\(tool.errors)")
        let report = try tool.object()
        #expect(report["method"] as? String == method && report["positions"] as? Int == 6)
        let offset = try #require(report["offset"] as? [Double])
        for (found, expected) in zip(offset, [0.3, -0.2, 0.1]) { #expect(abs(found - expected) < 0.002) }
        let matrix = try #require(report["matrix"] as? [Double])
        #expect(abs(matrix[0] - 1 / 1.02) < 2e-4 && abs(matrix[4] - 1 / 0.97) < 2e-4 && abs(matrix[8] - 1) < 2e-4)
        let less = try folder.write("less.csv", Self.csv(Array(means.dropLast()), seconds: 6, moving: 2))
        let refused = try Tool("calibrate", less, "--six-positions", "--method", method)
        #expect(refused.status == 1 && refused.errors.contains("positions are missing: -z up"))
    }

    @Test func whatHasNoSelfTestSaysSo() throws {
        let tool = try Tool("selftest", "--set", "sensor.driver=simulate")
        #expect(tool.status == 69 && tool.errors.contains("no self-test"))
    }

    /// Whatever this machine has: an object, and a status that fits it.
    @Test func probeSaysWhatThereIs() throws {
        let tool = try Tool("probe", "--json")
        let report = try tool.object()
        #expect(report["findings"] is [Any] && report["buses"] is [Any] && report["commands"] is [Any])
        #expect((tool.status == 0) == (report["use"] is [String: Any]))
        #expect(try Tool("probe").output.contains("driver: auto would"))
    }
}
