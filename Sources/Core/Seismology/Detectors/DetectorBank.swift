import SignalProcessing

/// A detector whose filter cannot be made.
public struct DetectorError: Error, Sendable {
    /// The detector's name.
    public var name: String
    public var error: FilterDesignError
}

/// Where the detectors of a bank write what they found in a chunk; the memory is the caller's.
public struct DetectorMemory {
    /// Bits of each sample: bit d means that detector d of the list is on.
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

/// The detectors that are enabled.
public struct DetectorBank: Sendable {
    /// How many detectors the list has; at most 8, see ``DetectorMemory/on``.
    public static let count = DetectionConfiguration.names.count

    private var list: DetectorList

    /// Makes the detectors that are enabled.
    public init(_ settings: DetectionConfiguration, _ context: DetectorContext) throws(DetectorError) {
        list = try DetectorList(settings.detectors, context)
    }

    /// Seconds that the slowest of their own filters needs.
    public var settlingTime: Double {
        var (list, waiting) = (list, Waiting())
        list.visit(&waiting)
        return waiting.longest
    }

    /// Samples from now on until all of them can trigger.
    public var blindSamples: Int {
        var (list, waiting) = (list, Filling())
        list.visit(&waiting)
        return waiting.longest
    }

    /// Forgets all samples.
    public mutating func reset() {
        var visitor = Resetting()
        list.visit(&visitor)
    }

    /// Forgets all samples but what averages say of the noise: see ``Detector/interrupt()``.
    public mutating func interrupt() {
        var visitor = Interrupting()
        list.visit(&visitor)
    }

    /// Goes on from another bank with every detector whose settings are the same.
    /// - Parameter inputGoesOn: whether the filters of the axes go on as well.
    public mutating func takeOver(_ old: DetectorBank, inputGoesOn: Bool) {
        list.takeOver(old.list, inputGoesOn: inputGoesOn)
    }

    /// Says of each sample of a chunk which detectors are on.
    public mutating func process(_ chunk: DetectorChunk, _ memory: DetectorMemory) {
        memory.on.update(repeating: 0, count: chunk.count)
        var visitor = Processing(chunk: chunk, memory: memory)
        list.visit(&visitor)
    }

    /// Writes what those say that are on at a sample of the chunk, each in its place.
    public mutating func read(
        _ memory: DetectorMemory, at i: Int, into readings: UnsafeMutablePointer<DetectorReading>
    ) {
        var visitor = Reading(memory: memory, i: i, readings: readings)
        list.visit(&visitor)
    }
}

private struct Waiting: DetectorVisitor {
    var longest = 0.0

    mutating func visit<D: Detector>(_ detector: inout D?) { longest = max(longest, detector?.settlingTime ?? 0) }
}

private struct Filling: DetectorVisitor {
    var longest = 0

    mutating func visit<D: Detector>(_ detector: inout D?) { longest = max(longest, detector?.blindSamples ?? 0) }
}

private struct Resetting: DetectorVisitor {
    mutating func visit<D: Detector>(_ detector: inout D?) { detector?.reset() }
}

private struct Interrupting: DetectorVisitor {
    mutating func visit<D: Detector>(_ detector: inout D?) { detector?.interrupt() }
}

private struct Processing: DetectorVisitor {
    let chunk: DetectorChunk
    let memory: DetectorMemory
    var number = 0

    @inline(__always)
    mutating func visit<D: Detector>(_ detector: inout D?) {
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
    mutating func visit<D: Detector>(_ detector: inout D?) {
        let isOn = memory.on[i] >> UInt8(number) & 1 != 0
        if isOn, let reading = detector?.reading(memory.result(number), at: i) { readings[number] = reading }
        number += 1
    }
}
