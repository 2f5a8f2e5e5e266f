import Testing

@testable import SignalProcessing

/// Repeatable numbers, about normally distributed.
struct Noise {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func uniform() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return Double((z ^ (z >> 31)) >> 11) / Double(1 << 53)
    }

    mutating func next() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + uniform() } }

    mutating func samples(_ count: Int) -> [Double] { (0..<count).map { _ in next() } }
}

/// Cuts of `count` samples: whole, one by one, and odd pieces.
func cuts(_ count: Int) -> [[Int]] {
    var odd: [Int] = []
    var rest = count
    for size in [3, 17, 1, 128, 5, 64].map({ $0 }) + Array(repeating: 31, count: count) where rest > 0 {
        odd.append(min(size, rest))
        rest -= min(size, rest)
    }
    return [[count], Array(repeating: 1, count: count), odd]
}

/// Runs a stage over three planes in the pieces given and returns all three, one after the other.
func run(_ cut: [Int], _ planes: [[Double]], _ body: (inout [Double], inout [Double], inout [Double]) -> Void)
    -> [Double]
{
    var out: [[Double]] = [[], [], []]
    var start = 0
    for size in cut {
        var x = Array(planes[0][start..<start + size])
        var y = Array(planes[1][start..<start + size])
        var z = Array(planes[2][start..<start + size])
        body(&x, &y, &z)
        out[0] += x
        out[1] += y
        out[2] += z
        start += size
    }
    return out.flatMap { $0 }
}

func planes(_ count: Int, seed: UInt64, offset: Double = 9.8) -> [[Double]] {
    var noise = Noise(seed: seed)
    return (0..<3).map { _ in noise.samples(count).map { $0 + offset } }
}

@Suite struct AxisFilterTests {
    private func design(_ specification: FilterSpecification, _ rate: Double = 100) throws -> FilterSpecification.Design
    {
        try specification.design(rate: rate)
    }

    private static let specifications: [FilterSpecification] = [
        .none,
        .butterworth(.init(band: .lowpass, corners: [8], order: 5, start: .steady)),
        .butterworth(.init(band: .bandpass, corners: [0.5, 10], order: 2)),
        .chain([
            .butterworth(.init(band: .highpass, corners: [0.1], order: 1, start: .steady)),
            .butterworth(.init(band: .bandstop, corners: [10, 20], order: 3, start: .zero)),
        ]),
    ]

    @Test func anyCutGivesTheSameBits() throws {
        let signal = planes(700, seed: 1)
        for (i, x) in Self.specifications.enumerated() {
            let y = Self.specifications[(i + 1) % 4]
            let z = Self.specifications[(i + 2) % 4]
            var results: [[Double]] = []
            for cut in cuts(700) {
                var filter = AxisFilter(try design(x), try design(y), try design(z))
                results.append(run(cut, signal) { filter.process(&$0, &$1, &$2, count: $0.count) })
            }
            #expect(results[1] == results[0])
            #expect(results[2] == results[0])
        }
    }

    @Test func aResetFilterIsLikeANewOne() throws {
        let signal = planes(300, seed: 2)
        var filter = AxisFilter(
            try design(Self.specifications[1]), try design(Self.specifications[2]), try design(Self.specifications[3]))
        let first = run([300], signal) { filter.process(&$0, &$1, &$2, count: $0.count) }
        filter.reset()
        let second = run([300], signal) { filter.process(&$0, &$1, &$2, count: $0.count) }
        #expect(first == second)
    }

    @Test func axesWhoseFilterStaysGoOnBitForBitWhenAnotherChanges() throws {
        let signal = planes(400, seed: 5)
        let adaptive = FilterSpecification.chain([
            Self.specifications[2], .simple(.init(band: .lowpass, corner: 5, adaptive: true)), Self.specifications[1],
        ])
        let all = Self.specifications + [adaptive]
        for old in all {
            for new in all where new != old {
                for (y, z) in [(all[1], all[3]), (all[2], all[0]), (all[3], all[1])] {
                    var stay = AxisFilter(try design(old), try design(y), try design(z))
                    let undisturbed = run([400], signal) { stay.process(&$0, &$1, &$2, count: $0.count) }
                    var first = AxisFilter(try design(old), try design(y), try design(z))
                    var second = AxisFilter(try design(new), try design(y), try design(z))
                    let half = signal.map { Array($0[..<170]) }
                    let rest = signal.map { Array($0[170...]) }
                    _ = run([170], half) { first.process(&$0, &$1, &$2, count: $0.count) }
                    let kept = second.takeOver(first)
                    #expect(!kept.x && kept.y && kept.z)
                    let changed = run([7, 223], rest) { second.process(&$0, &$1, &$2, count: $0.count) }
                    #expect(changed[230..<460] == undisturbed[570..<800])
                    #expect(changed[460..<690] == undisturbed[970..<1200])
                    var fresh = AxisFilter(try design(new), try design(y), try design(z))
                    let begun = run([230], rest) { fresh.process(&$0, &$1, &$2, count: $0.count) }
                    #expect(changed[0..<230] == begun[0..<230])
                }
            }
        }
    }

    @Test func adaptiveFiltersGoOnToo() throws {
        let signal = planes(400, seed: 6)
        let filter = try design(.simple(.init(band: .highpass, corner: 5, adaptive: true)))
        var stay = AxisFilter(filter, filter, filter)
        let undisturbed = run([400], signal) { stay.process(&$0, &$1, &$2, count: $0.count) }
        var first = AxisFilter(filter, filter, filter)
        var second = first
        _ = run([170], signal.map { Array($0[..<170]) }) { first.process(&$0, &$1, &$2, count: $0.count) }
        _ = second.takeOver(first)
        let rest = run([230], signal.map { Array($0[170...]) }) { second.process(&$0, &$1, &$2, count: $0.count) }
        #expect(rest[0..<230] == undisturbed[170..<400])
    }

    @Test func aSteadyStartHasNoTransientForAConstant() throws {
        for band in FilterBand.allCases {
            for order in [1, 2, 3, 7, 10] {
                let corners = band == .lowpass || band == .highpass ? [0.05] : [0.05, 20]
                let filter = try design(
                    .butterworth(.init(band: band, corners: corners, order: order, start: .steady)), 1000)
                var stage = AxisFilter(filter, filter, filter)
                let out = run([2000], [[Double]](repeating: [Double](repeating: 9.80665, count: 2000), count: 3)) {
                    stage.process(&$0, &$1, &$2, count: $0.count)
                }
                let expected = band == .lowpass || band == .bandstop ? 9.80665 : 0
                let worst = out.map { abs($0 - expected) }.max() ?? .infinity
                #expect(worst < 1e-11, "\(band) of order \(order): \(worst)")
            }
        }
    }

    /// The difference equation itself, as a textbook has it.
    @Test func agreesWithTheDifferenceEquation() throws {
        let filter = try design(Self.specifications[2])
        let signal = planes(500, seed: 3, offset: 0)
        var expected = signal[0]
        for section in filter.sections {
            let input = expected
            for n in 0..<input.count {
                func x(_ k: Int) -> Double { n - k < 0 ? 0 : input[n - k] }
                func y(_ k: Int) -> Double { n - k < 0 ? 0 : expected[n - k] }
                expected[n] =
                    section.b0 * x(0) + section.b1 * x(1) + section.b2 * x(2) - section.a1 * y(1) - section.a2 * y(2)
            }
        }
        var stage = AxisFilter(filter, filter, filter)
        let out = run([500], signal) { stage.process(&$0, &$1, &$2, count: $0.count) }
        for n in 0..<500 { #expect(abs(out[n] - expected[n]) < 1e-12) }
    }
}

@Suite struct OffsetRemovalTests {
    private static let specifications: [OffsetSpecification] = [
        .none, .meanFirst(seconds: 1), .ema(.alpha(0.1)), .ema(.corner(0.1)), .highpass(corner: 0.1, order: 2),
    ]

    @Test func anyCutGivesTheSameBits() throws {
        let signal = planes(700, seed: 4)
        for specification in Self.specifications {
            var results: [[Double]] = []
            for cut in cuts(700) {
                var stage = try OffsetRemoval(specification, rate: 100)
                stage.setMean(9.8, 9.7, 9.9)
                results.append(run(cut, signal) { stage.process(&$0, &$1, &$2, count: $0.count) })
            }
            #expect(results[1] == results[0] && results[2] == results[0], "\(specification)")
        }
    }

    @Test func theAverageFollowsItsDefinition() throws {
        let signal = planes(200, seed: 5)
        var stage = try OffsetRemoval(.ema(.corner(0.1)), rate: 50)
        let out = run([200], signal) { stage.process(&$0, &$1, &$2, count: $0.count) }
        let k = 0.02 / (0.02 + 1 / (2 * Double.pi * 0.1))
        var g = signal[0][0]
        for n in 0..<200 {
            if n > 0 { g = k * signal[0][n] + (1 - k) * g }
            #expect(abs(out[n] - (signal[0][n] - g)) < 1e-13)
        }
    }

    @Test func aConstantIsTakenAwayFromTheFirstSample() throws {
        for specification in [OffsetSpecification.ema(.alpha(0.1)), .highpass(corner: 0.1, order: 2)] {
            var stage = try OffsetRemoval(specification, rate: 100)
            let out = run([500], [[Double]](repeating: [Double](repeating: 9.8, count: 500), count: 3)) {
                stage.process(&$0, &$1, &$2, count: $0.count)
            }
            #expect((out.map(abs).max() ?? 1) < 1e-13)
        }
    }

    @Test func onlyTheMeanHoldsSamplesBack() throws {
        #expect(try OffsetRemoval(.meanFirst(seconds: 2), rate: 31.25).holdBack == 62)
        #expect(try OffsetRemoval(.highpass(corner: 0.1, order: 2), rate: 100).holdBack == 0)
    }
}
