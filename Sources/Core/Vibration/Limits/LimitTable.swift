/// Limits of one table of a standard: data; see ``all``.
public struct LimitTable: Sendable, Equatable {
    /// Quantity that is compared with a limit.
    public enum Measure: String, Sendable, Equatable {
        /// Peak velocity of an axis with its frequency, mm/s.
        case ppv
        /// Largest vector sum of the velocities, mm/s, with the frequency of the largest axis.
        case pvs
        /// Root mean square of the velocity, mm/s.
        case rms
        /// Vibration dose value of the day or night so far, m/s^1.75.
        case vdv
    }

    /// Which axes a row is for.
    public enum Axes: Sendable, Equatable {
        case all, horizontal, vertical

        /// x, y and z are 0, 1 and 2.
        public func contains(_ axis: Int) -> Bool { self == .all || (self == .vertical) == (axis == 2) }
    }

    /// A line of the table at one place.
    public struct Row: Sendable, Equatable {
        /// Kind of building or machine, such as `dwellings`.
        public var line: String
        /// Where the sensor is, such as `foundation`; or the boundary, of a table that has several.
        public var place: String
        public var axes = Axes.all
        public var curve: LimitCurve
    }

    /// In the settings, such as `din4150-3`.
    public var name: String
    public var standard: String
    public var edition: String
    /// Its number there.
    public var table: String
    /// The rule below and above the frequencies of the table, by this edition where it says so.
    public var ends: String
    public var title: String
    /// How sure it is that these numbers are those of the standard, 0 to 1: none of them could be compared with the paper.
    var confidence: Double
    public var measure: Measure
    /// Factor of the limit by night.
    public var nightFactor = 1.0
    public var rows: [Row]

    /// All tables.
    public static let all: [LimitTable] = [
        .din4150ShortTerm, .din4150LongTerm, .bs7385, .usbm, .sn640312, .bs6472, .iso20816,
    ]
}

/// A limit over frequency.
public struct LimitCurve: Sendable, Equatable {
    public enum Shape: Sendable, Equatable {
        /// From one value to another, linear in frequency.
        case line(Double, Double)
        /// The velocity of a sine of this displacement, mm.
        case displacement(Double)
    }

    /// A stretch of frequencies, Hz.
    public struct Part: Sendable, Equatable {
        public var from: Double
        public var to: Double
        public var shape: Shape

        func value(at f: Double) -> Double {
            switch shape {
            case .line(let low, let high): to == from ? low : low + (high - low) * (f - from) / (to - from)
            case .displacement(let d): 2 * Double.pi * f * d
            }
        }
    }

    /// Rising, without a hole; empty: ``constant`` at any frequency.
    public var parts: [Part]
    private var constant: Double

    /// One value at any frequency.
    public static func flat(_ value: Double) -> LimitCurve { LimitCurve(parts: [], constant: value) }

    /// From part to part.
    public static func over(_ parts: [(from: Double, to: Double, shape: Shape)]) -> LimitCurve {
        LimitCurve(parts: parts.map { Part(from: $0.from, to: $0.to, shape: $0.shape) }, constant: .infinity)
    }

    /// The limit at a frequency in Hz; the strictest of the table where it is not known. Outside of the table's frequencies a
    /// velocity goes on as it is at the table's end, a displacement as a displacement.
    public func value(at frequency: Double?) -> Double {
        guard let frequency, let first = parts.first, let last = parts.last else { return strictest }
        if frequency > last.to { return Self.beyond(last, at: frequency, end: last.to) }
        if frequency < first.from { return Self.beyond(first, at: max(frequency, Self.lowest), end: first.from) }
        return parts.first { frequency <= $0.to }?.value(at: frequency) ?? strictest
    }

    /// A displacement is no limit of a velocity at 0 Hz.
    private static let lowest = 0.1

    /// Frequencies (Hz) between which a limit is a straight line.
    var breaks: [Double] { parts.isEmpty ? [] : [Self.lowest] + parts.flatMap { [$0.from, $0.to] } }

    private static func beyond(_ part: Part, at frequency: Double, end: Double) -> Double {
        switch part.shape {
        case .line: part.value(at: end)
        case .displacement: part.value(at: frequency)
        }
    }

    public var strictest: Double {
        parts.reduce(constant) { min($0, $1.value(at: $1.from), $1.value(at: $1.to)) }
    }

    /// All values many times over.
    public func times(_ factor: Double) -> LimitCurve {
        var all = self
        all.constant *= factor
        for k in parts.indices {
            switch parts[k].shape {
            case .line(let low, let high): all.parts[k].shape = .line(factor * low, factor * high)
            case .displacement(let d): all.parts[k].shape = .displacement(factor * d)
            }
        }
        return all
    }
}
