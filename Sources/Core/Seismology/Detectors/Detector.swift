import SignalProcessing

/// A detector says of each sample whether it is on. It is one file: its settings with their defaults and help, what it
/// does with a chunk of samples, and what an event is told of a sample at which it is on. Three lines in
/// `DetectorList` put it into the settings, the station, the messages and everything that is made from them.
public protocol Detector: Sendable {
    associatedtype Settings: DetectorSettings

    /// - Throws: when its filter, the setting `filter`, cannot be made at the rate.
    init(_ settings: Settings, _ context: DetectorContext) throws(FilterDesignError)
    /// Seconds that its own filter needs after a start or a gap.
    var settlingTime: Double { get }
    /// Samples from now on until its averages are full and it can trigger.
    var blindSamples: Int { get }
    /// Forgets all samples.
    mutating func reset()
    /// Samples are missing, and filters begin anew; what is known of the noise before goes on.
    mutating func interrupt()
    /// Goes on from another one as far as its settings are the same.
    /// - Parameter inputGoesOn: whether the filters of the axes go on as well.
    mutating func takeOver(_ old: Self, inputGoesOn: Bool)
    /// Writes, for every sample of a chunk, the axes that it is on for and what ``reading(_:at:)`` needs.
    mutating func process(_ chunk: DetectorChunk, _ result: DetectorResult)
    /// Reading at a sample at which it is on. Changes nothing: `mutating` keeps the compiler from copying it.
    mutating func reading(_ result: DetectorResult, at i: Int) -> DetectorReading
}

extension Detector {
    public var settlingTime: Double { 0 }
    public var blindSamples: Int { 0 }
    public mutating func reset() {}
    public mutating func interrupt() { reset() }
    public mutating func takeOver(_ old: Self, inputGoesOn: Bool) {}
}

/// The settings of a detector, below `detection.<name>`.
public protocol DetectorSettings: Sendable, Equatable {
    /// Its key in the settings and its name in messages.
    static var name: String { get }
    /// For people.
    static var title: String { get }
    /// Titles of the groups of settings in it, by their keys.
    static var sections: [(key: String, title: String)] { get }
    #if !hasFeature(Embedded)
    /// Its settings in the order of the file.
    static var fields: [DetectorField<Self>] { get }
    #endif
    /// Whether the summary, the event and the series carry what it compares with its threshold: a ratio of each signal.
    static var isRatio: Bool { get }

    /// The defaults.
    init()
    var enabled: Bool { get set }
    /// The signal that it looks at, where there is a choice.
    var chosenSignal: DetectorSignal? { get }
    /// Contradictions in these settings.
    var problems: [DetectorProblem] { get }
}

extension DetectorSettings {
    public static var sections: [(key: String, title: String)] { [] }
    public static var isRatio: Bool { false }
    public var chosenSignal: DetectorSignal? { nil }
    public var problems: [DetectorProblem] { [] }
}

/// A setting that does not fit the others of its detector.
public struct DetectorProblem: Sendable {
    /// Below the detector's name.
    public var key: String
    public var message: String
    public var got: Double
    public var allowed: String
}

/// Context that a detector is made for.
public struct DetectorContext: Sendable {
    /// Samples per second.
    public var rate: Double
    /// Thresholds of the RMS of x, y and z, m/s².
    public var thresholds: (x: Double, y: Double, z: Double)
    /// Where the RMS comes from; nil: nobody says it.
    public var levels: Levels?

    /// The stages before the RMS of the axes.
    public struct Levels: Sendable {
        /// Both at their start.
        public var offset: OffsetRemoval
        public var filter: AxisFilter
        /// Seconds that the slowest of the filters needs.
        public var settlingTime: Double
        /// Samples of the RMS.
        public var windows: (x: Int, y: Int, z: Int)

        public init(
            offset: OffsetRemoval, filter: AxisFilter, settlingTime: Double, windows: (x: Int, y: Int, z: Int)
        ) {
            (self.offset, self.filter, self.settlingTime, self.windows) = (offset, filter, settlingTime, windows)
        }
    }

    public init(rate: Double, thresholds: (x: Double, y: Double, z: Double), levels: Levels? = nil) {
        self.rate = rate
        self.thresholds = thresholds
        self.levels = levels
    }
}

/// A chunk of the station's signals; those of three axes are three planes, `stride` apart.
public struct DetectorChunk {
    public var count: Int
    public var stride: Int
    /// m/s².
    public var raw: UnsafePointer<Double>
    public var offsetRemoved: UnsafePointer<Double>
    public var filtered: UnsafePointer<Double>
    public var rms: UnsafePointer<Double>
    /// 1 where the RMS of the axis has been above its threshold for long enough, else 0.
    public var triggered: UnsafePointer<UInt8>
    /// At the sample after each spike its height, m/s², else 0 (``SpikeFinder``); nil: the chunk has none.
    public var spikes: UnsafePointer<Double>?
    /// Three planes for whatever the detector at work wants to write down.
    public var scratch: UnsafeMutablePointer<Double>
    /// The first sample whose numbers are to be trusted; before it no detector counts.
    public var validFrom: Int
    /// The same for the triggers of each axis, whose filters may have begun anew.
    public var axisValidFrom: (x: Int, y: Int, z: Int)

    public init(
        count: Int, stride: Int, raw: UnsafePointer<Double>, offsetRemoved: UnsafePointer<Double>,
        filtered: UnsafePointer<Double>, rms: UnsafePointer<Double>, triggered: UnsafePointer<UInt8>,
        spikes: UnsafePointer<Double>? = nil, scratch: UnsafeMutablePointer<Double>, validFrom: Int,
        axisValidFrom: (x: Int, y: Int, z: Int)
    ) {
        (self.count, self.stride) = (count, stride)
        (self.raw, self.offsetRemoved, self.filtered, self.rms) = (raw, offsetRemoved, filtered, rms)
        (self.triggered, self.spikes, self.scratch) = (triggered, spikes, scratch)
        (self.validFrom, self.axisValidFrom) = (validFrom, axisValidFrom)
    }
}

/// Where one detector writes what it found in a chunk.
public struct DetectorResult {
    /// Bits 0, 1, 2 for x, y, z; 0 where it is off.
    public var axes: UnsafeMutablePointer<UInt8>
    /// Three planes, `stride` apart, of the detector's own meaning; the ratios of one that has them, of x, y and z or in
    /// the first plane of its signal.
    public var values: UnsafeMutablePointer<Double>
    public var stride: Int
}

/// Reading of a detector at a sample at which it is on.
public struct DetectorReading: Sendable {
    /// Bits 0, 1, 2 for x, y, z.
    public var axes: UInt8
    /// Value that it compares with its threshold, in its unit.
    public var value: Double
    public var threshold: Double
    /// Movement, with its largest acceleration on each axis, m/s².
    public var movement: Movement?

    public struct Movement: Sendable {
        public var axis: Int
        public var isNegative: Bool
        public var peaks: (x: Double, y: Double, z: Double)
    }

    public init(axes: UInt8, value: Double, threshold: Double, movement: Movement? = nil) {
        (self.axes, self.value, self.threshold, self.movement) = (axes, value, threshold, movement)
    }
}
