import SignalProcessing

extension DetectionConfiguration {
    public var staLTA: STALTA {
        get { self[STALTA.self] }
        set { self[STALTA.self] = newValue }
    }

    public struct STALTA: DetectorSettings {
        public static let name = "sta_lta"
        public static let title = "STA/LTA"
        public static let sections: [(key: String, title: String)] = [("guard", "Trigger guard")]
        public static let isRatio = true
        #if !hasFeature(Embedded)
        public static let fields: [DetectorField<Self>] = [
            .init(
                "enabled", .flag(\.enabled), title: "STA/LTA detector",
                "Detection by the ratio of a short-term to a long-term average of power."),
            .init(
                "method", .choice(\.method),
                title: "STA/LTA method", advanced: true,
                "Moving averages, exponential averages, or those with the long one frozen while triggered."),
            .init(
                "signal", .choice(\.signal), title: "STA/LTA signal", advanced: true,
                "Each axis for itself, one axis, the horizontal vector or the 3-D vector."),
            .init(
                "filter", .ownFilter(\.filter),
                written: "{butterworth: {type: bandpass, corners_hz: [1, 8], order: 2}}",
                title: "STA/LTA filter", advanced: true,
                "A filter of its own after the offset removal, or `axes`: after the filters of the axes."),
            .init("sta_s", .time(\.sta, .above(0, to: 60)), title: "STA length", "Length of the short-term average."),
            .init(
                "lta_s", .time(\.lta, .above(0, to: 600)),
                title: "LTA length",
                "Length of the long-term average; there is no detection for this long after a start or a gap."),
            .init(
                "on", .number(\.on, .above(0, to: 10000)), title: "Trigger-on ratio",
                homeAssistant: .init(name: "STA/LTA on", step: 0.01), "Triggers when the ratio is at least this."),
            .init(
                "off", .number(\.off, .above(0, to: 10000)), title: "Trigger-off ratio",
                homeAssistant: .init(name: "STA/LTA off", step: 0.01),
                "The trigger ends when the ratio is less than this."),
            .init(
                "min_duration_s", .time(\.minimumDuration, .from(0, to: 60)),
                title: "Minimum duration", advanced: true,
                "The detector is on when the trigger has lasted this long without a break."),
            .init(
                "max_frozen_s", .time(\.maximumFrozen, .above(0, to: 3600)),
                title: "Maximum freeze", advanced: true,
                "Method frozen: after this long in a trigger the long-term average goes on."),
            .init(
                "guard.enabled", .flag(\.guard.enabled),
                title: "Trigger guard", advanced: true,
                "Signals h and v3: the trigger counts when it also looks like shaking, not like a spike or a step."),
            .init(
                "guard.axes", .count(\.guard.axes, 1...3),
                title: "Axes that must agree", advanced: true,
                "How many axes must agree that there is more power than before."
            ),
            .init(
                "guard.ratio", .number(\.guard.ratio, .from(0, to: 10000)),
                title: "Ratio of an agreeing axis", advanced: true,
                "An axis agrees when its short-term average is at least so many long-term ones."),
            .init(
                "guard.clip", .number(\.guard.clip, .above(0, to: 1e9)),
                title: "Clip level", advanced: true,
                "In that, one sample counts for at most so many long-term averages."),
            .init(
                "guard.jump", .number(\.guard.jump, .above(0, to: 1)),
                title: "Largest jump", advanced: true,
                "The largest jump between successive 1/32 s may be this share of all change at most."),
        ]
        #endif

        /// Further condition for a trigger on a vector to count.
        public struct Guard: Sendable, Equatable {
            public var enabled = true
            public var axes = 2
            public var ratio = 2.0
            public var clip = 20.0
            public var jump = 0.3
        }

        public var enabled = true
        public var method = Seismology.STALTA.Method.frozen
        public var signal = DetectorSignal.v3
        /// Nil: after the filters of the axes.
        public var filter: FilterSpecification? = .butterworth(.init(band: .bandpass, corners: [1, 8], order: 2))
        /// Seconds.
        public var sta = 1.0
        public var lta = 30.0
        public var on = 3.0
        public var off = 1.5
        public var minimumDuration = 0.0
        public var maximumFrozen = 180.0
        public var `guard` = Guard()

        public init() {}

        public var chosenSignal: DetectorSignal? { signal }

        public var problems: [DetectorProblem] {
            var found: [DetectorProblem] = []
            if lta <= sta {
                found.append(
                    .init(
                        key: "lta_s",
                        message:
                            "The long-term average must be longer than the short-term one, which is \(shortText(sta)) s.",
                        got: lta, allowed: "above \(shortText(sta)) s"))
            } else if on > lta / sta {
                found.append(
                    .init(
                        key: "on", message: "The detector would never trigger: the ratio cannot exceed lta_s / sta_s.",
                        got: on, allowed: "at most \(shortText(lta / sta))"))
            }
            if off > on {
                found.append(
                    .init(
                        key: "off", message: "The trigger would end at once: `on` is \(shortText(on)).", got: off,
                        allowed: "at most \(shortText(on))"))
            }
            return found
        }
    }
}

/// STA/LTA of the signal that the settings name, after its own filter or those of the axes.
struct RatioDetector: Detector {
    private let signal: DetectorSignal
    private let threshold: Double
    private var power: SignalPower
    /// One for the signal, or one for each axis.
    private var ratios: [STALTA]
    private var guarding: TriggerGuard?

    init(_ settings: DetectionConfiguration.STALTA, _ context: DetectorContext) throws(FilterDesignError) {
        (signal, threshold) = (settings.signal, settings.on)
        power = try SignalPower(settings.filter, rate: context.rate)
        ratios = Array(
            repeating: STALTA(STALTA.Settings(settings, rate: context.rate)), count: signal == .each ? 3 : 1)
        guarding = TriggerGuard.Settings(settings, rate: context.rate).map { TriggerGuard($0) }
    }

    var settlingTime: Double { power.settlingTime }
    var blindSamples: Int { ratios[0].blindSamples }

    mutating func takeOver(_ old: RatioDetector, inputGoesOn: Bool) {
        guard signal == old.signal, power.takeOver(old.power, inputGoesOn: inputGoesOn) else { return }
        for k in ratios.indices { ratios[k].takeOver(old.ratios[k]) }
        if let before = old.guarding { guarding?.takeOver(before) }
    }

    mutating func reset() {
        power.reset()
        for k in ratios.indices { ratios[k].reset() }
        guarding?.reset()
    }

    mutating func interrupt() { power.reset() }

    mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult) {
        let (ratio, on, count) = (result.values, result.axes, chunk.count)
        power.process(chunk, to: ratio, of: signal)
        on.update(repeating: 0, count: count)
        for k in ratios.indices {
            ratios[k].process(ratio + k * result.stride, on, bit: signal.bits(ofPlane: k), count: count)
        }
        guarding?.process(
            power: chunk.scratch, stride: chunk.stride, raw: chunk.raw, rawStride: chunk.stride, on, count: count)
    }

    mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading {
        let (r, s) = (result.values + i, result.stride)
        return DetectorReading(
            axes: result.axes[i], value: signal == .each ? max(r[0], r[s], r[2 * s]) : r[0], threshold: threshold)
    }
}

extension STALTA.Settings {
    /// The settings in samples.
    public init(_ settings: DetectionConfiguration.STALTA, rate: Double) {
        self.init(
            method: settings.method, shortTerm: WindowLength.seconds(settings.sta).samples(at: rate),
            longTerm: WindowLength.seconds(settings.lta).samples(at: rate), on: settings.on, off: settings.off,
            minimumDuration: Int((settings.minimumDuration * rate).rounded()),
            maximumFrozen: Int((settings.maximumFrozen * rate).rounded()))
    }
}

extension TriggerGuard.Settings {
    /// The settings in samples; nil when they ask for no guard, or the signal is not a vector.
    public init?(_ settings: DetectionConfiguration.STALTA, rate: Double) {
        let g = settings.guard
        guard g.enabled, settings.signal.isVector else { return nil }
        let s = STALTA.Settings(settings, rate: rate)
        self.init(
            axes: g.axes, ratio: g.ratio, clip: g.clip, jump: g.jump, shortTerm: s.shortTerm, longTerm: s.longTerm,
            maximumFrozen: s.maximumFrozen, rate: rate)
    }
}
