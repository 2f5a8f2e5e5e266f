import Messages
import Seismology
import Settings
import SignalProcessing

/// STA/LTA of the signal that the settings name, after its own filter or those of the axes.
struct RatioStage: Sendable {
    let signal: DetectorSignal
    /// Axes that the first ratio stands for.
    private let axes: UInt8
    private var filter: AxisFilter
    private let hasOwnFilter: Bool
    private var first: STALTA
    private var second: STALTA
    private var third: STALTA
    private var guarding: TriggerGuard?
    /// Seconds that its own filter needs.
    let settlingTime: Double

    init(_ settings: DetectionConfiguration.STALTA, rate: Double) throws(StationError) {
        signal = settings.signal
        axes = settings.signal == .each ? 1 : AxisSet(of: settings.signal).rawValue
        hasOwnFilter = settings.filter != nil
        let design = try StationError.at("/detection/sta_lta/filter") { () throws(FilterDesignError) in
            try (settings.filter ?? FilterSpecification.none).design(rate: rate)
        }
        settlingTime = hasOwnFilter ? design.settlingTime(rate: rate) : 0
        filter = AxisFilter(design, design, design)
        first = STALTA(STALTA.Settings(settings, rate: rate))
        (second, third) = (first, first)
        guarding = TriggerGuard.Settings(settings, rate: rate).map { TriggerGuard($0) }
    }

    /// Goes on from another stage as far as its settings are the same.
    /// - Parameter inputGoesOn: whether the signals that come in are those that went into the other stage.
    mutating func takeOver(_ old: RatioStage, inputGoesOn: Bool) {
        guard inputGoesOn, signal == old.signal, hasOwnFilter == old.hasOwnFilter else { return }
        let kept = filter.takeOver(old.filter)
        guard kept.x, kept.y, kept.z else { return }
        first.takeOver(old.first)
        second.takeOver(old.second)
        third.takeOver(old.third)
        if let before = old.guarding { guarding?.takeOver(before) }
    }

    mutating func reset() {
        filter.reset()
        first.reset()
        second.reset()
        third.reset()
        guarding?.reset()
    }

    /// Writes the ratios, one plane or three, and which axes they are on for.
    mutating func process(_ planes: borrowing Planes, count: Int) {
        let capacity = Planes.capacity
        let (ratio, on, x) = (planes.ratio, planes.ratioOn, planes.power)
        let (y, z) = (x + capacity, x + 2 * capacity)
        Planes.copy(hasOwnFilter ? planes.offsetRemoved : planes.filtered, x, count: count)
        if hasOwnFilter { filter.process(x, y, z, count: count) }
        on.update(repeating: 0, count: count)
        for i in 0..<count {
            x[i] *= x[i]
            y[i] *= y[i]
            z[i] *= z[i]
        }
        switch signal {
        case .each: Planes.copy(x, ratio, count: count)
        case .x: ratio.update(from: x, count: count)
        case .y: ratio.update(from: y, count: count)
        case .z: ratio.update(from: z, count: count)
        case .h: for i in 0..<count { ratio[i] = x[i] + y[i] }
        case .v3: for i in 0..<count { ratio[i] = x[i] + y[i] + z[i] }
        }
        first.process(ratio, on, bit: axes, count: count)
        if signal == .each {
            second.process(ratio + capacity, on, bit: 2, count: count)
            third.process(ratio + 2 * capacity, on, bit: 4, count: count)
        }
        guarding?.process(
            power: x, stride: capacity, raw: planes.raw, rawStride: capacity, on, count: count)
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

/// STA/LTA ratios of one sample: of x, y and z, or the first alone.
typealias Ratios = (first: Double, second: Double, third: Double)

extension AxisSet {
    /// The axes that a signal is made of.
    init(of signal: DetectorSignal) {
        switch signal {
        case .x: self = .x
        case .y: self = .y
        case .z: self = .z
        case .h: self = [.x, .y]
        case .each, .v3: self = [.x, .y, .z]
        }
    }
}

extension RatioValues {
    /// The ratios under the names of what they belong to.
    init(_ ratios: Ratios, of signal: DetectorSignal) {
        self.init()
        switch signal {
        case .each: (x, y, z) = (ratios.first, ratios.second, ratios.third)
        case .x: x = ratios.first
        case .y: y = ratios.first
        case .z: z = ratios.first
        case .h: h = ratios.first
        case .v3: v3 = ratios.first
        }
    }
}
