import Foundation
import Testing

@testable import SignalProcessing

@Suite struct GapBridgeTests {
    /// The bridge of a gap in three axes, of which the others are turned by a fifth of a sample each.
    private func bridge(_ signal: [Double], at place: Int, missing: Int, rate: Double) -> GapBridge {
        var bridge = GapBridge(rate: rate)
        let before = signal[..<place]
        let planes = Array(before) + before.map { -$0 } + before.map { $0 + 9.8 }
        planes.withUnsafeBufferPointer { planes in
            if let base = planes.baseAddress { bridge.push(base, stride: place, count: place) }
        }
        let after = signal[(place + missing)...].prefix(bridge.wanted)
        bridge.fill(missing: missing, after: after.flatMap { [$0, -$0, $0 + 9.8] }, count: after.count)
        return bridge
    }

    /// White noise through a resonance of 2 Hz: motion that cannot be told in advance.
    private func motion(_ count: Int, rate: Double) -> [Double] {
        var (state, x, y): (UInt64, Double, Double) = (5, 0, 0)
        let turn = 2 * cos(2 * Double.pi * 2 / rate) * 0.98
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            (x, y) = (Double(state >> 40) / Double(1 << 24) - 0.5 + turn * x - 0.9604 * y, x)
            return x
        }
    }

    @Test(arguments: [1, 5, 50, 250]) func aMachineRunsOnThroughTheGap(_ missing: Int) {
        let signal = (0..<3000).map { sin(2 * Double.pi * 40 * Double($0) / 500) }
        let found = bridge(signal, at: 2000, missing: missing, rate: 500)
        #expect(found.count == missing && found.samples.count == 3 * missing)
        var worst = 0.0
        for i in 0..<missing {
            let (x, y, z) = (found.samples[i], found.samples[missing + i], found.samples[2 * missing + i])
            worst = max(worst, abs(x - signal[2000 + i]), abs(y + signal[2000 + i]), abs(z - 9.8 - signal[2000 + i]))
        }
        #expect(worst < (missing <= 50 ? 0.01 : 0.3), "\(worst)")
        // A tenth of the motion is left as doubt, half of it where the gap is long.
        #expect(found.velocityError > 0 && found.velocityError < Double(missing) / 500)
    }

    /// The bound of the velocity's error holds, and is no more than it has to be.
    @Test(arguments: [(100.0, 1), (100, 5), (100, 20), (200, 40), (31.25, 6)])
    func theErrorIsBounded(_ rate: Double, _ missing: Int) {
        let signal = motion(Int(40 * rate), rate: rate)
        var (held, ratios) = (0, [Double]())
        let places = stride(from: Int(8 * rate), to: Int(38 * rate), by: Int(rate / 3)).map { $0 }
        for place in places {
            let found = bridge(signal, at: place, missing: missing, rate: rate)
            var error = 0.0
            for i in 0..<missing { error += (found.samples[i] - signal[place + i]) / rate }
            if abs(error) <= found.velocityError { held += 1 }
            ratios.append(found.velocityError / max(abs(error), 1e-12))
        }
        #expect(held >= places.count - 1, "\(held) of \(places.count)")
        #expect(ratios.sorted()[ratios.count / 2] < 40)
    }

    @Test func theSamplesBehindTheGapCount() {
        let signal = motion(3000, rate: 100)
        var other = signal
        for i in 2001..<2030 { other[i] += 3 }
        let (one, two) = (
            bridge(signal, at: 2000, missing: 1, rate: 100), bridge(other, at: 2000, missing: 1, rate: 100)
        )
        #expect(abs(one.samples[0] - signal[2000]) < 0.6)
        #expect(two.samples[0] - one.samples[0] > 0.5)
    }

    @Test func whatIsTooLongOrTooEarlyIsNotBridged() {
        var bridge = GapBridge(rate: 100)
        #expect(!bridge.canBridge(1) && bridge.level == nil)
        let planes = [Double](repeating: 2, count: 300)
        func push() {
            planes.withUnsafeBufferPointer {
                if let base = $0.baseAddress { bridge.push(base, stride: 100, count: 100) }
            }
        }
        push()
        #expect(bridge.canBridge(1) && bridge.canBridge(200) && !bridge.canBridge(201) && !bridge.canBridge(0))
        #expect(bridge.level.map { $0.x == 2 && $0.z == 2 && $0.seconds == 1 } == true)
        bridge.interrupt()
        #expect(!bridge.canBridge(1) && bridge.level != nil)
        push()
        #expect(bridge.canBridge(1))
        bridge.reset()
        #expect(!bridge.canBridge(1) && bridge.level == nil)
    }

    /// Without noise every equation is as good as another; a still sensor is bridged by what it says.
    @Test func whatNeverMovesStaysAsItIs() {
        let found = bridge([Double](repeating: 0.25, count: 3000), at: 2000, missing: 100, rate: 100)
        #expect(found.samples.prefix(100).allSatisfy { abs($0 - 0.25) < 1e-12 } && found.velocityError < 1e-12)
    }
}
