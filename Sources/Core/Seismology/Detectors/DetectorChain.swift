import SignalProcessing

/// A list of detectors as a type: those before, then one more. Its methods call each other from the last detector to the
/// first, and are put together into plain code when they are compiled.
protocol DetectorChain: Sendable {
    associatedtype Settings: DetectorSettingsChain

    /// Makes the detectors that are enabled.
    init(_ settings: Settings, _ context: DetectorContext) throws(DetectorError)
    /// Goes on from another chain with every detector whose settings are the same.
    mutating func takeOver(_ old: Self, inputGoesOn: Bool)
    /// Visits each, from the first to the last.
    mutating func visit(_ visitor: inout some DetectorVisitor)
}

extension DetectorChain {
    typealias Then<D: Detector> = DetectorLink<Self, D>
}

/// The settings of a list of detectors.
protocol DetectorSettingsChain: Sendable, Equatable {
    init()
    /// Visits those of each detector, from the first to the last.
    mutating func visit(_ visitor: inout some DetectorSettingsVisitor)
}

/// Does one thing with each detector of a list.
protocol DetectorVisitor {
    /// - Parameter detector: nil where it is not enabled.
    mutating func visit<D: Detector>(_ detector: inout D?)
}

/// Does one thing with the settings of each detector.
public protocol DetectorSettingsVisitor {
    mutating func visit<S: DetectorSettings>(_ settings: inout S)
}

/// Where a list begins.
struct NoDetectors: DetectorChain {
    struct Settings: DetectorSettingsChain {
        mutating func visit(_ visitor: inout some DetectorSettingsVisitor) {}
    }

    init(_ settings: Settings, _ context: DetectorContext) {}
    mutating func takeOver(_ old: NoDetectors, inputGoesOn: Bool) {}
    mutating func visit(_ visitor: inout some DetectorVisitor) {}
}

/// One more detector.
struct DetectorLink<Before: DetectorChain, D: Detector>: DetectorChain {
    struct Settings: DetectorSettingsChain {
        var before = Before.Settings()
        var own = D.Settings()

        mutating func visit(_ visitor: inout some DetectorSettingsVisitor) {
            before.visit(&visitor)
            visitor.visit(&own)
        }
    }

    var before: Before
    var detector: D?

    init(_ settings: Settings, _ context: DetectorContext) throws(DetectorError) {
        before = try Before(settings.before, context)
        guard settings.own.enabled else { return }
        do throws(FilterDesignError) { detector = try D(settings.own, context) } catch {
            throw DetectorError(name: D.Settings.name, error: error)
        }
    }

    mutating func takeOver(_ old: Self, inputGoesOn: Bool) {
        before.takeOver(old.before, inputGoesOn: inputGoesOn)
        if let old = old.detector { detector?.takeOver(old, inputGoesOn: inputGoesOn) }
    }

    @inline(__always)
    mutating func visit(_ visitor: inout some DetectorVisitor) {
        before.visit(&visitor)
        visitor.visit(&detector)
    }
}

/// All detectors, one line each, in the order of the settings file and of the messages. A closed list, which the compiler
/// makes its code from: nothing is looked up, boxed or allocated while samples run.
typealias DetectorList = NoDetectors
    .Then<AxesDetector>
    .Then<RatioDetector>
    .Then<PeakDetector>
    .Then<MovementDetector>
    .Then<EnergyDetector>
