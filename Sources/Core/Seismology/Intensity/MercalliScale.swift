extension IntensityScale {
    /// Modified Mercalli Intensity, 1 to 12.
    public static let mmi = mercalli("mmi")

    /// Twelve steps as Roman numerals: the nearest whole number, halves up, within the scale. ShakeMap's palette (Worden
    /// et al., ShakeMap Manual), whose last entry for intensity 13 is interpolated for XI and XII.
    static func mercalli(_ name: String) -> IntensityScale {
        IntensityScale(
            name, numerals: ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"],
            colors: [
                "#ffffff", "#bfccff", "#a0e6ff", "#80ffff", "#7aff93", "#ffff00", "#ffc800", "#ff9100", "#ff0000",
                "#c80000", "#b00000", "#980000",
            ]
        ) { value in
            guard value.isFinite else { return value > 0 ? 11 : 0 }
            return min(12, max(1, Int((min(12, value) + 0.5).rounded(.down)))) - 1
        }
    }
}
