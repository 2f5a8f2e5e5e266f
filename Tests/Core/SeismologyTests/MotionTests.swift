import Foundation
import Seismology
import SignalProcessing
import Testing

@Suite struct MotionTests {
    @Test func aWindowHoldsExactlyItsLastSeconds() {
        var window = MotionWindow(seconds: 2)
        func second(_ a: Double) -> MotionWindow.Levels {
            func planes(_ x: Double, _ y: Double, _ z: Double) -> [Double] {
                [x, x, x, x, y, y, y, y, z, z, z, z]
            }
            window.add(
                4, acceleration: planes(a, -2 * a, 0), velocity: planes(0, a / 10, 0),
                displacement: planes(a / 100, 0, 0), cwa: [a, 0, 0, 0], stride: 4)
            return window.endSecond()
        }
        #expect(second(3).peakY == 6)
        let both = second(1)
        #expect(both.moments.samples == 8 && both.peakY == 6 && both.velocity.horizontal.y == 0.3)
        #expect(both.moments.rms(both.moments.xx) == 5.0.squareRoot())
        let later = second(1)
        #expect(both.cwa == 3 && later.cwa == 1)
        #expect(later.moments.samples == 8 && later.peakY == 2 && later.peakX == 1)
        #expect(later.strongest == (1, -2, 0))
        #expect(both.displacement.x == 0.03 && both.sumY == 32 && abs(both.sumH - 16 * 5.0.squareRoot()) < 1e-13)
    }

    @Test func eventIntegralsAreTrapezoidsAndStopAtAGap() {
        var motion = EventMotion(rate: 10)
        for (i, a) in [0.0, 1, 2, 1].enumerated() {
            motion.add(
                MotionSample(ax: a, ay: 0, az: 0), time: Int64(i) * 100_000_000,
                index: Int64(i))
        }
        #expect(abs(motion.cav - 0.35) < 1e-15)
        #expect(abs(motion.arias - Double.pi / (2 * 9.80665) * 0.55) < 1e-15)
        motion.add(MotionSample(ax: 5, ay: 0, az: 0), time: 2_000_000_000, index: 20)
        #expect(abs(motion.cav - 0.35) < 1e-15)
        #expect(motion.x.value == 5 && motion.x.time == 2_000_000_000)
    }

    /// Of equal peaks the first one's time counts.
    @Test func ofEqualPeaksTheFirstIsTold() {
        var motion = EventMotion(rate: 10)
        for (i, a) in [1.0, 3, -2, -3, 3].enumerated() {
            motion.add(MotionSample(ax: a, ay: a / 3, az: 0), time: Int64(i) * 100_000_000, index: Int64(i))
        }
        #expect(motion.x.time == 100_000_000 && motion.y.time == 100_000_000)
        #expect(motion.h.time == 100_000_000 && motion.v3.time == 100_000_000)
        // A quiet axis has its peak, 0, at its first sample.
        #expect(motion.z.value == 0 && motion.z.time == 0)
    }

    /// A recording without a date begins at time 0; its first sample's peak was once taken for "none yet".
    @Test func aPeakInTheFirstSampleAtTimeZeroCounts() {
        var motion = EventMotion(rate: 100)
        for (i, a) in [-7.0, 1, 0].enumerated() {
            motion.add(
                MotionSample(ax: a, ay: 0, az: 0), time: Int64(i) * 10_000_000, index: Int64(i))
        }
        #expect(motion.x.value == 7 && motion.x.time == 0)
        #expect(motion.v3.value == 7 && motion.y.value == 0)
    }

    /// A half sine of N intervals: the trapezoids give A dt cot(π/2N) for ∫|a| dt and A² N dt/2 for ∫a² dt, exactly.
    @Test func integralsOfAHalfSine() {
        var motion = EventMotion(rate: 200)
        let n = 100
        for i in 0...n {
            let a = -3 * sin(Double.pi * Double(i) / Double(n))
            motion.add(MotionSample(ax: a / 2, ay: a, az: 2 * a), time: Int64(i) * 5_000_000, index: Int64(i))
        }
        let area = 3.0 / 200 / tan(Double.pi / Double(2 * n))
        #expect(abs(motion.cav - area) < 1e-13)
        #expect(abs(motion.standardizedCAV - area) < 1e-13)
        #expect(abs(motion.arias - Double.pi / (2 * 9.80665) * 9 * 0.25) < 1e-13)
        #expect(abs(motion.meanAbsolute.z - 2 * area * 200 / 101) < 1e-12 && motion.strongerHorizontal == 1)
    }

    @Test func standardizedCAVCountsTheSecondsThatPeakAboveItsLevel() {
        let g = 9.80665
        var motion = EventMotion(rate: 10)
        func add(_ values: [Double], from index: Int) {
            for (i, a) in values.enumerated() {
                let k = Int64(index + i)
                motion.add(MotionSample(ax: a * g, ay: 0, az: 0), time: k * 100_000_000, index: k)
            }
        }
        func second(_ a: Double) -> [Double] { [Double](repeating: a, count: 10) }
        // 0.025 g itself is not above. The sample on a border belongs to both seconds.
        add(second(0.025) + second(0.01) + second(0.03) + second(0.01), from: 0)
        let expected = (9 * 0.01 + 0.02 + 9 * 0.03 + 0.02) * 0.1 * g
        #expect(abs(motion.standardizedCAV - expected) < 1e-12)
        // After a gap the seconds begin anew: this one is short, and counts with what it has.
        add([0.05, 0.05, 0.05], from: 100)
        #expect(abs(motion.standardizedCAV - expected - 0.01 * g) < 1e-12)
    }

    @Test func horizontalDefinitions() {
        #expect(HorizontalDefinition.larger.combine(x: 4, y: 9, vector: 9.5) == 9)
        #expect(HorizontalDefinition.vector.combine(x: 4, y: 9, vector: 9.5) == 9.5)
        #expect(HorizontalDefinition.geometricMean.combine(x: 4, y: 9, vector: 9.5) == 6)
    }
}
