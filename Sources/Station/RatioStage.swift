import Messages
import Seismology
import Settings
import SignalProcessing

/// STA/LTA of the signal that the settings name, after its own filter or those of the axes.
struct RatioStage: Sendable {
    let signal: DetectorSignal
    /// Axes that the one ratio of a signal other than `each` stands for.
    private let axes: UInt8
    private var filter: AxisFilter
    private let hasOwnFilter: Bool
    private var first: STALTA
    private var second: STALTA
    private var third: STALTA
    /// Seconds that its own filter needs.
    let settlingTime: Double

    init(_ settings: DetectionConfiguration.STALTA, rate: Double) throws(StationError) {
        signal = settings.signal
        axes = AxisSet(of: settings.signal).rawValue
        hasOwnFilter = settings.filter != nil
        let design = try StationError.at("/detection/sta_lta/filter") { () throws(FilterDesignError) in
            try (settings.filter ?? FilterSpecification.none).design(rate: rate)
        }
        settlingTime = hasOwnFilter ? design.settlingTime(rate: rate) : 0
        filter = AxisFilter(design, design, design)
        first = STALTA(STALTA.Settings(settings, rate: rate))
        (second, third) = (first, first)
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
    }

    mutating func reset() {
        filter.reset()
        first.reset()
        second.reset()
        third.reset()
    }

    /// Writes the ratios, one plane or three, and which axes they are on for.
    mutating func process(_ planes: borrowing Planes, count: Int) {
        let capacity = Planes.capacity
        let (p, on) = (planes.ratio, planes.ratioOn)
        Planes.copy(hasOwnFilter ? planes.offsetRemoved : planes.filtered, p, count: count)
        if hasOwnFilter { filter.process(p, p + capacity, p + 2 * capacity, count: count) }
        on.update(repeating: 0, count: count)
        let (y, z) = (p + capacity, p + 2 * capacity)
        switch signal {
        case .x, .each: for i in 0..<count { p[i] *= p[i] }
        case .y: for i in 0..<count { p[i] = y[i] * y[i] }
        case .z: for i in 0..<count { p[i] = z[i] * z[i] }
        case .h: for i in 0..<count { p[i] = p[i] * p[i] + y[i] * y[i] }
        case .v3: for i in 0..<count { p[i] = p[i] * p[i] + y[i] * y[i] + z[i] * z[i] }
        }
        guard signal == .each else { return first.process(p, on, bit: axes, count: count) }
        for i in 0..<count {
            y[i] *= y[i]
            z[i] *= z[i]
        }
        first.process(p, on, bit: 1, count: count)
        second.process(y, on, bit: 2, count: count)
        third.process(z, on, bit: 4, count: count)
    }
}

extension STALTA.Settings {
    /// The settings in samples.
    public init(_ settings: DetectionConfiguration.STALTA, rate: Double) {
        self.init(
            method: settings.method, shortTerm: WindowLength.seconds(settings.sta).samples(at: rate),
            longTerm: WindowLength.seconds(settings.lta).samples(at: rate), on: settings.on, off: settings.off,
            minimumDuration: Int((settings.minimumDuration * rate).rounded()))
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
