import Testing

@testable import Seismology

@Suite struct STALTATests {
    private func settings(_ method: STALTA.Method, _ minimum: Int = 0) -> STALTA.Settings {
        .init(method: method, shortTerm: 2, longTerm: 4, on: 1.5, off: 1, minimumDuration: minimum)
    }

    private func run(_ power: [Double], _ detector: inout STALTA, cut: Int = .max) -> (ratio: [Double], on: [UInt8]) {
        var (ratio, on) = (power, [UInt8](repeating: 0, count: power.count))
        ratio.withUnsafeMutableBufferPointer { ratio in
            on.withUnsafeMutableBufferPointer { on in
                guard let ratio = ratio.baseAddress, let on = on.baseAddress else { return }
                for start in stride(from: 0, to: power.count, by: min(cut, power.count)) {
                    detector.process(ratio + start, on + start, bit: 4, count: min(cut, power.count - start))
                }
            }
        }
        return (ratio, on)
    }

    /// By hand: lengths 2 and 4, so that all averages are binary fractions.
    @Test func averagesAndTriggersByHand() {
        var classic = STALTA(settings(.classic))
        let found = run([1, 1, 1, 1, 5, 5, 1, 1, 1, 1], &classic)
        let ratio: [Double] = [0, 0, 0, 1, 1.5, 5.0 / 3, 1, 1.0 / 3, 0.5, 1]
        #expect(zip(found.ratio, ratio).allSatisfy { abs($0 - $1) < 1e-15 })
        #expect(found.on == [0, 0, 0, 0, 4, 4, 4, 0, 0, 0])
        // The first sample counts for nothing, the ratio begins with the fifth.
        // sta 0 4 6 7 7.5, lta 0 2 3.5 4.625 5.46875
        var recursive = STALTA(settings(.recursive))
        let last: [Double] = [0, 0, 0, 0, 7.5 / 5.46875]
        #expect(run([8, 8, 8, 8, 8], &recursive).ratio == last)
        // The long average stays where it was when the ratio reached 1.5, until the ratio is below 1.
        var frozen = STALTA(settings(.frozen))
        let power: [Double] = [9, 4, 4, 4, 4, 20, 4, 4, 0, 0, 0]
        let (frozenRatio, on) = run(power, &frozen)
        var (sta, lta, triggered) = (0.0, 0.0, false)
        var expected: [Double] = []
        for (i, x) in power.enumerated() {
            if i > 0 { sta += (x - sta) / 2 }
            if i > 0, !triggered { lta += (x - lta) / 4 }
            let r = i >= 4 ? sta / lta : 0
            triggered = triggered ? r >= 1 : r >= 1.5
            expected.append(r)
        }
        #expect(frozenRatio == expected)
        #expect(on == [0, 0, 0, 0, 0, 4, 4, 0, 0, 0, 0])
    }

    @Test func theMinimumDurationCountsFromTheTriggerAndABreakBeginsAnew() {
        // Classic 2/4 of these: 1 at rest, 1.5 1.67 1 at the burst.
        for (minimum, on) in [(1, [5, 6]), (2, [6]), (3, [])] {
            var detector = STALTA(settings(.classic, minimum))
            let found = run([1, 1, 1, 1, 5, 5, 1, 1, 1, 1], &detector).on
            #expect(found.indices.filter { found[$0] != 0 } == on)
        }
    }

    @Test(arguments: STALTA.Method.allCases) func anyCutGivesTheSameBitsAndAResetForgetsAll(method: STALTA.Method) {
        var state: UInt64 = 3
        let power = (0..<2000).map { i -> Double in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Double(state >> 40) * (i % 700 > 600 ? 9 : 1)
        }
        let settings = STALTA.Settings(
            method: method, shortTerm: 10, longTerm: 100, on: 3, off: 1.5, minimumDuration: 7)
        var detector = STALTA(settings)
        let whole = run(power, &detector)
        #expect(whole.on.contains(4) && whole.on.contains(0))
        for cut in [1, 7, 128, 1999] {
            detector.reset()
            let again = run(power, &detector, cut: cut)
            #expect(again == whole)
        }
    }

    @Test(arguments: STALTA.Method.allCases) func silenceHasNoRatio(method: STALTA.Method) {
        var detector = STALTA(settings(method))
        #expect(run([Double](repeating: 0, count: 20), &detector).ratio.allSatisfy { $0 == 0 })
    }
}

@Suite struct PeakDetectorTests {
    @Test func isOnAboveTheThresholdOnly() {
        let cases: [(DetectorSignal, axes: UInt8, value: Double)] = [
            (.x, 0, 3), (.y, 2, 4), (.z, 4, 12), (.h, 3, 5), (.v3, 7, 13), (.each, 6, 12),
        ]
        for (signal, axes, value) in cases {
            let found = PeakDetector(threshold: 3, signal: signal).step(3, -4, 12)
            #expect(found == (axes, value), "\(signal)")
        }
        #expect(PeakDetector(threshold: 13, signal: .v3).step(3, -4, 12).axes == 0)
    }

    /// A spike of two samples is no peak where three in a row are asked for; after a gap, and with other settings, the row
    /// begins anew.
    @Test func samplesInARowAreCounted() {
        var detector = PeakDetector(threshold: 1, signal: .each, minimumSamples: 3)
        func feed(_ values: [Double]) -> [UInt8] { values.map { detector.held(detector.step($0, 0, 0).axes) } }
        #expect(feed([2, 2, 0, 2, 2, 2, 2, 0, 2]) == [0, 0, 0, 0, 0, 1, 1, 0, 0])
        #expect(feed([2]) == [0])
        var (same, other) = (detector, PeakDetector(threshold: 1, signal: .each, minimumSamples: 4))
        (same, detector) = (detector, PeakDetector(threshold: 1, signal: .each, minimumSamples: 3))
        detector.takeOver(same, inputGoesOn: true)
        #expect(feed([2]) == [1])
        other.takeOver(detector, inputGoesOn: true)
        #expect(other.held(1) == 0)
        detector.reset()
        #expect(feed([2, 2, 2]) == [0, 0, 1])
        var single = PeakDetector(threshold: 1, signal: .each)
        #expect(single.held(single.step(2, 0, 0).axes) == 1)
    }
}

@Suite struct MovementDetectorTests {
    private func play(_ forces: [(Double, Double, Double)], lull: Int = 2) -> (on: String, MovementDetector) {
        var detector = MovementDetector(threshold: 3, lull: lull)
        var on = ""
        for (x, y, z) in forces { on += detector.step(x, y, z) ? "1" : "0" }
        return (on, detector)
    }

    @Test func lastsUntilAllAxesHaveBeenBelowForTheLull() {
        let x = [0.0, 3, 4, 0, -4, 1, 1, 0, 0].map { ($0, 0.0, 0.0) }
        #expect(play(x).on == "001111000")
        #expect(play(x, lull: 1).on == "001010000")
    }

    /// The direction rule of the book.
    @Test func theFirstForceGivesTheDirectionWhenItIsNearlyAsLarge() {
        let table: [([(Double, Double, Double)], axis: Int, negative: Bool)] = [
            ([(10, 0, 0), (-9, 0, 0)], 0, false),  // the largest came first
            ([(7, 0, 0), (-10, 0, 0)], 0, false),  // the first, 30 % smaller
            ([(6.9, 0, 0), (-10, 0, 0)], 0, true),  // the first is too small
            ([(-4, 0, 0), (-8, 0, 0), (10, 0, 0)], 0, true),  // the largest of the first push
            ([(-4, 0, 0), (5, 0, 0), (-9, 0, 0), (10, 0, 0)], 0, false),  // a later push does not count
            ([(2, 9, 0), (8, -10, 0), (-8, 0, 0)], 1, false),  // each axis for itself
            ([(4, 0, -5), (4, 0, 6)], 2, true),
            ([(9, 2, 0), (0, -2.5, 0)], 0, false),
        ]
        for (forces, axis, negative) in table {
            let direction = play(forces).1.direction
            #expect(direction == (axis, negative), "\(forces)")
        }
    }

    @Test func aMovementForgetsTheOneBefore() {
        let detector = play([(-9, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 4, 1)]).1
        #expect(detector.direction == (1, false))
        #expect(detector.largest == (0, 4, 1))
    }
}
