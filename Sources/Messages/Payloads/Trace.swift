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

    func write(to writer: inout some ObjectWriter) {
        writer.key("rate_hz")
        writer.double(rate)
        writer.key("n")
        writer.int(count)
        writer.key("unit")
        writer.string(literal: "m/s^2")
        writer.key("gap")
        writer.bool(gap)
        writer.key("x")
        write(axis: 0, to: &writer)
        writer.key("y")
        write(axis: 1, to: &writer)
        writer.key("z")
        write(axis: 2, to: &writer)
    }

    private func write(axis: Int, to writer: inout some ObjectWriter) {
        writer.beginObject()
        if signals.contains(.raw) { write(.raw, "raw", axis, to: &writer) }
        if signals.contains(.filtered) { write(.filtered, "filtered", axis, to: &writer) }
        if signals.contains(.rms) { write(.rms, "rms", axis, to: &writer) }
        if signals.contains(.triggered) {
            writer.key("triggered")
            writer.beginArray(count: count)
            for i in 0..<count { writer.int(Int(triggers[axis * capacity + i])) }
            writer.endArray()
        }
        writer.endObject()
    }

    private func write(_ signal: Signal, _ name: StaticString, _ axis: Int, to writer: inout some ObjectWriter) {
        writer.key(name)
        writer.beginArray(count: count)
        let start = (axis * 3 + signal.rawValue) * capacity
        for i in start..<start + count { writer.float(Float(planes[i])) }
        writer.endArray()
    }
}
