import Foundation
import SignalProcessing
import Testing

@testable import Seismology

@Suite struct TransientBoundTests {
    private struct Run: Equatable {
        var velocity: [Double] = []
        var displacement: [Double] = []
        var velocityError: [Double] = []
        var displacementError: [Double] = []
    }

    /// A motion of x that the integrals see from a sample on, whose first value they take for the level.
    private func run(_ a: [Double], rate: Double, from start: Int = 0, cuts: [Int] = [128]) throws -> Run {
        var (ground, bound, found) = (try GroundIntegrator(rate: rate), try TransientBound(rate: rate), Run())
        bound.begin(first: SIMD3(a[start], 0, 0))
        var (place, turn) = (start, 0)
        while place < a.count {
            let n = min(cuts[turn % cuts.count], a.count - place)
            let zero = [Double](repeating: 0, count: 2 * n)
            let raw = Array(a[place..<place + n]) + zero
            var (x, y, z) = (a[place..<place + n].map { $0 - a[start] }, Array(zero[..<n]), Array(zero[..<n]))
            ground.highpass(&x, &y, &z, count: n)
            ground.velocity(&x, &y, &z, count: n)
            let v = x
            ground.displacement(&x, &y, &z, count: n)
            var (ev, ed) = ([Double](repeating: 0, count: n), [Double](repeating: 0, count: n))
            var ea = ev
            bound.process(
                raw: raw, velocity: v + zero, displacement: x + zero, stride: n, count: n, &ev, &ed, &ea)
            found.velocity += v
            found.displacement += x
            found.velocityError += ev
            found.displacementError += ed
            place += n
            turn += 1
        }
        return found
    }

    /// What counts is within a fiftieth of the motion, and what does not is within its bound.
    @Test(arguments: [(250.0, 40.0, 1.0), (100, 3, 0.5), (100, 1, 0.3), (31.25, 2, 0.3)])
    func aStartInMotionIsBounded(_ rate: Double, _ hz: Double, _ amplitude: Double) throws {
        let n = Int(140 * rate)
        let a = (0..<n).map { amplitude * cos(2 * Double.pi * hz * Double($0) / rate) }
        let start = Int(70 * rate)
        let (whole, part) = (try run(a, rate: rate), try run(a, rate: rate, from: start))
        let peak = whole.velocity[start...].reduce(0) { max($0, abs($1)) }
        var counted = 0
        // (The integral of the first samples is next to nothing, and raises no maximum.)
        for i in part.velocity.indices.dropFirst(4) {
            let error = abs(part.velocity[i] - whole.velocity[start + i])
            if part.velocityError[i] == 0 {
                #expect(error <= max(0.025 * peak, 1.1 * TransientBound.leastVelocity))
                counted += 1
            } else if Double(i) > 2 * rate {
                // (Below 0, as there is no gap.)
                #expect(error <= -1.5 * part.velocityError[i], "\(error) at \(Double(i) / rate) s")
            }
        }
        // It is certain some day, and not at once.
        #expect(counted > Int(20 * rate) && part.velocityError[Int(2 * rate)] < 0)
    }

    /// A gap is judged beside the larger horizontal, not beside a vertical that moves more.
    @Test func aGapIsJudgedBesideTheHorizontals() throws {
        var bound = try TransientBound(rate: 100)
        bound.bridged(velocity: 0.02, seconds: 0.2, recent: (0.1, 0.1))
        let raw = [Double](repeating: 0, count: 3)
        var (ev, ed, ea) = ([0.0], [0.0], [0.0])
        bound.process(raw: raw, velocity: [0.1, 0, 1], displacement: [0.3, 0, 1], stride: 1, count: 1, &ev, &ed, &ea)
        #expect(ev[0] > 0 && ed[0] == 0)
        // A sample at the sensor's end adds to what was uncertain before.
        let before = ev[0]
        bound.clipped(velocity: 0.2)
        bound.process(raw: raw, velocity: [0.1, 0, 1], displacement: [0.3, 0, 1], stride: 1, count: 1, &ev, &ed, &ea)
        #expect(ev[0] > before + 0.09)
    }

    /// What a removal of the offset makes of a motion that was another than it was given for some time, is within the bound,
    /// and not far from it.
    @Test(arguments: [
        (OffsetSpecification.highpass(corner: 0.1, order: 2), 100.0), (.highpass(corner: 0.3, order: 1), 31.25),
        (.highpass(corner: 0.05, order: 4), 250), (.ema(.alpha(0.01)), 100), (.ema(.alpha(0.1)), 50),
        (.ema(.corner(0.05)), 200), (.meanFirst(seconds: 1), 100), (.none, 100),
    ])
    func theAccelerationBehindAGapIsBounded(_ offset: OffsetSpecification, _ rate: Double) throws {
        for missing in [1, Int(0.2 * rate), Int(2 * rate)] {
            var bound = try TransientBound(rate: rate, offset: offset)
            var removal = try OffsetRemoval(offset, rate: rate)
            // The difference between the two inputs: of one sign for half of the gap.
            let n = Int(40 * rate)
            var x = [Double](repeating: 0, count: n)
            for i in 10..<10 + max(1, missing / 2) { x[i] = 0.7 }
            let velocity = x.reduce(0, +) / rate
            var (y, z) = (x, x)
            removal.process(&x, &y, &z, count: n)
            bound.bridged(velocity: velocity, seconds: Double(missing) / rate, recent: (1, 1))
            let count = n - 10 - missing
            let zero = [Double](repeating: 0, count: 3 * count)
            var (ev, ed) = ([Double](repeating: 0, count: count), [Double](repeating: 0, count: count))
            var ea = ev
            if bound.isActive {
                bound.process(
                    raw: zero, velocity: zero, displacement: zero, stride: count, count: count, &ev, &ed, &ea)
            }
            let largest = x[(10 + missing)...].reduce(0) { max($0, abs($1)) }
            for i in 0..<count {
                let error = abs(x[10 + missing + i])
                #expect(error <= 1.1 * ea[i] + 1.1 * TransientBound.leastAcceleration, "\(missing), \(i)")
            }
            // (In a longer gap most of that is over, or of both signs.)
            guard missing == 1 else { continue }
            #expect((ea.max() ?? 0) <= 4 * largest + 2 * TransientBound.leastAcceleration, "\(missing)")
        }
    }

    @Test func aStartAtRestIsCertainSoon() throws {
        var state: UInt64 = 9
        let a = (0..<3000).map { _ -> Double in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (Double(state >> 40) / Double(1 << 24) - 0.5) * 2e-4
        }
        let found = try run(a, rate: 100)
        let last = found.velocityError.lastIndex { $0 != 0 } ?? 0
        #expect(last < 500, "\(last)")
    }

    @Test func cutsMakeNoDifference() throws {
        let a = (0..<6000).map { 0.4 * cos(Double($0) / 9) }
        let whole = try run(a, rate: 100)
        #expect(try run(a, rate: 100, cuts: [1]) == whole)
        #expect(try run(a, rate: 100, cuts: [3, 128, 7, 50]) == whole)
    }

    /// After a gap nothing counts that may be off by more than a tenth of the motion, until that has faded.
    @Test func aGapIsForgotten() throws {
        var bound = try TransientBound(rate: 100)
        #expect(!bound.isActive)
        bound.bridged(velocity: 0.05, seconds: 0.2, recent: (0.1, 0.1))
        var (first, last) = (0, -1)
        let (raw, v, d) = (
            [Double](repeating: 0, count: 300), [Double](repeating: 0.05, count: 300),
            [Double](repeating: 0.05, count: 300)
        )
        var (ev, ed) = ([Double](repeating: 0, count: 100), [Double](repeating: 0, count: 100))
        var ea = ev
        for second in 0..<60 where bound.isActive {
            bound.process(raw: raw, velocity: v, displacement: d, stride: 100, count: 100, &ev, &ed, &ea)
            if second == 0 { first = ev.filter { $0 > 0 }.count }
            if ev.contains(where: { $0 > 0 }) { last = second }
        }
        #expect(first == 100 && last >= 3 && last < 20 && !bound.isActive)
        // One that is small beside the motion is no matter at all.
        bound.bridged(velocity: 0.005, seconds: 0.2, recent: (0.1, 0.1))
        bound.process(raw: raw, velocity: v, displacement: d, stride: 100, count: 100, &ev, &ed, &ea)
        #expect(ev.allSatisfy { $0 == 0 })
    }
}
