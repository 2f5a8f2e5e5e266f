import Glibc
import Instruments
import MiniSEED
import SignalProcessing

/// A sensor without hardware: test signals and scenarios, paced like a real one.
struct SimulateSensor: SensorDriver, Sendable {
    fileprivate struct Session: Sendable {
        var source: ScenarioSource
        var timeline: SampleTimeline
        var pacer: Pacer
        var delivered = 0
    }

    private let settings: SensorConfiguration
    private let speed: Double
    private let clock: any SensorClock
    private var session: Session?
    private var simulate: SimulateSettings { settings.simulate }

    /// - Parameters:
    ///   - speed: times real time; 0 is as fast as possible.
    ///   - clock: its wall time at `open` is the time of the first sample.
    init(
        _ settings: SensorConfiguration, speed: Double = 1, clock: any SensorClock = SystemSensorClock()
    ) {
        self.settings = settings
        self.speed = speed
        self.clock = clock
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        close()
        try check()
        session = Session(
            source: ScenarioSource(settings.simulate, rate: settings.rate, range: settings.range),
            timeline: SampleTimeline(start: clock.wall(), rate: settings.rate),
            pacer: Pacer(clock: clock, rate: settings.rate, speed: speed))
        return SensorDescription(
            driver: "simulate", chip: simulate.scenario.rawValue, rate: settings.rate, range: settings.range,
            clock: .host)
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard session != nil else { throw SensorError(.fault, "the simulated sensor is not open") }
        session?.fill(&block)
        return .samples
    }

    mutating func close() { session = nil }

    /// Its samples come by the host's clock itself.
    var condition: SensorCondition {
        var condition = SensorCondition()
        if session != nil { condition.rate = MeasuredRate(rate: settings.rate, uncertainty: 0) }
        return condition
    }

    /// Settings that make no signal.
    private func check() throws(SensorError) {
        func require(_ good: Bool, _ name: String, _ value: Double, _ allowed: String) throws(SensorError) {
            guard good else { throw SensorError(.fault, "simulate: \(name) \(value): allowed are \(allowed)") }
        }
        let rate = settings.rate
        try require(rate >= 1 && rate <= 100_000, "rate", rate, "1 to 100000 Hz")
        try require(simulate.noise >= 0 && simulate.noise.isFinite, "noise", simulate.noise, "0 m/s² and more")
        try require(settings.range > 0, "range", settings.range, "more than 0 m/s²")
        try require(simulate.amplitude.isFinite, "amplitude", simulate.amplitude, "finite numbers")
        if simulate.scenario == .sine {
            let frequency = simulate.frequency
            try require(
                frequency > 0 && frequency < rate / 2, "frequency", frequency, "more than 0, below half the rate")
        }
    }
}

extension SimulateSensor.Session {
    fileprivate mutating func fill(_ block: inout SampleBlock) {
        block.time = timeline.time(of: delivered)
        block.gapBefore = delivered == 0
        var source = self.source
        block.withPlanes(count: block.capacity) { x, y, z, count in
            for index in 0..<count { (x[index], y[index], z[index]) = source.next() }
        }
        self.source = source
        delivered += block.count
        pacer.wait(samples: delivered)
    }
}

/// The motion of a scenario, sample after sample. The same settings give the same samples, however they are cut into
/// blocks.
struct ScenarioSource: Sendable {
    private let settings: SimulateSettings
    private let rate: Double
    private let range: Double
    private let sine: SineSource
    private let quake: Quake?
    private var noise: SeededNoise
    private var index = 0

    /// Seconds from one earthquake to the next, and from the start to the first P wave.
    static let quakePeriod = 120.0
    static let quakeLead = 40.0
    /// Largest horizontal acceleration of an earthquake in m/s², and the distance of its source in km.
    static let quakePeak = 0.5
    static let quakeDistance = 30.0
    /// Seconds from one knock to the next; the first comes after half of that.
    static let knockPeriod = 10.0
    /// Steps a second.
    static let stepFrequency = 1.9

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - range: full scale in m/s²: values beyond are cut off there.
    init(_ settings: SimulateSettings, rate: Double, range: Double) {
        (self.settings, self.rate, self.range) = (settings, rate, range)
        sine = SineSource(amplitude: settings.amplitude, frequency: settings.frequency, rate: rate)
        noise = SeededNoise(seed: settings.seed)
        quake =
            settings.scenario == .quake
            ? Quake(rate: rate, peak: Self.quakePeak, distance: Self.quakeDistance, seed: settings.seed) : nil
    }

    /// The next sample in m/s².
    mutating func next() -> (x: Double, y: Double, z: Double) {
        defer { index += 1 }
        switch settings.scenario {
        case .sine: return bare(sine.value(at: index))
        case .step: return bare(StepSource(amplitude: settings.amplitude).value(at: index))
        case .impulse: return bare(ImpulseSource(amplitude: settings.amplitude).value(at: index))
        case .quiet: return felt(0, 0, 0)
        case .quake:
            guard let quake else { return felt(0, 0, 0) }
            let place = phase(of: Self.quakePeriod) - Int((Self.quakeLead * rate).rounded())
            guard quake.x.indices.contains(place) else { return felt(0, 0, 0) }
            return felt(quake.x[place], quake.y[place], quake.z[place])
        case .walk: return walk()
        case .tableKnock: return knock()
        }
    }

    private func bare(_ value: Double) -> (x: Double, y: Double, z: Double) { (value, value, value) }

    /// Samples since the start of the current repetition.
    private func phase(of period: Double) -> Int { index % max(1, Int((period * rate).rounded())) }

    /// Motion with gravity, noise and the sensor's range.
    private mutating func felt(_ x: Double, _ y: Double, _ z: Double) -> (x: Double, y: Double, z: Double) {
        let level = settings.noise
        let (nx, ny, nz) = (noise.gaussian(), noise.gaussian(), noise.gaussian())
        return (
            measured(x + level * nx), measured(y + level * ny), measured(z + standardGravity + level * nz)
        )
    }

    private func measured(_ value: Double) -> Double {
        min(max(value, -range), range)
    }

    /// The body rises and falls with each step and sways with every second one; heels strike.
    private mutating func walk() -> (x: Double, y: Double, z: Double) {
        let turns = Self.stepFrequency * Double(phase(of: 10 / Self.stepFrequency)) / rate
        let step = 2 * .pi * (turns - turns.rounded(.down))
        let sway = 2 * .pi * (turns / 2 - (turns / 2).rounded(.down))
        let strike = exp(-(turns - turns.rounded(.down)) / Self.stepFrequency / 0.03)
        return felt(
            0.9 * sin(step + 0.6) + 0.5 * strike, 0.7 * sin(sway), 2 * sin(step) + 0.8 * sin(2 * step) + 2 * strike)
    }

    /// A blow and the table's own oscillation of 30 Hz, which dies away in a tenth of a second.
    private mutating func knock() -> (x: Double, y: Double, z: Double) {
        let time = Double(phase(of: Self.knockPeriod)) / rate - Self.knockPeriod / 2
        guard time >= 0, time < 1 else { return felt(0, 0, 0) }
        let frequency = min(30, 0.2 * rate)
        let value = 1.5 * exp(-time / 0.04) * cos(2 * .pi * frequency * time)
        return felt(0.3 * value, 0.2 * value, value)
    }
}

/// The ground motion of one earthquake, computed before it is played.
///
/// White noise under an envelope, shaped by a source spectrum, after the stochastic method (Boore 2003, "Simulation of
/// ground motion using the stochastic method"): the envelope is Saragoni and Hart's (1974), the spectrum that of Brune's
/// ω² model (1970) below an upper limit. P first and mostly vertical and of higher frequency, then S mostly horizontal,
/// then a coda that dies away.
struct Quake: Sendable {
    /// Samples of x, y and z in m/s²; gravity is not in them.
    private(set) var x: [Double]
    private(set) var y: [Double]
    private(set) var z: [Double]

    /// Wave speeds of the crust in km/s.
    static let speedP = 6.0
    static let speedS = 3.5
    /// Seconds from the P wave to the end.
    static let duration = 70.0
    /// Corner frequencies in Hz: a moderate earthquake (about Mw 5) has 1.1 Hz for S.
    private static let cornerS = 1.1
    private static let cornerP = 1.7

    /// - Parameters:
    ///   - rate: samples per second.
    ///   - peak: largest horizontal acceleration in m/s².
    ///   - distance: km.
    init(rate: Double, peak: Double, distance: Double, seed: UInt64) {
        let count = Int((Self.duration * rate).rounded())
        let delay = distance * (1 / Self.speedS - 1 / Self.speedP)
        // Duration of the strong part: that of the source and of the path.
        let strongS = 1 / Self.cornerS + 0.05 * distance
        let strongP = 0.6 * strongS
        var noise = SeededNoise(seed: seed ^ 0x5155_414B_4500_0000)

        /// One wave: noise, envelope, spectrum, scaled to a largest value of 1.
        func wave(from start: Double, strong: Double, corner: Double, upper: Double, coda: Double) -> [Double] {
            let envelope = Envelope(strong: strong)
            var filter = BruneFilter(corner: corner, upper: min(upper, 0.4 * rate), rate: rate)
            var values = [Double](repeating: 0, count: count)
            for index in 0..<count {
                let time = Double(index) / rate - start
                let gaussian = noise.gaussian()
                guard time > 0 else { continue }
                let tail = coda * exp(-time / 12) * min(1, time / strong)
                values[index] = filter.process(gaussian * (envelope.value(time) + tail))
            }
            let largest = values.reduce(0) { max($0, abs($1)) }
            return largest > 0 ? values.map { $0 / largest } : values
        }

        let pUp = wave(from: 0, strong: strongP, corner: Self.cornerP, upper: 15, coda: 0)
        let pSide = wave(from: 0, strong: strongP, corner: Self.cornerP, upper: 12, coda: 0)
        let sX = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 8, coda: 0.1)
        let sY = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 8, coda: 0.1)
        let sZ = wave(from: delay, strong: strongS, corner: Self.cornerS, upper: 10, coda: 0.1)
        x = (0..<count).map { sX[$0] + 0.08 * pSide[$0] }
        y = (0..<count).map { 0.8 * sY[$0] + 0.06 * pSide[$0] }
        z = (0..<count).map { 0.45 * sZ[$0] + 0.25 * pUp[$0] }
        let largest = max(x.reduce(0) { max($0, abs($1)) }, y.reduce(0) { max($0, abs($1)) })
        let factor = largest > 0 ? peak / largest : 0
        for index in 0..<count {
            x[index] *= factor
            y[index] *= factor
            z[index] *= factor
        }
    }

    /// Saragoni and Hart's window: w(t) = a (t/T)^b exp(−c t/T), largest (1) at a fifth of T, 5 % of it at T.
    private struct Envelope {
        private let b: Double
        private let c: Double
        private let a: Double
        private let length: Double

        init(strong: Double) {
            let (epsilon, eta) = (0.2, 0.05)
            b = -epsilon * log(eta) / (1 + epsilon * (log(epsilon) - 1))
            c = b / epsilon
            a = pow(exp(1) / epsilon, b)
            length = 2 * strong
        }

        func value(_ time: Double) -> Double {
            let part = time / length
            return a * pow(part, b) * exp(-c * part)
        }
    }

    /// Amplitude f² / (f² + fc²), which is Brune's acceleration spectrum, and two poles at an upper limit.
    private struct BruneFilter {
        private let high: Double
        private let low: Double
        private var states = (0.0, 0.0, 0.0, 0.0)

        init(corner: Double, upper: Double, rate: Double) {
            high = 1 - exp(-2 * .pi * corner / rate)
            low = 1 - exp(-2 * .pi * upper / rate)
        }

        mutating func process(_ input: Double) -> Double {
            states.0 += high * (input - states.0)
            let first = input - states.0
            states.1 += high * (first - states.1)
            let second = first - states.1
            states.2 += low * (second - states.2)
            states.3 += low * (states.2 - states.3)
            return states.3
        }
    }
}

/// Random numbers that are the same on every machine for the same seed (Steele, Lea and Flood 2014).
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// Random numbers that are the same on every machine: xoshiro256++ (Blackman and Vigna 2019), its state filled by
/// SplitMix64.
struct SeededNoise: Sendable {
    private var s0: UInt64
    private var s1: UInt64
    private var s2: UInt64
    private var s3: UInt64

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        (s0, s1, s2, s3) = (random.next(), random.next(), random.next(), random.next())
    }

    mutating func bits() -> UInt64 {
        let sum = s0 &+ s3
        let result = (sum << 23 | sum >> 41) &+ s0
        let t = s1 << 17
        s2 ^= s0
        s3 ^= s1
        s1 ^= s2
        s0 ^= s3
        s2 ^= t
        s3 = s3 << 45 | s3 >> 19
        return result
    }

    /// A number of the normal distribution, mean 0, variance 1: the sum of twelve uniform numbers of 16 bits.
    /// Integers alone, so no mathematical library can change a bit of it; it ends at ±6.
    mutating func gaussian() -> Double {
        var sum: UInt64 = 0
        for _ in 0..<3 {
            let word = bits()
            sum += (word & 0xFFFF) + (word >> 16 & 0xFFFF) + (word >> 32 & 0xFFFF) + word >> 48
        }
        // Twelve values with mean 32767.5 and variance (65536² − 1) / 12: together 65536² − 1.
        return (Double(sum) - 12 * 32767.5) / 65536
    }
}
