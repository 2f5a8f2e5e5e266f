import Values

/// Result of the command `history`: the levels of the past, step by step.
public struct LevelColumns: Sendable {
    /// Levels of one axis, m/s²; NaN where nothing is known.
    public struct Axis: Sendable {
        public var least: [Double]
        public var most: [Double]
        public var rms: [Double]
        public init(count: Int = 0) {
            least = [Double](repeating: .nan, count: count)
            (most, rms) = (least, least)
        }
    }

    /// Begin of the first step, nanoseconds of UTC.
    public var from: Int64
    /// Seconds.
    public var step: Int
    public var axes: [Axis]
    /// From when on the samples themselves were looked at (ns of UTC); nil: none were.
    public var ring: Int64?
    /// Begin of the first step that has no room in the message (ns of UTC); nil: these are all.
    public var next: Int64?

    public init(from: Int64, step: Int, count: Int) {
        (self.from, self.step) = (from, step)
        axes = [Axis](repeating: Axis(count: count), count: 3)
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.time("from", from, "Begin of the first step.")
        f.integer("step_s", step, unit: "s", "Length of a step.")
        f.integer("n", axes[0].least.count, "Steps.")
        f.text("unit", "m/s^2", "Unit of the columns.")
        f.time("ring_from", ring, "From when on the columns are made of the samples; before, of minutes.")
        f.time("next", next, "Where the rest begins, when a message cannot have all of it.")
        f.object("x", axes[0], "Axis x.") { $0.fields(&$1) }
        f.object("y", axes[1], "Axis y.") { $0.fields(&$1) }
        f.object("z", axes[2], "Axis z.") { $0.fields(&$1) }
    }

    /// The object in one of the two encodings.
    public func result(cbor: Bool) -> ReplyResult {
        ReplyResult(asCBOR: cbor, json: { fields(&$0) }, cbor: { fields(&$0) })
    }
}

extension LevelColumns.Axis {
    package func fields(_ f: inout some FieldVisitor) {
        f.visit(Field("min", "Smallest acceleration, gravity included.", unit: "m/s^2"), least[...])
        f.visit(Field("max", "Largest acceleration, gravity included.", unit: "m/s^2"), most[...])
        f.visit(Field("rms", "Root mean square about the mean of the step.", unit: "m/s^2"), rms[...])
    }
}

/// An object that is written already, because as a tree it would take much memory.
public struct ReplyResult: Sendable, Equatable {
    public var bytes: [UInt8]
    public var isCBOR: Bool
    /// Part of what is stored could not be read.
    public var isIncomplete = false

    public init(bytes: [UInt8], isCBOR: Bool = false) { (self.bytes, self.isCBOR) = (bytes, isCBOR) }

    /// An object in one of the two encodings. Two closures instead of a protocol: the requirement `fields` of a protocol would
    /// need its generic form in the program, and with it the help texts of all fields.
    /// - Parameters:
    ///   - isSingle: numbers of JSON have the digits of 32 bits, as in the message that says the same live.
    ///   - json: writes the fields as JSON.
    ///   - cbor: writes the fields as CBOR.
    init(
        asCBOR: Bool, isSingle: Bool = false, json: (inout JSONWriter) -> Void, cbor: (inout CBORWriter) -> Void
    ) {
        guard asCBOR else {
            var writer = JSONWriter()
            writer.isSingle = isSingle
            writer.beginObject()
            json(&writer)
            writer.endObject()
            self.init(bytes: writer.bytes)
            return
        }
        var writer = CBORWriter()
        writer.beginObject()
        cbor(&writer)
        writer.endObject()
        self.init(bytes: writer.withBytes { Array($0) }, isCBOR: true)
    }

    /// The result with as many items as there is room for, but one at least.
    /// - Parameters:
    ///   - count: items that there are.
    ///   - room: bytes that the result may have; nil: any number.
    ///   - make: the result with the first so many items.
    package static func fitting(_ count: Int, room: Int?, _ make: (Int) -> ReplyResult) -> ReplyResult {
        var count = count
        while true {
            let made = make(count)
            guard let room, made.bytes.count > room, count > 1 else { return made }
            count = max(1, min(count - 1, count * max(0, room) / made.bytes.count))
        }
    }

    /// The events of a reply, each as it was published.
    /// - Parameter next: what to ask for to get the next ones; nil: these are the last.
    public init(events: [[UInt8]], matches: Int, next: Int64?) {
        let head: Value = ["matches": .int(Int64(matches)), "next": next.map { .int($0) } ?? .null]
        var writer = JSONWriter()
        writer.beginArray()
        for event in events { event.withUnsafeBytes { writer.raw($0) } }
        writer.endArray()
        self.init(
            bytes: [UInt8](head.json().dropLast()) + Array(",\"events\":".utf8) + writer.bytes + [UInt8(ascii: "}")])
    }
}

/// Result of the command `history` for natural modes: periods of the past.
public struct ModesColumns: Sendable, Equatable {
    /// Periods in one reply at most: a month of hours.
    public static let most = 800

    /// In order of time.
    public var periods: [ModesMessage]
    /// From when on there are more (ns of UTC); nil: these are all.
    public var next: Int64?

    public init(_ periods: [ModesMessage] = [], next: Int64? = nil) { (self.periods, self.next) = (periods, next) }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("kind", "modes", "What was asked for.")
        f.integer("n", periods.count, "Periods.")
        f.time("next", next, "From when on there are more, of which this reply has no room.")
        f.visit(Field("periods", "As in `data/modes`, in order of time."), periods, blank: { ModesMessage() }) {
            $0.fields(&$1)
        }
    }

    /// The object in one of the two encodings.
    public func result(cbor: Bool) -> ReplyResult {
        ReplyResult(asCBOR: cbor, isSingle: true, json: { fields(&$0) }, cbor: { fields(&$0) })
    }

    /// Reads a reply; nil: it is none.
    public init?(_ result: Value) {
        guard result["kind"] == "modes", case .array(let all)? = result["periods"], all.count <= Self.most else {
            return nil
        }
        let periods = all.compactMap { ModesMessage($0) }
        guard periods.count == all.count else { return nil }
        self.init(periods, next: result["next"]?.anyTime)
    }
}
