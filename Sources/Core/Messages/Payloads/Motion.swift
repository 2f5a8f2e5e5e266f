/// A peak and the moment it was reached.
public struct Peak: Sendable, Equatable {
    public var value: Double
    /// Nanoseconds of UTC.
    public var t: Int64

    public init(value: Double = 0, t: Int64 = 0) {
        self.value = value
        self.t = t
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.number("value", value, unit: "m/s^2", "Largest acceleration, never negative.")
        f.time("t", t, "When it was reached.")
    }
}

/// One thing for each axis, for the horizontal vector and for the 3-D vector.
public struct Components<Element: Sendable & Equatable>: Sendable, Equatable {
    public var x: Element
    public var y: Element
    public var z: Element
    /// Horizontal vector, √(x² + y²).
    public var h: Element
    /// 3-D vector.
    public var v3: Element

    public init(x: Element, y: Element, z: Element, h: Element, v3: Element) {
        (self.x, self.y, self.z, self.h, self.v3) = (x, y, z, h, v3)
    }

    public init(_ all: Element) { (x, y, z, h, v3) = (all, all, all, all, all) }

    package func fields<Visitor: FieldVisitor>(_ f: inout Visitor, _ each: (Element, inout Visitor) -> Void) {
        f.object("x", x, "Axis x.", each)
        f.object("y", y, "Axis y.", each)
        f.object("z", z, "Axis z.", each)
        f.object("h", h, "Horizontal vector, √(x² + y²).", each)
        f.object("v3", v3, "3-D vector.", each)
    }
}

extension Components<Double> {
    /// Velocities.
    func velocityFields(_ f: inout some FieldVisitor) {
        f.number("x", x, unit: "m/s", "Axis x.")
        f.number("y", y, unit: "m/s", "Axis y.")
        f.number("z", z, unit: "m/s", "Axis z.")
        f.number("h", h, unit: "m/s", "Horizontal vector, √(x² + y²).")
        f.number("v3", v3, unit: "m/s", "3-D vector.")
    }
}

/// One thing for each axis.
public struct AxisValues<Element: Sendable & Equatable>: Sendable, Equatable {
    public var x: Element
    public var y: Element
    public var z: Element

    public init(x: Element, y: Element, z: Element) { (self.x, self.y, self.z) = (x, y, z) }

    public init(_ all: Element) { (x, y, z) = (all, all, all) }
}

extension AxisValues<Double> {
    /// Accelerations.
    package func fields(_ f: inout some FieldVisitor) {
        f.number("x", x, unit: "m/s^2", "Axis x.")
        f.number("y", y, unit: "m/s^2", "Axis y.")
        f.number("z", z, unit: "m/s^2", "Axis z.")
    }
}

extension AxisValues<String> {
    package func fields(_ f: inout some FieldVisitor) {
        f.text("x", x, "Axis x.")
        f.text("y", y, "Axis y.")
        f.text("z", z, "Axis z.")
    }
}

/// Which of the three axes, where a message lists some.
public struct AxisSet: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let x = AxisSet(rawValue: 1)
    public static let y = AxisSet(rawValue: 2)
    public static let z = AxisSet(rawValue: 4)

    package var names: [String] { Self.namesOfAll[Int(rawValue & 7)] }

    /// Names of each set, so that a message is written without an allocation.
    private static let namesOfAll: [[String]] = (0..<8).map { set in
        ["x", "y", "z"].enumerated().compactMap { set >> $0.offset & 1 == 1 ? $0.element : nil }
    }
}

/// Where the strongest motion pointed.
public struct Direction: Sendable, Equatable {
    /// Axis and sign of the largest acceleration.
    public enum Axis: String, Sendable, CaseIterable {
        case plusX = "+x", minusX = "-x", plusY = "+y", minusY = "-y", plusZ = "+z", minusZ = "-z"
    }
    public var azimuthDeg: Double
    public var axis: Axis
    public var incidenceDeg: Double?
    public var rectilinearity: Double?

    public init(azimuthDeg: Double, axis: Axis, incidenceDeg: Double? = nil, rectilinearity: Double? = nil) {
        self.azimuthDeg = azimuthDeg
        self.axis = axis
        self.incidenceDeg = incidenceDeg
        self.rectilinearity = rectilinearity
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.number(
            "azimuth_deg", azimuthDeg, unit: "deg",
            "Direction of the horizontal motion, clockwise from the station's north, 0 to 360.")
        f.choice("axis", axis, "Axis and sign of the largest acceleration.")
        f.number(
            "incidence_deg", incidenceDeg, unit: "deg",
            "Angle of the motion from the upward vertical, 0 to 180; left out without polarisation.")
        f.number(
            "rectilinearity", rectilinearity, unit: "1",
            "1 for motion on a line, 0.5 on a circle, 0 for motion alike in all directions.")
    }
}

/// Seismic intensity on one scale by one relation.
public struct IntensityValue: Sendable, Equatable {
    public var scale: String
    public var relation: String
    public var value: Double
    public var roman: String?
    public var grade: String?
    public var color: String?
    public var fromPGA: Double?
    public var fromPGV: Double?
    public var sigma: Double?
    public var raw: Double?
    /// Seconds that it is of; nil: of the whole event.
    public var window: Double?

    public init(
        scale: String, relation: String, value: Double, roman: String? = nil, grade: String? = nil,
        color: String? = nil, fromPGA: Double? = nil, fromPGV: Double? = nil, sigma: Double? = nil, raw: Double? = nil
    ) {
        self.scale = scale
        self.relation = relation
        self.value = value
        self.roman = roman
        self.grade = grade
        self.color = color
        self.sigma = sigma
        self.raw = raw
        self.fromPGA = fromPGA
        self.fromPGV = fromPGV
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.text("scale", scale, "Scale: `mmi`, `mcs`, `jma` or `cwa`.")
        f.text("relation", relation, "Relation, as in `intensity.scales` of the settings, such as `worden12`.")
        f.number("value", value, unit: "1", "Intensity.")
        f.text("roman", roman, "Roman numeral of the step, for scales that have them.")
        f.text("grade", grade, "Name of the step, for scales with other names, such as `5-`.")
        f.text("color", color, "Colour of the step as `#rrggbb`, for scales with colours.")
        f.number("from_pga", fromPGA, unit: "1", "Intensity from peak acceleration alone, where the relation has both.")
        f.number("from_pgv", fromPGV, unit: "1", "Intensity from peak velocity alone, where the relation has both.")
        f.number("sigma", sigma, unit: "1", "Standard deviation of the relation, where one has been published.")
        f.number("raw", raw, unit: "1", "Intensity before rounding, where the definition of the scale rounds.")
        f.number("window_s", window, unit: "s", "Seconds that it is of; left out where it is of the whole event.")
    }
}

extension FieldVisitor {
    @inline(__always)
    mutating func intensities(_ values: [IntensityValue]) {
        objects(
            "intensity", values, blank: IntensityValue(scale: "", relation: "", value: 0),
            "Seismic intensity, one object for each relation of `intensity.scales`, in its order."
        ) { $0.fields(&$1) }
        flatIntensities(values)
    }

    /// The same numbers for readers that cannot search a list.
    @inline(__always)
    mutating func flatIntensities(_ values: [IntensityValue]) {
        number(
            "mmi", values.value(of: "mmi"), unit: "1",
            "Modified Mercalli intensity by the first relation of that scale; left out without one.")
        number("jma", values.value(of: "jma"), unit: "1", "JMA intensity; left out where it is not computed.")
    }
}

extension [IntensityValue] {
    /// By the first relation of a scale.
    fileprivate func value(of scale: String) -> Double? { first { $0.scale == scale }?.value }
}

/// A detector's ratio of each signal that it looks at.
public struct RatioValues: Sendable, Equatable {
    public var x: Double?
    public var y: Double?
    public var z: Double?
    public var h: Double?
    public var v3: Double?

    public init(x: Double? = nil, y: Double? = nil, z: Double? = nil, h: Double? = nil, v3: Double? = nil) {
        (self.x, self.y, self.z, self.h, self.v3) = (x, y, z, h, v3)
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.number("x", x, unit: "1", "Axis x.")
        f.number("y", y, unit: "1", "Axis y.")
        f.number("z", z, unit: "1", "Axis z.")
        f.number("h", h, unit: "1", "Horizontal vector.")
        f.number("v3", v3, unit: "1", "3-D vector.")
    }
}

/// The ratios of one detector.
public struct DetectorRatios: Sendable, Equatable {
    /// The detector's name, which is the key of its ratios in a summary, and with `_max` in an event.
    public var name: String
    public var values: RatioValues

    public init(_ name: String, _ values: RatioValues) {
        self.name = name
        self.values = values
    }
}

/// The strongest frequency of a window.
public struct SpectrumPeak: Sendable, Equatable {
    public var dominantHz: Double
    public var peak: Double

    public init(dominantHz: Double, peak: Double) {
        self.dominantHz = dominantHz
        self.peak = peak
    }

    package func fields(_ f: inout some FieldVisitor) {
        f.number("dominant_hz", dominantHz, unit: "Hz", "Strongest frequency of the window.")
        f.number("peak", peak, unit: "m/s^2", "Amplitude of a sine that would give the spectrum's largest value.")
    }
}
