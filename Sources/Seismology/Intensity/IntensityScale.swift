/// A scale of intensity: its steps, their names and colours.
public enum IntensityScale: String, Sendable, CaseIterable {
    /// Modified Mercalli Intensity, 1 to 12.
    case mmi

    /// The step of a value: the nearest whole number, halves up, within the scale.
    public func step(_ value: Double) -> Int {
        guard value.isFinite else { return value > 0 ? 12 : 1 }
        return min(12, max(1, Int((value + 0.5).rounded(.down))))
    }

    /// The step as a Roman numeral.
    public func roman(_ value: Double) -> String { Self.numerals[step(value) - 1] }

    /// The step's colour, `#rrggbb`: ShakeMap's palette (Worden et al., ShakeMap Manual), whose last entry for
    /// intensity 13 is interpolated for XI and XII.
    public func color(_ value: Double) -> String { Self.colors[step(value) - 1] }

    private static let numerals = ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"]
    private static let colors = [
        "#ffffff", "#bfccff", "#a0e6ff", "#80ffff", "#7aff93", "#ffff00", "#ffc800", "#ff9100", "#ff0000", "#c80000",
        "#b00000", "#980000",
    ]
}
