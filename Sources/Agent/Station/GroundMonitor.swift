import Messages
import Seismology
import Settings
import SignalProcessing

/// Analysis of the last seconds of motion as a whole, once a second: JMA intensity and strongest frequency, of the
/// acceleration without offset. The work of a second is done in parts beside the samples that follow it, counted by
/// them alone, so that it never keeps the sampler and does not depend on blocks.
struct GroundMonitor: Sendable {
    /// JMA intensity of the window that ended last, before rounding; nil while it is shorter than 3 s.
    private(set) var jma: Double?
    private(set) var spectrum: SpectrumPeak?
    /// True between ``begin()`` and the end of the work.
    private(set) var isBusy = false

    /// More than the parts of a second's work.
    private static let mostParts = 64
    private let shortest: Int
    private let jmaWindow: Int
    private let spectrumWindow: Int
    private var pace: WorkPace
    private var ring: SampleRing
    private var intensity: JMACalculation?
    private var frequency: DominantFrequency
    private var end = 0
    private var intensityLeft = false
    private var frequencyLeft = false

    /// - Parameter rate: samples per second.
    init(_ configuration: Configuration, rate: Double) {
        func samples(_ seconds: Double) -> Int {
            min(SpectrumConfiguration.longestWindow, max(1, Int((seconds * rate).rounded(.toNearestOrEven))))
        }
        shortest = samples(JMAIntensity.shortest)
        spectrumWindow = samples(configuration.spectrum.window)
        let wanted = configuration.intensity.scales.contains(.jma)
        jmaWindow = wanted ? samples(configuration.intensity.jmaWindow) : 0
        pace = WorkPace(rate: rate)
        // The samples that come while a window is worked on must not push its first ones out.
        ring = SampleRing(capacity: max(jmaWindow, spectrumWindow) + Self.mostParts * pace.spacing)
        intensity = wanted ? JMACalculation(rate: rate, longest: jmaWindow) : nil
        frequency = DominantFrequency(rate: rate, longest: spectrumWindow, lowest: configuration.spectrum.lowest)
    }

    /// Goes on with the samples of another monitor, and with its results where they have the same settings.
    mutating func takeOver(_ old: GroundMonitor, _ new: Configuration, _ was: Configuration) {
        let sameScale = new.intensity.scales.contains(.jma) == was.intensity.scales.contains(.jma)
        if new.spectrum == was.spectrum, new.intensity.jmaWindow == was.intensity.jmaWindow, sameScale {
            self = old
            return
        }
        ring.takeOver(old.ring)
    }

    /// Forgets all samples and results.
    mutating func reset() {
        ring.reset()
        (jma, spectrum) = (nil, nil)
        isBusy = false
    }

    /// Takes `count` samples of acceleration, three planes a capacity apart.
    mutating func push(_ acceleration: UnsafePointer<Double>, count: Int) {
        ring.push(acceleration, acceleration + Planes.capacity, acceleration + 2 * Planes.capacity, count: count)
    }

    /// Samples at which nothing of the work is due.
    var pause: Int { isBusy ? pace.pause : 0 }

    /// Begins with the windows that end with the last sample.
    mutating func begin() {
        end = ring.pushed
        pace.restart()
        isBusy = end >= shortest
        guard isBusy else { return }
        intensityLeft = intensity != nil
        intensity?.begin(count: min(end, jmaWindow))
        frequencyLeft = true
        frequency.begin(count: min(end, spectrumWindow))
    }

    /// Does what is due at a sample; true when all is done.
    mutating func step() -> Bool {
        guard isBusy else { return true }
        guard pace.isDue() else { return false }
        for _ in 0..<pace.parts where isBusy { part() }
        return !isBusy
    }

    /// Goes on by samples at which nothing is due, at most ``pause``.
    mutating func skip(_ count: Int) { pace.skip(count) }

    /// Gives back memory that is needed in the first minute alone, as it can be had again.
    mutating func giveBackRoom() {
        if !isBusy { intensity?.giveBackRoom() }
    }

    /// Does all that is left.
    mutating func finish() { while isBusy { part() } }

    private mutating func part() {
        if intensityLeft {
            let range = end - min(end, jmaWindow)..<end
            guard intensity?.step({ ring.copy(axis: $0, range, to: $1) }) ?? true else { return }
            intensityLeft = false
            jma = intensity?.raw
        } else if frequencyLeft {
            let range = end - min(end, spectrumWindow)..<end
            guard frequency.step({ ring.copy(axis: $0, range, to: $1) }) else { return }
            frequencyLeft = false
            spectrum = frequency.frequency.map { SpectrumPeak(dominantHz: $0, peak: frequency.amplitude) }
        }
        isBusy = intensityLeft || frequencyLeft
    }
}
