import Testing

@testable import Seismology

/// Shaking that comes while no detector can trigger is no noise, and what is louder than noise has not begun with its trigger.
@Suite struct NoiseTrustTests {
    /// Noise, and shaking from some second to another; then a knock, which is a disturbance beside known noise.
    private func ground(shaking: Range<Double>, amplitude: Double = 0.2, knock: Double, seconds: Double = 100) -> Ground
    {
        var ground = Ground.shaken(seconds: seconds, quiet: 1000, rise: 1, fall: 1, [1], amplitude: 0)
        let (first, last) = (Int(shaking.lowerBound * 100), min(Int(shaking.upperBound * 100), Int(seconds * 100)))
        for axis in 0..<3 {
            for i in first..<last {
                let fading = 1 - 0.99 * Double(i - first) / Double(last - first)
                ground.axes[axis][i] += amplitude * fading * sine(Double(i) * 0.17 + Double(axis))
            }
        }
        let place = Int(knock * 100)
        for i in place..<place + 30 { ground.axes[0][i] += 0.5 * (i % 2 == 0 ? 1 : -1) }
        for i in place..<place + 150 { ground.on[i] = 1 }
        return ground
    }

    /// (Without a library: a parabola for each half turn.)
    private func sine(_ turn: Double) -> Double {
        let half = turn / Double.pi
        let x = half - half.rounded(.down)
        return (Int(half.rounded(.down)) % 2 == 0 ? 4 : -4) * x * (1 - x)
    }

    private struct Heard {
        var conclusion: EventClass
        var noise: [Double]
    }

    /// An event of ten seconds that begins with the knock.
    /// - Parameters:
    ///   - gap: second at which samples are missing; nil: there is a start alone.
    ///   - blind: seconds after it, or after the start, without detectors.
    private func hear(_ ground: Ground, knock: Double, gap: Double?, blind: Double = 30) throws -> Heard {
        var one = try #require(Discriminator(rate: ground.rate))
        one.reset(blind: gap == nil ? Int(blind * 100) : 0)
        let (n, planes) = (ground.axes[0].count, ground.axes.flatMap { $0 })
        let (begin, missing) = (Int(knock * 100), gap.map { Int($0 * 100) } ?? -1)
        try planes.withUnsafeBufferPointer { raw in
            try ground.on.withUnsafeBufferPointer { on in
                let (raw, on) = (try #require(raw.baseAddress), try #require(on.baseAddress))
                for i in 0..<min(n, begin + 1000) {
                    if i == missing { one.gap(blind: Int(blind * 100)) }
                    if i == begin { one.begin() }
                    if i >= begin { _ = one.beginning(on: on[i] != 0) }
                    _ = one.take(raw + i, stride: n, on + i, count: 1)
                }
            }
        }
        return Heard(conclusion: one.conclusion, noise: one.noise)
    }

    /// A gap hides the first wave, and detectors are not ready until the shaking is nearly over: a trigger in it is judged by the
    /// noise from before, and is not called a disturbance, however long it has lasted.
    @Test(arguments: [15.0, 25, 40, 60]) func shakingBehindAGapIsNoNoise(_ lasting: Double) throws {
        let knocks: [Double] = [32, 51, 56]
        for knock in knocks where knock < 20 + lasting {
            let shaken = ground(shaking: 20..<20 + lasting, knock: knock)
            let found = try hear(shaken, knock: knock, gap: 20)
            #expect(found.conclusion.time != nil, "\(knock)")
            #expect(found.conclusion.likely != .disturbance, "\(knock)")
            let quiet = try hear(ground(shaking: 0..<0, knock: knock), knock: knock, gap: 20)
            for (a, b) in zip(found.noise, quiet.noise) { #expect(abs(a - b) <= 0.5 * abs(b) + 1e-6) }
        }
    }

    /// In quiet, and once the ground has been calm again, a gap changes nothing.
    @Test(arguments: [21.0, 30, 49, 51, 70]) func aKnockInQuietIsStillADisturbance(_ knock: Double) throws {
        let quiet = try hear(ground(shaking: 0..<0, knock: knock), knock: knock, gap: 20)
        #expect(quiet.conclusion.likely == .disturbance)
        let before = try hear(ground(shaking: 20..<20.4, amplitude: 0.02, knock: 60), knock: 60, gap: 20)
        #expect(before.conclusion.likely == .disturbance)
        #expect(try hear(ground(shaking: 0..<0, knock: 60), knock: 60, gap: nil).conclusion.likely == .disturbance)
        #expect(try hear(ground(shaking: 0..<0, knock: 20), knock: 20, gap: nil).conclusion.likely == .disturbance)
    }

    /// The same after a start in an earthquake.
    @Test(arguments: [20.0, 31, 35, 45]) func shakingBehindAStartIsNoNoise(_ knock: Double) throws {
        let ends: [Double] = [knock + 5, 60]
        for end in ends {
            let found = try hear(ground(shaking: 0..<end, knock: knock), knock: knock, gap: nil)
            #expect(found.conclusion.likely != .disturbance, "until \(end)")
        }
        // One that was nearly over when it started, and a gap before there is enough noise.
        #expect(
            try hear(ground(shaking: 0..<12, knock: knock), knock: knock, gap: 8).conclusion.likely != .disturbance)
    }

    /// A gap soon after a start hides an earthquake, and what is heard of it is its coda, steady beside its own noise.
    @Test(arguments: [1.0, 5, 9, 12]) func aCodaBehindAGapBeforeNoiseWasKnownIsNoNoise(_ gap: Double) throws {
        let knocks: [Double] = [45, 90, 150]
        for knock in knocks {
            let coda = ground(shaking: gap..<600, amplitude: 0.03, knock: knock, seconds: 300)
            let found = try hear(coda, knock: knock, gap: gap)
            #expect(found.conclusion.time != nil, "\(knock)")
            #expect(found.conclusion.likely != .disturbance, "\(knock)")
        }
        let later = try hear(ground(shaking: 0..<0, knock: gap + 183, seconds: 300), knock: gap + 183, gap: gap)
        #expect(later.conclusion.likely == .disturbance)
    }

    /// Ground that stays louder after a gap is the new noise after some minutes.
    @Test func groundThatStaysLoudIsTheNewNoise() throws {
        var loud = ground(shaking: 0..<0, knock: 280, seconds: 300)
        var state: UInt64 = 5
        for i in 2000..<30_000 {
            for axis in 0..<3 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                loud.axes[axis][i] += (Double(state >> 40) / Double(1 << 24) - 0.5) * 2e-2
            }
        }
        #expect(try hear(loud, knock: 280, gap: 20).conclusion.likely == .disturbance)
        #expect(try hear(loud, knock: 120, gap: 20).noise[5] < 1e-5)
    }
}
