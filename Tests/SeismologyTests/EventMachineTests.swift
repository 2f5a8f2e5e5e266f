import Testing

@testable import Seismology

@Suite struct EventMachineTests {
    /// Feeds one digit a sample, how many detectors are on, and writes what comes: b egin, e nd, r eopen.
    private func play(_ text: String, _ settings: EventMachine.Settings) -> String {
        var machine = EventMachine(settings)
        var out = ""
        for (i, digit) in text.enumerated() {
            switch machine.step(on: digit.wholeNumberValue ?? 0, index: Int64(i)) {
            case .none: out += "."
            case .begin: out += "b"
            case .end: out += "e"
            case .endAndBegin: out += "r"
            }
        }
        return out
    }

    @Test func endsWhenAllHaveBeenOffForThePostEventTime() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 3, maximum: 100, deadTime: 0)
        #expect(play("001100100000", settings) == "..b......e..")
        #expect(play("0010000", settings) == "..b..e.")
    }

    @Test func isSilentForTheDeadTimeAfterAnEnd() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 1, maximum: 100, deadTime: 4)
        #expect(play("1011111111", settings) == "be...b....")
    }

    @Test func needsAllVotesToBeginButOneToGoOn() {
        let settings = EventMachine.Settings(votes: 2, postEvent: 2, maximum: 100, deadTime: 0)
        #expect(play("11211100", settings) == "..b....e")
    }

    @Test func closesAtTheMaximumAndOpensAnewOnlyWhileShaking() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 5, maximum: 4, deadTime: 2)
        #expect(play("1111111111", settings) == "b...r...r.")
        #expect(play("1000000011", settings) == "b...e...b.")
    }

    @Test func closingEndsAnOpenEventOnce() {
        var machine = EventMachine(.init(votes: 1, postEvent: 5, maximum: 50, deadTime: 2))
        #expect(machine.close() == .none)
        #expect(machine.step(on: 1, index: 0) == .begin)
        #expect(machine.isActive)
        #expect(machine.close() == .end)
        #expect(machine.close() == .none)
    }

    @Test func aGapCountsAsTheTimeItTook() {
        var machine = EventMachine(.init(votes: 1, postEvent: 10, maximum: 500, deadTime: 0))
        #expect(machine.step(on: 1, index: 0) == .begin)
        #expect(machine.step(on: 0, index: 200) == .end)
    }
}

@Suite struct LevelDetectorTests {
    private func states(_ rms: [Double], threshold: Double, hold: Int) -> [UInt8] {
        var detector = LevelDetector(threshold: threshold, hold: hold)
        var out = [UInt8](repeating: 9, count: rms.count)
        detector.process(rms, &out, count: rms.count)
        return out
    }

    @Test func onAtTheSampleThatCompletesTheCountAndOffAtTheFirstBelow() {
        #expect(states([2, 2, 0, 2, 2, 2, 2, 0, 2], threshold: 1, hold: 3) == [0, 0, 0, 0, 0, 1, 1, 0, 0])
        #expect(states([0, 2, 0], threshold: 1, hold: 0) == [0, 1, 0])
    }

    @Test func theThresholdItselfIsNotAbove() {
        #expect(states([1, 1.0000000000000002], threshold: 1, hold: 1) == [0, 1])
        #expect(states([.nan, .infinity], threshold: 1, hold: 1) == [0, 1])
    }
}

@Suite struct MotionTests {
    @Test func aWindowHoldsExactlyItsLastSeconds() {
        var window = MotionWindow(seconds: 2)
        func second(_ a: Double) -> MotionWindow.Levels {
            for _ in 0..<4 { window.add(MotionSample(ax: a, ay: -2 * a, az: 0, vx: 0, vy: a / 10, vz: 0)) }
            return window.endSecond()
        }
        #expect(second(3).peakY == 6)
        let both = second(1)
        #expect(both.samples == 8 && both.peakY == 6 && both.velocityY == 0.3)
        #expect(both.rms(both.squaresX) == 5.0.squareRoot())
        let later = second(1)
        #expect(later.samples == 8 && later.peakY == 2 && later.peakX == 1)
        #expect(later.strongest == (1, -2, 0))
    }

    @Test func eventIntegralsAreTrapezoidsAndStopAtAGap() {
        var motion = EventMotion(rate: 10)
        for (i, a) in [0.0, 1, 2, 1].enumerated() {
            motion.add(
                MotionSample(ax: a, ay: 0, az: 0, vx: 0, vy: 0, vz: 0), time: Int64(i) * 100_000_000,
                index: Int64(i))
        }
        #expect(abs(motion.cav - 0.35) < 1e-15)
        #expect(abs(motion.arias - Double.pi / (2 * 9.80665) * 0.55) < 1e-15)
        motion.add(MotionSample(ax: 5, ay: 0, az: 0, vx: 0, vy: 0, vz: 0), time: 2_000_000_000, index: 20)
        #expect(abs(motion.cav - 0.35) < 1e-15)
        #expect(motion.x.value == 5 && motion.x.time == 2_000_000_000)
    }

    /// A recording without a date begins at time 0; its first sample's peak was once taken for "none yet".
    @Test func aPeakInTheFirstSampleAtTimeZeroCounts() {
        var motion = EventMotion(rate: 100)
        for (i, a) in [-7.0, 1, 0].enumerated() {
            motion.add(
                MotionSample(ax: a, ay: 0, az: 0, vx: 0, vy: 0, vz: 0), time: Int64(i) * 10_000_000, index: Int64(i))
        }
        #expect(motion.x.value == 7 && motion.x.time == 0)
        #expect(motion.v3.value == 7 && motion.y.value == 0)
    }

    @Test func horizontalDefinitions() {
        #expect(HorizontalDefinition.larger.combine(x: 4, y: 9, vector: 9.5) == 9)
        #expect(HorizontalDefinition.vector.combine(x: 4, y: 9, vector: 9.5) == 9.5)
        #expect(HorizontalDefinition.geometricMean.combine(x: 4, y: 9, vector: 9.5) == 6)
    }
}
