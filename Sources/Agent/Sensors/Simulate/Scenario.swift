import Glibc
import Instruments
import SignalProcessing

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
