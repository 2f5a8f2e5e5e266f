import Values
import Vibration

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

/// Reply of the command `history` of kind `vibration`: intervals of the past, all measured in the same way.
public struct VibrationColumns: Sendable, Equatable {
    /// Intervals in one reply at most.
    public static let most = 2000
    /// Seconds that the intervals of a reply may span: columns are 32-bit floats, which have whole seconds up to here.
    public static let span = 16_000_000.0

    /// In order of time, like each other; see ``VibrationRecord/isLike(_:)``.
    public var records: [VibrationRecord]
    /// From when on there may be more (ns of UTC); nil: these are all.
    public var next: Int64?

    /// The limit that the station is set to now; nil: none, or none of peak velocities.
    public var limit: VibrationLimit?

    public init(_ records: [VibrationRecord] = [], next: Int64? = nil) {
        (self.records, self.next) = (records, next)
    }

    /// A limit over frequency, for those who draw it.
    private struct Curve {
        var name = ""
        /// Hz and mm/s.
        var frequencies: [Double] = []
        var values: [Double] = []

        init() {}

        init?(_ limit: VibrationLimit?) {
            guard let limit, limit.table.measure == .ppv || limit.table.measure == .pvs else { return nil }
            name = limit.name
            let parts = limit.row.curve.parts
            // (A few points in each part: a straight line in one scale is none in another.)
            frequencies =
                parts.isEmpty
                ? [1, 1000]
                : parts.flatMap { part in (0...8).map { part.from + (part.to - part.from) * Double($0) / 8 } }
            values = frequencies.map { limit.row.curve.value(at: $0) }
        }

        func fields(_ f: inout some FieldVisitor) {
            f.text("name", name, "Table, line and place.")
            f.visit(Field("hz", "Frequencies, rising.", unit: "Hz"), frequencies[...])
            f.visit(Field("value", "The limit at each.", unit: "mm/s"), values[...])
        }
    }

    /// Begin of the first interval, nanoseconds of UTC.
    private var from: Int64 { records.first?.start ?? 0 }
    private var first: VibrationRecord { records.first ?? VibrationRecord() }

    private func column(_ value: (VibrationRecord) -> Double) -> ArraySlice<Double> { records.map(value)[...] }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("kind", "vibration", "What was asked for.")
        f.integer("n", records.count, "Intervals.")
        f.time("from", from, "Begin of the first interval.")
        f.integer("interval_s", first.length, unit: "s", "Length of each.")
        f.object("band", first, "The band of the velocity.") {
            $1.number("lower_hz", $0.lower, unit: "Hz", "Lower corner.")
            $1.number("upper_hz", $0.upper, unit: "Hz", "Upper corner.")
        }
        f.time(
            "next", next,
            "From when on there are more, of which this reply has no room or which were measured in another way.")
        f.object(
            "limit", Curve(limit), blank: Curve(),
            "The limit that the station is set to now, where it is one of peak velocities."
        ) { $0.fields(&$1) }
        f.visit(
            Field("start_s", "Begin of each interval after that of the first.", unit: "s"),
            column { [from] in Double($0.start &- from) / 1e9 })
        f.visit(Field("seconds", "How much of it was measured.", unit: "s"), column(\.seconds))
        f.visit(Field("gaps", "Gaps in it.", unit: "1"), column { Double($0.gaps) })
        f.visit(
            Field(
                "interrupted",
                "Why it is not whole, or what is beside it: the sum of 1 for `start` of measuring, 2 for `gap`, 4 for `change`, 8 for `stop`.",
                unit: "1"), column { Double($0.interruptions.rawValue) })
        f.visit(Field("pvs", "Largest vector sum of the three velocities.", unit: "mm/s"), column(\.pvs))
        f.visit(
            Field("pvs_s", "When it was reached, after the begin of the interval; null of old ones.", unit: "s"),
            column { $0.pvsPeak ?? .nan })
        f.object(
            "half_cycles", self,
            "Half cycles of the velocity that are nearest to the limits of the standards, beside `ppv`: what is needed to compare an interval with any limit. Old intervals have none."
        ) { $0.halfCycleFields(&$1) }
        f.object("x", (self, 0), "Axis x.") { $0.0.axisFields($0.1, &$1) }
        f.object("y", (self, 1), "Axis y.") { $0.0.axisFields($0.1, &$1) }
        f.object("z", (self, 2), "Axis z.") { $0.0.axisFields($0.1, &$1) }
    }

    /// Half cycles of all intervals, with the number of theirs.
    private var halfCycles: [(interval: Int, cycle: VibrationInterval.HalfCycle)] {
        records.enumerated().flatMap { number, record in record.halfCycles.map { (number, $0) } }
    }

    private func halfCycleFields(_ f: inout some FieldVisitor) {
        let all = halfCycles
        func column(_ value: (Int, VibrationInterval.HalfCycle) -> Double) -> ArraySlice<Double> {
            all.map { value($0.interval, $0.cycle) }[...]
        }
        f.visit(
            Field("interval", "Number of the interval, from 0 on.", unit: "1"), column { number, _ in Double(number) })
        f.visit(
            Field("axis", "0, 1 and 2 are x, y and z, 3 is the vector sum.", unit: "1"),
            column { Double($1.axis ?? 3) })
        f.visit(Field("value", "Largest velocity.", unit: "mm/s"), column { $1.value })
        f.visit(
            Field("peak_s", "When it was reached, after the begin of the interval.", unit: "s"),
            column { Double($1.time &- records[$0].start) / 1e9 })
        f.visit(
            Field("frequency_hz", "Frequency; null where it is not known.", unit: "Hz"),
            column { $1.frequency ?? .nan })
    }

    private func axisFields(_ k: Int, _ f: inout some FieldVisitor) {
        func column(_ value: (VibrationRecord.Axis) -> Double) -> ArraySlice<Double> {
            records.map { value($0.axes[k]) }[...]
        }
        f.text("weighting", first.axes[k].weighting, "Frequency weighting for people.")
        f.visit(Field("ppv", "Peak particle velocity.", unit: "mm/s"), column(\.ppv))
        f.visit(Field("peak_s", "When it was reached, after the begin of the interval.", unit: "s"), column(\.peak))
        f.visit(
            Field("frequency_hz", "Frequency of the peak; null without one.", unit: "Hz"),
            column { $0.frequency ?? .nan })
        f.visit(Field("rms", "Root mean square of the velocity.", unit: "mm/s"), column(\.rms))
        f.visit(
            Field("displacement", "Largest displacement in the band; null of old ones.", unit: "mm"),
            column { $0.displacement ?? .nan })
        f.visit(
            Field("acceleration", "Largest acceleration in the band; null of old ones.", unit: "m/s^2"),
            column { $0.acceleration ?? .nan })
        f.visit(Field("kb_fmax", "Largest weighted strength KB_F (DIN 4150-2).", unit: "1"), column(\.kbFmax))
        f.visit(Field("kb_ftm", "Its takt mean value KB_FTm.", unit: "1"), column(\.kbFTm))
        f.visit(
            Field("aw_rms", "Root mean square of the weighted acceleration.", unit: "m/s^2"), column(\.weightedRMS))
        f.visit(Field("vdv", "Vibration dose value of the interval.", unit: "m/s^1.75"), column(\.dose))
        f.visit(
            Field("floor", "The sensor's noise in `ppv`; null while not known.", unit: "mm/s"),
            column { $0.floor ?? .nan })
    }

    /// The object in one of the two encodings.
    public func result(cbor: Bool) -> ReplyResult {
        ReplyResult(asCBOR: cbor, json: { fields(&$0) }, cbor: { fields(&$0) })
    }

    /// Reads a reply; nil: it is none of this kind.
    public init?(_ result: Value) {
        guard result["kind"] == "vibration", let count = result["n"]?.whole, (0...Self.most).contains(count),
            let from = result["from"]?.anyTime,
            let length = result["interval_s"]?.whole, VibrationRecord.lengths.contains(length)
        else { return nil }
        func column(_ object: Value?, _ name: String) -> [Double?]? {
            guard case .array(let all)? = object?[name], all.count == count else { return nil }
            return all.map(\.number)
        }
        guard let starts = column(result, "start_s"), let seconds = column(result, "seconds"),
            let gaps = column(result, "gaps"), let sums = column(result, "pvs")
        else { return nil }
        // (Earlier stations have no such columns.)
        let (times, reasons) = (column(result, "pvs_s"), column(result, "interrupted"))
        records = (0..<count).map { i in
            var record = VibrationRecord()
            record.start = from &+ Int64((min(max(starts[i] ?? 0, 0), Self.span)).rounded()) &* 1_000_000_000
            (record.length, record.seconds) = (length, seconds[i] ?? 0)
            record.gaps = Int(min(max(gaps[i] ?? 0, 0), 65_535))
            record.pvs = sums[i] ?? 0
            record.pvsPeak = times?[i]
            record.interruptions = .init(rawValue: UInt8(min(max(reasons?[i] ?? 0, 0), 15)))
            record.lower = result["band"]?["lower_hz"]?.number ?? 0
            record.upper = result["band"]?["upper_hz"]?.number ?? 0
            return record
        }
        for (k, name) in VibrationRecord.axisNames.enumerated() {
            let object = result[name]
            guard let ppv = column(object, "ppv"), let peak = column(object, "peak_s"),
                let frequency = column(object, "frequency_hz"), let rms = column(object, "rms"),
                let kbFmax = column(object, "kb_fmax"), let kbFTm = column(object, "kb_ftm"),
                let weighted = column(object, "aw_rms"), let dose = column(object, "vdv"),
                let floor = column(object, "floor")
            else { return nil }
            let (displacement, acceleration) = (column(object, "displacement"), column(object, "acceleration"))
            for i in 0..<count {
                var axis = VibrationRecord.Axis()
                (axis.ppv, axis.peak, axis.frequency) = (ppv[i] ?? 0, peak[i] ?? 0, frequency[i])
                (axis.rms, axis.kbFmax, axis.kbFTm) = (rms[i] ?? 0, kbFmax[i] ?? 0, kbFTm[i] ?? 0)
                (axis.weightedRMS, axis.dose, axis.floor) = (weighted[i] ?? 0, dose[i] ?? 0, floor[i])
                (axis.displacement, axis.acceleration) = (displacement?[i], acceleration?[i])
                axis.weighting = object?["weighting"]?.rawText ?? ""
                records[i].axes[k] = axis
            }
        }
        next = result["next"]?.anyTime
        takeHalfCycles(result["half_cycles"])
    }

    /// (Earlier stations tell none.)
    private mutating func takeHalfCycles(_ object: Value?) {
        guard case .array(let numbers)? = object?["interval"] else { return }
        func column(_ name: String) -> [Double?] {
            guard case .array(let all)? = object?[name], all.count == numbers.count else { return [] }
            return all.map(\.number)
        }
        let (axes, values, peaks) = (column("axis"), column("value"), column("peak_s"))
        let frequencies = column("frequency_hz")
        guard [axes, values, peaks, frequencies].allSatisfy({ $0.count == numbers.count }) else { return }
        for (i, number) in numbers.enumerated() {
            guard let k = number.whole, records.indices.contains(k), let axis = axes[i], (0...3).contains(axis),
                let value = values[i], records[k].halfCycles.count < VibrationInterval.mostHalfCycles
            else { continue }
            let seconds = min(max(peaks[i] ?? 0, 0), Double(records[k].length))
            records[k].halfCycles.append(
                .init(
                    axis: axis == 3 ? nil : Int(axis), value: value,
                    time: records[k].start &+ Int64((seconds * 1e9).rounded()), frequency: frequencies[i]))
        }
    }
}
