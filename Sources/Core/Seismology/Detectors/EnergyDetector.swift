import SignalProcessing

extension DetectionConfiguration {
    public var energy: Energy {
        get { self[Energy.self] }
        set { self[Energy.self] = newValue }
    }

    public struct Energy: DetectorSettings {
        public static let name = "energy"
        public static let title = "Energy"
        public static let isRatio = true
        #if !hasFeature(Embedded)
        public static let fields: [DetectorField<Self>] = [
            .init(
                "enabled", .flag(\.enabled), title: "Energy detector", advanced: true,
                "Detection by the energy in a band against its average, as used on structures."),
            .init(
                "signal", .choice(\.signal), title: "Energy signal", advanced: true,
                "Each axis for itself, one axis, the horizontal vector or the 3-D vector."),
            .init(
                "filter", .ownFilter(\.filter),
                written: "{butterworth: {type: bandpass, corners_hz: [0.5, 10], order: 2}}",
                title: "Energy band", advanced: true,
                "The band: a filter of its own after the offset removal, or `axes`: after the filters of the axes."),
            .init(
                "window_s", .time(\.window, .above(0, to: 60)), title: "Energy window", advanced: true,
                "Length of the window whose energy is compared."),
            .init(
                "average_s", .time(\.average, .above(0, to: 300)), title: "Energy average", advanced: true,
                "Length of the average, which ends where the window begins. There is no detection until both are full."),
            .init(
                "threshold", .number(\.threshold, .above(0, to: 1e6)), title: "Energy ratio", advanced: true,
                "On while the energy of the window is at least so many times the average."),
        ]
        #endif

        public var enabled = false
        public var signal = DetectorSignal.v3
        /// Nil: after the filters of the axes.
        public var filter: FilterSpecification? = .butterworth(.init(band: .bandpass, corners: [0.5, 10], order: 2))
        /// Seconds.
        public var window = 1.0
        public var average = 60.0
        public var threshold = 10.0

        public init() {}

        public var chosenSignal: DetectorSignal? { signal }

        public var problems: [DetectorProblem] {
            guard average < window else { return [] }
            return [
                .init(
                    key: "average_s",
                    message: "The average must not be shorter than the window, which is \(shortText(window)) s.",
                    got: average, allowed: "at least \(shortText(window)) s")
            ]
        }
    }
}

/// On while the energy in a band, ∫a² dt of the last window, is at least so many times the mean energy of windows of that
/// length over the time before it. The average ends where the window begins, so that what is to be detected is not in it
/// until it has lasted for longer than the window. The sums never drift; until both are full the ratio is 0.
struct EnergyDetector: Detector {
    private let signal: DetectorSignal
    private let threshold: Double
    private var power: SignalPower
    /// One for the signal, or one for each axis.
    private var ratios: [EnergyRatio]

    init(_ settings: DetectionConfiguration.Energy, _ context: DetectorContext) throws(FilterDesignError) {
        (signal, threshold) = (settings.signal, settings.threshold)
        power = try SignalPower(settings.filter, rate: context.rate)
        let ratio = EnergyRatio(
            window: WindowLength.seconds(settings.window).samples(at: context.rate),
            average: WindowLength.seconds(settings.average).samples(at: context.rate))
        ratios = Array(repeating: ratio, count: signal == .each ? 3 : 1)
    }

    var settlingTime: Double { power.settlingTime }
    var blindSamples: Int { ratios[0].blindSamples }

    mutating func takeOver(_ old: EnergyDetector, inputGoesOn: Bool) {
        guard signal == old.signal, power.takeOver(old.power, inputGoesOn: inputGoesOn) else { return }
        if ratios[0].hasLengths(of: old.ratios[0]) { ratios = old.ratios }
    }

    mutating func reset() {
        power.reset()
        for k in ratios.indices { ratios[k].reset() }
    }

    mutating func interrupt() { power.reset() }

    mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult) {
        power.process(chunk, to: result.values, of: signal)
        result.axes.update(repeating: 0, count: chunk.count)
        for k in ratios.indices {
            let ratio = result.values + k * result.stride
            ratios[k].process(ratio, count: chunk.count)
            let bits = signal.bits(ofPlane: k)
            for i in 0..<chunk.count where ratio[i] >= threshold { result.axes[i] |= bits }
        }
    }

    mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading {
        var largest = 0.0
        for k in ratios.indices { largest = max(largest, result.values[k * result.stride + i]) }
        return DetectorReading(axes: result.axes[i], value: largest, threshold: threshold)
    }
}

/// The energy of a window to the mean energy before it, of one signal.
private struct EnergyRatio: Sendable {
    private var window: SlidingSum
    private var average: SlidingSum
    /// The powers in the window, oldest first from `place` on.
    private var waiting: [Double]
    private var place = 0

    /// - Parameters: lengths in samples.
    init(window: Int, average: Int) {
        self.window = SlidingSum(length: window)
        self.average = SlidingSum(length: average)
        waiting = Array(repeating: 0, count: window)
    }

    func hasLengths(of other: EnergyRatio) -> Bool {
        window.length == other.window.length && average.length == other.average.length
    }

    /// Samples until both are full.
    var blindSamples: Int { window.length - window.count + average.length - average.count }

    mutating func reset() {
        window.reset()
        average.reset()
        place = 0
    }

    /// Replaces the power (m²/s⁴) of `count` samples by the ratio.
    mutating func process(_ plane: UnsafeMutablePointer<Double>, count: Int) {
        let scale = Double(average.length) / Double(window.length)
        for i in 0..<count {
            let (power, leaves) = (plane[i], window.count == window.length)
            let energy = window.push(power)
            // What leaves the window comes into the average.
            let before = leaves ? average.push(waiting[place]) : 0
            waiting[place] = power
            place = place + 1 == waiting.count ? 0 : place + 1
            plane[i] =
                average.count == average.length && before > 0 ? min(energy / before * scale, STALTA.largest) : 0
        }
    }
}
