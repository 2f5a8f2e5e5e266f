import Values

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

/// A second of acceleration as the sensors of OpenEEW send it and openeew-detection reads it: a JSON text that holds JSON,
/// an object with exactly eight members. (Its reader decodes twice, and takes another number of members for another sensor.)
public struct OpenEEWMessage: Sendable {
    /// Values of each axis in a message, and how many a second.
    public static let count = 32
    public static let rate = 31.25

    /// Late it would be a wrong alarm: sent once, and not kept.
    package static let delivery = Delivery(qos: 0, retain: false, content: .json, expiry: 60, priority: .trace)

    private var buffer = OutputBuffer()
    private let header: PublicationHeader
    private let (country, device): (String, String)

    /// - Parameters:
    ///   - country: letters and digits.
    ///   - device: letters, digits, `_` and `-`.
    public init(topic: String, country: String, device: String) {
        header = Self.delivery.header(topic: topic)
        (self.country, self.device) = (country, device)
    }

    /// - Parameters:
    ///   - values: m/s², all of x, then of y and of z.
    ///   - time: of the last ones, nanoseconds of UTC.
    public mutating func send(_ values: [Float], time: Int64, to sink: PublicationSink) {
        buffer.removeAll()
        buffer.append(#""{\"country_code\":\""#)
        buffer.write(country)
        buffer.append(#"\",\"device_id\":\""#)
        buffer.write(device)
        let names: [StaticString] = [#"\",\"x\":"#, #",\"y\":"#, #",\"z\":"#]
        for axis in 0..<3 {
            buffer.append(names[axis])
            for i in 0..<Self.count {
                buffer.append(UInt8(ascii: i == 0 ? "[" : ","))
                // In gal.
                (100 * values[axis * Self.count + i]).write(to: &buffer)
            }
            buffer.append(UInt8(ascii: "]"))
        }
        buffer.append(#",\"device_t\":"#)
        (Double(time) / 1e9).write(to: &buffer)
        buffer.append(#",\"cloud_t\":"#)
        (Double(time) / 1e9).write(to: &buffer)
        buffer.append(#",\"sr\":31.25}""#)
        buffer.withBytes { sink(header, $0) }
    }
}

// MARK: As others read it

/// `data/trace` of a station of any version, in JSON or CBOR (see ``InfoReading``).
public struct TraceBlockReading: Sendable {
    public let tree: Value
    /// Nanoseconds of UTC, of any year.
    public let time: Int64
    /// A finite number.
    public let rate: Double

    /// Nil: it has no time or no rate.
    public init?(_ tree: Value) {
        guard let time = tree["t"]?.anyTime, let rate = tree["rate_hz"]?.number else { return nil }
        (self.tree, self.time, self.rate) = (tree, time, rate)
    }

    /// A list of an axis, such as `raw` or `triggered` of `x`; nil: it has none.
    public func column(_ axis: String, _ signal: String) -> [Value]? { tree[axis]?[signal]?.list }
}
