/// Which signals a trace block carries.
public struct TraceSignals: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let raw = TraceSignals(rawValue: 1)
    public static let filtered = TraceSignals(rawValue: 2)
    public static let rms = TraceSignals(rawValue: 4)
    public static let triggered = TraceSignals(rawValue: 8)
    public static let all: TraceSignals = [.raw, .filtered, .rms, .triggered]
}

/// One block of decimated traces (`data/trace`). Its owner makes it once and fills it again and again; neither filling
/// nor sending it touches the heap.
public struct TraceBlock: Sendable {
    public enum Signal: Int, Sendable, CaseIterable { case raw, filtered, rms }

    /// Samples per second.
    public var rate: Double
    /// True when samples are missing before this block.
    public var gap = false
    public let signals: TraceSignals
    /// Samples per trace that fit.
    public let capacity: Int
    /// Samples per trace now.
    public private(set) var count = 0

    private var planes: [Double]
    private var triggers: [UInt8]

    /// An empty block for at least one sample per trace.
    public init(capacity: Int, rate: Double, signals: TraceSignals = .all) {
        self.capacity = max(1, capacity)
        self.rate = rate
        self.signals = signals
        planes = [Double](repeating: 0, count: 9 * self.capacity)
        triggers = [UInt8](repeating: 0, count: 3 * self.capacity)
    }

    public var isFull: Bool { count == capacity }

    /// Takes all samples away and clears the gap mark; the memory stays.
    public mutating func removeAll() {
        count = 0
        gap = false
    }

    /// Adds one sample of some signals: x, y and z of the first, of the second and so on, and which axes were triggered
    /// at it or since the last one (bits 0, 1, 2). Ignored when full.
    public mutating func append(_ signals: [Signal], _ values: UnsafePointer<Double>, triggered: UInt8) {
        guard count < capacity else { return }
        let (capacity, place) = (capacity, count)
        planes.withUnsafeMutableBufferPointer { planes in
            var value = values
            for signal in signals {
                for axis in 0..<3 { planes[(axis * 3 + signal.rawValue) * capacity + place] = value[axis] }
                value += 3
            }
        }
        triggers[place] = triggered & 1
        triggers[capacity + place] = triggered >> 1 & 1
        triggers[2 * capacity + place] = triggered >> 2 & 1
        count += 1
    }

    /// m/s²; axis 0, 1, 2 is x, y, z.
    public func value(_ signal: Signal, axis: Int, at index: Int) -> Double {
        planes[(axis * 3 + signal.rawValue) * capacity + index]
    }

    public func isTriggered(axis: Int, at index: Int) -> Bool { triggers[axis * capacity + index] != 0 }

    package func fields(_ f: inout some FieldVisitor) {
        f.number("rate_hz", rate, unit: "Hz", "Samples per second.")
        f.integer("n", count, "Samples in each column.")
        f.text("unit", "m/s^2", "Unit of the samples.")
        f.flag("gap", gap, "Whether samples are missing before this block.")
        f.object("x", 0, "Axis x.") { axisFields($0, &$1) }
        f.object("y", 1, "Axis y.") { axisFields($0, &$1) }
        f.object("z", 2, "Axis z.") { axisFields($0, &$1) }
    }

    private func axisFields(_ axis: Int, _ f: inout some FieldVisitor) {
        func column(_ signal: Signal) -> ArraySlice<Double> {
            let start = (axis * 3 + signal.rawValue) * capacity
            return planes[start..<start + count]
        }
        if signals.contains(.raw) {
            f.visit(
                Field("raw", "The sensor's samples, gravity included.", .optional, unit: "m/s^2"), column(.raw))
        }
        if signals.contains(.filtered) {
            f.visit(
                Field("filtered", "After the offset removal and the filter of the axis.", .optional, unit: "m/s^2"),
                column(.filtered))
        }
        if signals.contains(.rms) {
            f.visit(
                Field("rms", "Root mean square over the window of the axis.", .optional, unit: "m/s^2"), column(.rms))
        }
        if signals.contains(.triggered) {
            f.visit(
                Field("triggered", "1 where the axis was triggered at the sample or since the one before.", .optional),
                triggers[axis * capacity..<axis * capacity + count])
        }
    }
}
