import Testing

@testable import Seismology

@Suite struct LevelAxesTests {
    /// Which of the eight patterns of triggered axes (x 1, y 2, z 4) switch the detector on.
    @Test(
        arguments: [
            ("x", [1, 3, 5, 7]), ("y", [2, 3, 6, 7]), ("z", [4, 5, 6, 7]), ("any", [1, 2, 3, 4, 5, 6, 7]),
            ("two", [3, 5, 6, 7]),
            ("all", [7]),
        ] as [(String, [UInt8])]) func patternsThatHold(name: String, patterns: [UInt8]) throws
    {
        let axes = try #require(DetectionConfiguration.Level.Axes(rawValue: name))
        #expect((0..<8).filter { axes.holds($0) } == patterns)
    }

    /// The value and the threshold that an event is told are those of the axis that is furthest above its own, of those that
    /// are triggered.
    @Test func theAxisThatIsFurthestAboveItsThresholdIsTold() throws {
        let settings = DetectionConfiguration.Level()
        var detector = AxesDetector(settings, DetectorContext(rate: 100, thresholds: (2, 4, 1)))
        // One sample a column: x, y, z.
        let rms: [[Double]] = [[3, 3, 9, 0], [9, 5, 9, 0], [1.5, 0, 9, 0]]
        let on: [[UInt8]] = [[1, 1, 0, 0], [1, 1, 1, 0], [1, 0, 0, 0]]
        let count = 4
        var (signals, triggered) = (rms.flatMap { $0 }, on.flatMap { $0 })
        var scratch = [Double](repeating: 0, count: 3 * count)
        var values = [Double](repeating: 0, count: 3 * count)
        var axes = [UInt8](repeating: 0, count: count)
        signals.withUnsafeMutableBufferPointer { signals in
            triggered.withUnsafeMutableBufferPointer { triggered in
                scratch.withUnsafeMutableBufferPointer { scratch in
                    values.withUnsafeMutableBufferPointer { values in
                        axes.withUnsafeMutableBufferPointer { axes in
                            guard let s = signals.baseAddress, let t = triggered.baseAddress,
                                let scratch = scratch.baseAddress, let v = values.baseAddress, let a = axes.baseAddress
                            else { return }
                            detector.process(
                                DetectorChunk(
                                    count: count, stride: count, raw: s, offsetRemoved: s, filtered: s, rms: s,
                                    triggered: t, scratch: scratch, validFrom: 0, axisValidFrom: (0, 0, 0)),
                                DetectorResult(axes: a, values: v, stride: count))
                        }
                    }
                }
            }
        }
        #expect(axes == [7, 3, 2, 0])
        // 9 of 4 is more than 3 of 2 and 1.5 of 1; 3 of 2 is more than 5 of 4; y alone.
        #expect(Array(values[0..<3]) == [9, 3, 9] && Array(values[count..<count + 3]) == [4, 2, 4])
    }
}
