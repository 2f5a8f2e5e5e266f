import SignalProcessing

/// Where the settings of a detector are.
public typealias DetectionPath<S> = any WritableKeyPath<DetectionConfiguration, S> & Sendable

/// Does one thing with each detector of the list. A generic that is made for each detector when it is compiled: nothing is
/// looked up, boxed or allocated while samples run. (Those that hold more than numbers and pointers are classes: less
/// code.)
public protocol DetectorVisitor {
    /// - Parameters:
    ///   - detector: of a bank; nil where it is not enabled, or the visit is for the settings alone.
    ///   - settings: where its settings are.
    ///   - place: where it is in a bank.
    mutating func visit<D: Detector>(
        _ detector: inout D?, _ settings: DetectionPath<D.Settings>, _ place: KeyPath<DetectorBank, D?>)
}

/// A detector whose filter cannot be made.
public struct DetectorError: Error, Sendable {
    /// The detector's name.
    public var name: String
    public var error: FilterDesignError
}

/// Where the detectors of a bank write what they found in a chunk; the memory is the caller's.
public struct DetectorMemory {
    /// Of each sample, bit d: detector d of the list is on.
    public var on: UnsafeMutablePointer<UInt8>
    /// For each detector as many bytes, and three times as many numbers, as a chunk may have samples.
    public var axes: UnsafeMutablePointer<UInt8>
    public var values: UnsafeMutablePointer<Double>
    /// Samples of a chunk at most.
    public var stride: Int

    public init(
        on: UnsafeMutablePointer<UInt8>, axes: UnsafeMutablePointer<UInt8>, values: UnsafeMutablePointer<Double>,
        stride: Int
    ) {
        (self.on, self.axes, self.values, self.stride) = (on, axes, values, stride)
    }

    @inline(__always)
    func result(_ detector: Int) -> DetectorResult {
        DetectorResult(axes: axes + detector * stride, values: values + 3 * detector * stride, stride: stride)
    }
}

extension DetectorBank {
    /// How many detectors the list has; at most 8, see ``DetectorMemory/on``.
    public static let count = DetectionConfiguration.names.count

    /// Makes the detectors that are enabled.
    public init(_ settings: DetectionConfiguration, _ context: DetectorContext) throws(DetectorError) {
        var making = Making(settings: settings, context: context)
        visit(&making)
        if let error = making.error { throw error }
    }

    /// Seconds that the slowest of their own filters needs.
    public var settlingTime: Double {
        var (bank, waiting) = (self, Waiting())
        bank.visit(&waiting)
        return waiting.longest
    }

    /// Forgets all samples.
    public mutating func reset() {
        var visitor = Resetting()
        visit(&visitor)
    }

    /// Goes on from another bank with every detector whose settings are the same.
    /// - Parameter inputGoesOn: whether the filters of the axes go on as well.
    public mutating func takeOver(_ old: DetectorBank, inputGoesOn: Bool) {
        withUnsafePointer(to: old) { old in
            var visitor = TakingOver(old: old, inputGoesOn: inputGoesOn)
            visit(&visitor)
        }
    }

    /// Says of each sample of a chunk which detectors are on.
    public mutating func process(_ chunk: DetectorChunk, _ memory: DetectorMemory) {
        memory.on.update(repeating: 0, count: chunk.count)
        var visitor = Processing(chunk: chunk, memory: memory)
        visit(&visitor)
    }

    /// Writes what those say that are on at a sample of the chunk, each in its place.
    public mutating func read(
        _ memory: DetectorMemory, at i: Int, into readings: UnsafeMutablePointer<DetectorReading>
    ) {
        var visitor = Reading(memory: memory, i: i, readings: readings)
        visit(&visitor)
    }
}

private final class Making: DetectorVisitor {
    let settings: DetectionConfiguration
    let context: DetectorContext
    var error: DetectorError?

    init(settings: DetectionConfiguration, context: DetectorContext) {
        (self.settings, self.context) = (settings, context)
    }

    func visit<D: Detector>(
        _ detector: inout D?, _ path: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>
    ) {
        guard settings[keyPath: path].enabled, error == nil else { return }
        do throws(FilterDesignError) {
            detector = try D(settings[keyPath: path], context)
        } catch { self.error = DetectorError(name: D.Settings.name, error: error) }
    }
}

private struct Waiting: DetectorVisitor {
    var longest = 0.0

    mutating func visit<D: Detector>(
        _ detector: inout D?, _: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>
    ) {
        longest = max(longest, detector?.settlingTime ?? 0)
    }
}

private struct Resetting: DetectorVisitor {
    mutating func visit<D: Detector>(
        _ detector: inout D?, _: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>
    ) {
        detector?.reset()
    }
}

private struct TakingOver: DetectorVisitor {
    let old: UnsafePointer<DetectorBank>
    let inputGoesOn: Bool

    mutating func visit<D: Detector>(
        _ detector: inout D?, _: DetectionPath<D.Settings>,
        _ place: KeyPath<DetectorBank, D?>
    ) {
        if let before = old.pointee[keyPath: place] { detector?.takeOver(before, inputGoesOn: inputGoesOn) }
    }
}

private struct Processing: DetectorVisitor {
    let chunk: DetectorChunk
    let memory: DetectorMemory
    var number = 0

    @inline(__always)
    mutating func visit<D: Detector>(
        _ detector: inout D?, _: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>
    ) {
        defer { number += 1 }
        guard detector != nil else { return }
        let result = memory.result(number)
        detector?.process(chunk, result)
        let bit = UInt8(1) << UInt8(number)
        var i = max(0, chunk.validFrom)
        while i < chunk.count {
            if result.axes[i] != 0 { memory.on[i] |= bit }
            i += 1
        }
    }
}

private struct Reading: DetectorVisitor {
    let memory: DetectorMemory
    let i: Int
    let readings: UnsafeMutablePointer<DetectorReading>
    var number = 0

    @inline(__always)
    mutating func visit<D: Detector>(
        _ detector: inout D?, _: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>
    ) {
        let isOn = memory.on[i] >> UInt8(number) & 1 != 0
        if isOn, let reading = detector?.reading(memory.result(number), at: i) { readings[number] = reading }
        number += 1
    }
}

// MARK: Of the settings

/// What others have to know of a detector that is enabled.
public struct DetectorFacts: Sendable, Equatable {
    /// Its place in the list.
    public var number: Int
    public var name: String
    /// Nil where there is no choice.
    public var signal: DetectorSignal?
    public var isRatio: Bool
}

extension DetectionConfiguration {
    /// All detectors, in the order of the list.
    public static let names: [String] = {
        var visitor = Naming()
        visit(&visitor)
        return visitor.names
    }()

    /// Visits the settings of all detectors, in the order of the list.
    public static func visit(_ visitor: inout some DetectorVisitor) {
        var bank = DetectorBank()
        bank.visit(&visitor)
    }

    /// Those that are enabled.
    public var enabled: [DetectorFacts] {
        var visitor = Listing(self)
        Self.visit(&visitor)
        return visitor.facts
    }

    /// Switches all detectors off.
    public mutating func disableAll() {
        var visitor = Disabling(self)
        Self.visit(&visitor)
        self = visitor.settings
    }
}

private final class Naming: DetectorVisitor {
    var names: [String] = []

    func visit<D: Detector>(_: inout D?, _: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>) {
        names.append(D.Settings.name)
    }
}

private final class Listing: DetectorVisitor {
    let settings: DetectionConfiguration
    var facts: [DetectorFacts] = []
    var number = 0

    init(_ settings: DetectionConfiguration) { self.settings = settings }

    func visit<D: Detector>(_: inout D?, _ path: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>) {
        let one = settings[keyPath: path]
        if one.enabled {
            facts.append(
                .init(
                    number: number, name: D.Settings.name, signal: one.chosenSignal, isRatio: D.Settings.isRatio))
        }
        number += 1
    }
}

private final class Disabling: DetectorVisitor {
    var settings: DetectionConfiguration

    init(_ settings: DetectionConfiguration) { self.settings = settings }

    func visit<D: Detector>(_: inout D?, _ path: DetectionPath<D.Settings>, _: KeyPath<DetectorBank, D?>) {
        settings[keyPath: path].enabled = false
    }
}
