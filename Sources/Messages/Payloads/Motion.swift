/// A peak and the moment it was reached.
public struct Peak: Sendable, Equatable {
    /// m/s², never negative.
    public var value: Double
    /// Nanoseconds of UTC.
    public var t: Int64

    public init(value: Double = 0, t: Int64 = 0) {
        self.value = value
        self.t = t
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("value")
        json.double(value)
        json.key("t")
        json.time(t)
        json.endObject()
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
}

/// One thing for each axis.
public struct AxisValues<Element: Sendable & Equatable>: Sendable, Equatable {
    public var x: Element
    public var y: Element
    public var z: Element

    public init(x: Element, y: Element, z: Element) { (self.x, self.y, self.z) = (x, y, z) }

    public init(_ all: Element) { (x, y, z) = (all, all, all) }
}

/// Which of the three axes, where a message lists some.
public struct AxisSet: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let x = AxisSet(rawValue: 1)
    public static let y = AxisSet(rawValue: 2)
    public static let z = AxisSet(rawValue: 4)

    func write(to json: inout JSONWriter) {
        json.beginArray()
        if contains(.x) { json.string(literal: "x") }
        if contains(.y) { json.string(literal: "y") }
        if contains(.z) { json.string(literal: "z") }
        json.endArray()
    }
}

/// Where the strongest motion pointed.
public struct Direction: Sendable, Equatable {
    /// Axis and sign of the largest acceleration.
    public enum Axis: String, Sendable, CaseIterable {
        case plusX = "+x", minusX = "-x", plusY = "+y", minusY = "-y", plusZ = "+z", minusZ = "-z"
    }
    /// Bearing of the horizontal motion in degrees clockwise from the station's north, [0, 360).
    public var azimuthDeg: Double
    public var axis: Axis
    /// Angle of the motion from the upward vertical in degrees, [0, 180]; nil where there is no polarisation.
    public var incidenceDeg: Double?
    /// 1 for motion on a line, 0.5 on a circle, 0 in all directions alike.
    public var rectilinearity: Double?

    public init(azimuthDeg: Double, axis: Axis, incidenceDeg: Double? = nil, rectilinearity: Double? = nil) {
        self.azimuthDeg = azimuthDeg
        self.axis = axis
        self.incidenceDeg = incidenceDeg
        self.rectilinearity = rectilinearity
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("azimuth_deg")
        json.double(azimuthDeg)
        json.key("axis")
        json.string(axis.rawValue)
        json.optional("incidence_deg", incidenceDeg)
        json.optional("rectilinearity", rectilinearity)
        json.endObject()
    }
}

/// Seismic intensity on one scale by one relation.
public struct IntensityValue: Sendable, Equatable {
    /// `mmi`, `jma`, `cwa`.
    public var scale: String
    /// Key of the relation in the settings, such as `worden12`.
    public var relation: String
    public var value: Double
    /// Roman numeral of the scale's step; nil where the scale has none.
    public var roman: String?
    /// Name of the scale's step where that is not a Roman numeral, such as `5-`.
    public var grade: String?
    /// `#rrggbb`; nil where the scale has no colours.
    public var color: String?
    /// The value from peak acceleration alone and from peak velocity alone, where the relation has both.
    public var fromPGA: Double?
    public var fromPGV: Double?
    /// Standard deviation of the relation in the scale's steps, where one has been published.
    public var sigma: Double?
    /// The value before it was rounded, where the scale's definition rounds.
    public var raw: Double?

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

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.key("scale")
        json.string(scale)
        json.key("relation")
        json.string(relation)
        json.key("value")
        json.double(value)
        json.optional("roman", roman)
        json.optional("grade", grade)
        json.optional("color", color)
        json.optional("from_pga", fromPGA)
        json.optional("from_pgv", fromPGV)
        json.optional("sigma", sigma)
        json.optional("raw", raw)
        json.endObject()
    }

    static func write(_ list: [IntensityValue], to json: inout JSONWriter) {
        json.key("intensity")
        json.beginArray()
        for value in list { value.write(to: &json) }
        json.endArray()
    }
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

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.optional("x", x)
        json.optional("y", y)
        json.optional("z", z)
        json.optional("h", h)
        json.optional("v3", v3)
        json.endObject()
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
    /// Amplitude there in m/s².
    public var peak: Double

    public init(dominantHz: Double, peak: Double) {
        self.dominantHz = dominantHz
        self.peak = peak
    }
}

extension JSONWriter {
    /// A member that is left out when there is no value.
    mutating func optional(_ name: StaticString, _ value: String?) {
        guard let value else { return }
        key(name)
        string(value)
    }

    /// A member with one number for each axis.
    mutating func axes(_ name: StaticString, _ values: AxisValues<Double>) {
        key(name)
        beginObject()
        optional("x", values.x)
        optional("y", values.y)
        optional("z", values.z)
        endObject()
    }

    /// A member that is a list of strings.
    mutating func list(_ name: StaticString, _ values: [String]) {
        key(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }
}
