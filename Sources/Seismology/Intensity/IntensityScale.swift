/// A scale of intensity: its steps, their names and colours.
public enum IntensityScale: String, Sendable, CaseIterable {
    /// Modified Mercalli Intensity, 1 to 12.
    case mmi
    /// Japan Meteorological Agency, 0 to 7, with 5 and 6 in two halves.
    case jma
    /// Central Weather Administration of Taiwan, the same grades.
    case cwa

    /// The step of a value, counted from 0. MMI: the nearest whole number, halves up, within the scale. JMA: by the
    /// bounds of the notification of 1996. CWA: a value is a grade already.
    public func step(_ value: Double) -> Int {
        switch self {
        case .mmi:
            guard value.isFinite else { return value > 0 ? 11 : 0 }
            return min(12, max(1, Int((min(12, value) + 0.5).rounded(.down)))) - 1
        case .jma: return grade(of: value, halfBelow: 0.5)
        case .cwa: return grade(of: value, halfBelow: 0)
        }
    }

    /// The step as a Roman numeral, on the scale that has them.
    public func roman(_ value: Double) -> String? { self == .mmi ? Self.numerals[step(value)] : nil }

    /// The grade's name, on the scales that have some: `0` to `7`, `5-`, `5+`, `6-`, `6+`.
    public func grade(_ value: Double) -> String? { self == .mmi ? nil : Self.grades[step(value)] }

    /// The step's colour, `#rrggbb`. MMI: ShakeMap's palette (Worden et al., ShakeMap Manual), whose last entry for
    /// intensity 13 is interpolated for XI and XII. JMA: the agency's own for its maps, which has none for 0. CWA: none.
    public func color(_ value: Double) -> String? {
        switch self {
        case .mmi: Self.colors[step(value)]
        case .jma: step(value) > 0 ? Self.gradeColors[step(value) - 1] : nil
        case .cwa: nil
        }
    }

    /// Grades 1 to 4 begin at whole numbers less `halfBelow`; 5-, 5+, 6-, 6+ and 7 each half a step apart from there.
    private func grade(of value: Double, halfBelow: Double) -> Int {
        let x = value + halfBelow
        guard x >= 1 else { return 0 }
        return x < 5 ? Int(x) : min(9, Int(2 * min(x, 7)) - 5)
    }

    private static let numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    private static let grades = ["0", "1", "2", "3", "4", "5-", "5+", "6-", "6+", "7"]
    private static let colors = [
        "#ffffff", "#bfccff", "#a0e6ff", "#80ffff", "#7aff93", "#ffff00", "#ffc800", "#ff9100", "#ff0000", "#c80000",
        "#b00000", "#980000",
    ]
    private static let gradeColors = [
        "#f2f2ff", "#00aaff", "#0041ff", "#fae696", "#ffe600", "#ff9900", "#ff2800", "#a50021", "#b40068",
    ]
}
