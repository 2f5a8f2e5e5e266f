import Messages
import Seismology
import Settings
import SignalProcessing
import Vibration

/// Settings and samples chosen by bytes: those of a seeded generator in the property test, those of the fuzzer in
/// deploy/checks/fuzz, which has a link to this file. When the bytes are at an end, every choice is the first one.
struct Choices {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The bytes of a seed.
    init(seed: UInt64, count: Int = 512) {
        var noise = Noise(state: seed)
        bytes = (0..<count).map { _ in UInt8(truncatingIfNeeded: noise.next() >> 56) }
    }

    mutating func byte() -> Int {
        guard place < bytes.count else { return 0 }
        place += 1
        return Int(bytes[place - 1])
    }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func below(_ n: Int) -> Int { (byte() << 8 | byte()) % n }

    mutating func one<T>(of list: [T]) -> T { list[byte() % list.count] }

    /// From 0 to 1.
    mutating func share() -> Double { Double(byte() << 8 | byte()) / 65535 }

    /// Between two numbers, each power of ten as often as another.
    mutating func number(_ low: Double, _ high: Double) -> Double {
        var (x, factor, rest) = (low, high / low, share())
        // low × (high/low)^rest by halving the exponent, without the C library.
        for _ in 0..<16 {
            factor.formSquareRoot()
            rest *= 2
            if rest >= 1 {
                x *= factor
                rest -= 1
            }
        }
        return min(x, high)
    }

    /// Any eight bytes.
    mutating func pattern() -> UInt64 { (0..<8).reduce(0) { bits, _ in bits << 8 | UInt64(byte()) } }
}

/// A linear congruential generator, the same everywhere.
struct Noise {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state
    }

    /// From −1 to 1.
    mutating func number() -> Double { Double(next() >> 11) / 4_503_599_627_370_496 - 1 }
}

// MARK: Settings

extension Choices {
    mutating func rate() -> Double {
        one(of: [100, 10, 12.5, 31.25, 50, 60, 200, 333.3, 500, 1000, number(10, 1000)])
    }

    /// A filter that may or may not be possible at the rate.
    mutating func filter(rate: Double, depth: Int = 0) -> FilterSpecification {
        let corner = byte() % 32 == 31 ? Double(bitPattern: pattern()) : rate * number(1e-5, 0.52)
        switch byte() % (depth == 0 ? 7 : 5) {
        case 0: return .none
        case 1:
            let band = one(of: FilterBand.allCases)
            let corners =
                band == .lowpass || band == .highpass
                ? [corner] : [corner, corner + rate * number(byte() % 8 == 7 ? 1e-17 : 1e-5, 0.5)]
            return .butterworth(
                .init(band: band, corners: corners, order: 1 + byte() % 10, start: one(of: FilterStart.allCases)))
        case 2: return .simple(.init(band: flag() ? .lowpass : .highpass, corner: corner, adaptive: flag()))
        case 3: return .shake(one(of: ShakeFilter.allCases))
        case 4:
            return .notch(.init(frequency: corner, quality: number(1, 1010), start: one(of: FilterStart.allCases)))
        default: return .chain((0..<(1 + byte() % 8)).map { _ in filter(rate: rate, depth: depth + 1) })
        }
    }

    private mutating func window() -> WindowLength {
        flag() ? .samples(1 + below(400)) : .seconds(number(0.005, 5))
    }

    private mutating func offset(rate: Double) -> OffsetSpecification {
        switch byte() % 5 {
        case 0: .highpass(corner: rate * number(1e-4, 0.4), order: 1 + byte() % 10)
        case 1: .none
        case 2: .meanFirst(seconds: number(0.01, 5))
        case 3: .ema(.alpha(number(byte() % 8 == 7 ? .leastNormalMagnitude : 1e-4, 1)))
        default: .ema(.corner(rate * number(1e-4, 0.4)))
        }
    }

    private mutating func signal(rate: Double) -> AxisConfiguration.Signal {
        switch byte() % 8 {
        case 0: .sine(amplitude: number(1e-3, 19), frequency: rate * number(1e-3, 0.49))
        case 1: .step(amplitude: number(1e-3, 19))
        case 2: .impulse(amplitude: number(1e-3, 19))
        default: .sensor
        }
    }

    /// A snapshot that may break a rule between settings: see ``valid(_:)``.
    mutating func configuration(rate: Double) -> Configuration {
        var c = Configuration()
        c.station.id = "test"
        c.sensor.driver = .simulate
        c.sensor.rate = rate
        c.sensor.mounting.north = Double(below(360))
        let axes = one(of: [[0, 1, 2], [1, 0, 2], [2, 1, 0], [1, 2, 0]])
        for axis in 0..<3 { c.sensor.mounting.sources[axis] = .init(axis: axes[axis], sign: flag() ? -1 : 1) }
        c.conditioning.offset = offset(rate: rate)
        c.conditioning.settle = one(of: [0, 0.3, 3, nil])
        for axis in 0..<3 {
            c.axes[axis].signal = signal(rate: rate)
            c.axes[axis].filter = filter(rate: rate)
            c.axes[axis].detection.window = window()
            c.axes[axis].detection.threshold = number(1e-6, 10)
            c.axes[axis].detection.hold = window()
        }
        c.detection.level.enabled = flag()
        c.detection.level.axes = one(of: DetectionConfiguration.Level.Axes.allCases)
        c.detection.level.spikeGuard = flag()
        c.detection.staLTA.enabled = flag()
        c.detection.staLTA.method = one(of: STALTA.Method.allCases)
        c.detection.staLTA.signal = one(of: DetectorSignal.allCases)
        c.detection.staLTA.filter = flag() ? nil : filter(rate: rate)
        c.detection.staLTA.sta = number(0.02, 1)
        c.detection.staLTA.lta = c.detection.staLTA.sta * (1 + number(0.01, 20))
        c.detection.staLTA.on = number(0.5, 4)
        c.detection.staLTA.off = c.detection.staLTA.on * share()
        c.detection.staLTA.minimumDuration = flag() ? 0 : number(0.01, 1)
        c.detection.peak.enabled = flag()
        c.detection.peak.threshold = number(1e-6, 10)
        c.detection.peak.signal = one(of: DetectorSignal.allCases)
        c.detection.peak.minimumSamples = flag() ? 1 : 3
        c.detection.movement.enabled = flag()
        c.detection.movement.threshold = number(1e-3, 10)
        c.detection.movement.lull = number(0.01, 1)
        c.detection.energy.enabled = flag()
        c.detection.energy.signal = one(of: DetectorSignal.allCases)
        c.detection.energy.filter = flag() ? nil : filter(rate: rate)
        c.detection.energy.window = number(0.02, 1)
        c.detection.energy.average = c.detection.energy.window * (1 + number(0.01, 20))
        c.detection.energy.threshold = number(0.5, 10)
        c.detection.event.votes = 1 + byte() % 2
        c.detection.event.preEvent = Double(below(6))
        c.detection.event.postEvent = Double(below(4))
        c.detection.event.maximum = Double(1 + below(10))
        c.detection.event.deadTime = Double(below(3))
        c.detection.event.minimumIntensity = flag() ? 0 : number(0.5, 4)
        c.intensity.horizontal = one(of: HorizontalDefinition.allCases)
        c.intensity.scales = IntensityRelation.allCases.filter { _ in flag() }
        if c.intensity.scales.isEmpty { c.intensity.scales = [.worden12] }
        c.intensity.window = Double(1 + below(10))
        c.trace.enabled = flag()
        c.trace.rate = max(0.1, rate / Double(1 + below(60)))
        c.trace.block = number(0.1, 5)
        c.trace.signals = TraceConfiguration.Signal.allCases.filter { _ in flag() }
        if c.trace.signals.isEmpty { c.trace.signals = [.raw] }
        c.trace.filter = one(of: DecimationPhase.allCases)
        c.trace.onlyInEvents = flag()
        c.waveform.enabled = flag()
        c.waveform.encoding = one(of: WaveformConfiguration.Encoding.allCases)
        c.waveform.chunk = Double(1 + below(5))
        (c.classification.enabled, c.onsite.enabled, c.alarm.enabled) = (!flag(), !flag(), flag())
        c.alarm.velocity = number(1e-5, 1)
        c.alarm.probability = number(0.5, 0.99)
        c.vibration.enabled = rate >= 20 && flag()
        c.vibration.band = .own
        (c.vibration.lower, c.vibration.upper) = (0.5, max(1, 0.4 * rate))
        c.vibration.interval = one(of: [10, 12, 20])
        c.vibration.limit = flag() ? VibrationLimit.all[below(VibrationLimit.all.count)] : nil
        return c
    }

    /// What the settings make of a snapshot that is written out and read again; nil when they refuse it.
    static func valid(_ configuration: Configuration) -> Configuration? {
        var tree = Settings.effective(configuration)
        // A password is written out as stars.
        if case .object(let members) = tree { tree = .object(members.filter { $0.key != "mqtt" }) }
        do throws(CodedErrors) {
            return try Settings.load(overlay: tree).configuration
        } catch { return nil }
    }
}

// MARK: Samples

/// Samples without a gap among them, though some may be no numbers.
struct Stretch {
    /// Of the first sample, nanoseconds of UTC.
    var time: Int64
    /// Missing before it, as a driver says.
    var lost = 0
    var samples: [SIMD3<Double>] = []

    static func isUsable(_ sample: SIMD3<Double>) -> Bool {
        (0..<3).allSatisfy { sample[$0].isFinite && abs(sample[$0]) <= 1e6 }
    }
}

extension Choices {
    /// Up to `count` samples of every kind that a sensor or a file may give, with gaps.
    mutating func stretches(rate: Double, count: Int) -> [Stretch] {
        var stretches: [Stretch] = []
        var stretch = Stretch(time: 1_767_608_430_120_000_000)
        var left = count
        var noise = Noise(state: UInt64(1 + byte()))
        while left > 0 {
            let n = min(left, 1 + below(max(2, count / 6)))
            left -= n
            let (strength, gravity) = (number(1e-7, 100), flag() ? 9.80665 : 0)
            func quiet() -> SIMD3<Double> {
                SIMD3(noise.number(), noise.number(), noise.number() + gravity / strength) * strength
            }
            switch byte() % 12 {
            case 0, 1, 2, 3: stretch.samples += (0..<n).map { _ in quiet() }
            case 4: stretch.samples += [SIMD3<Double>](repeating: quiet(), count: n)
            case 5:
                // Saturated, and back and forth between the ends.
                let alternating = flag()
                stretch.samples += (0..<n).map { i in
                    let end = alternating && i % 2 == 1 ? -19.6133 : 19.6133
                    return SIMD3(end, -end, end)
                }
            case 6:
                let wrong = one(of: [Double.nan, .infinity, -.infinity, 1e308, -1e308, 1_000_000.1, -.nan])
                for i in 0..<min(n, 50) {
                    var sample = quiet()
                    if i % 7 < 3 { sample[i % 3] = wrong }
                    stretch.samples.append(sample)
                }
            case 7:
                let tiny = one(of: [Double.leastNonzeroMagnitude, Double.leastNormalMagnitude / 100, -0.0])
                stretch.samples += (0..<n).map { i in SIMD3(tiny, i % 2 == 0 ? tiny : -tiny, 0) }
            case 8:
                // The largest that is let in.
                stretch.samples += (0..<n).map { i in SIMD3(repeating: i % 3 == 0 ? 1e6 : -1e6) }
            case 9:
                let any = Double(bitPattern: pattern())
                stretch.samples += (0..<min(n, 20)).map { _ in SIMD3(any, 0, -any) }
            case 10:
                stretch.samples += (0..<min(n, 3)).map { i in SIMD3(repeating: i == 1 ? strength * 1e3 : 0) }
            default:
                let lost = one(of: [0, 1, 37, 4000, 1_000_000])
                let end = stretch.time &+ Int64(Double(stretch.samples.count + lost) * 1e9 / rate)
                if !stretch.samples.isEmpty { stretches.append(stretch) }
                // Mostly the time that follows; a clock or a file may say anything.
                stretch = Stretch(time: byte() % 4 == 3 ? Int64(bitPattern: pattern()) / 3 : end, lost: lost)
            }
        }
        if !stretch.samples.isEmpty { stretches.append(stretch) }
        return stretches
    }
}

extension [Stretch] {
    /// As blocks of at most a size.
    func blocks(of size: Int, rate: Double) -> [SampleBlock] {
        flatMap { stretch in
            stride(from: 0, to: stretch.samples.count, by: size).map { start in
                var block = SampleBlock(capacity: size)
                block.gapBefore = start == 0
                block.lostBefore = start == 0 ? stretch.lost : 0
                block.time = stretch.time &+ Int64((Double(start) * 1e9 / rate).rounded())
                for s in stretch.samples[start..<Swift.min(start + size, stretch.samples.count)] {
                    block.append(s.x, s.y, s.z)
                }
                return block
            }
        }
    }

    /// What the pipeline must count: samples it takes, those it must not, and the gaps that both make.
    var expected: (usable: Int, invalid: Int, gaps: Int) {
        var (usable, invalid, gaps) = (0, 0, 0)
        for (k, stretch) in enumerated() {
            if k > 0 { gaps += 1 }
            var bad = false
            for sample in stretch.samples {
                if Stretch.isUsable(sample) {
                    usable += 1
                    if bad { gaps += 1 }
                    bad = false
                } else {
                    invalid += 1
                    bad = true
                }
            }
        }
        return (usable, invalid, gaps)
    }
}
