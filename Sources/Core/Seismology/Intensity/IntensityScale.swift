/// A scale of intensity: its steps, their names and colours. Each is a value.
public struct IntensityScale: Sendable, Equatable {
    /// Its name in messages.
    public let rawValue: String
    private let names: [String]
    private let isRoman: Bool
    private let colors: [String?]
    private let stepOf: @Sendable (Double) -> Int

    /// - Parameters:
    ///   - numerals: the steps as Roman numerals, or else
    ///   - grades: their names: `0` to `7`, `5-`, `5+`, `6-`, `6+`.
    ///   - colors: of the steps, `#rrggbb`; empty: the scale has none.
    ///   - step: the step of a value, counted from 0.
    init(
        _ name: String, numerals: [String]? = nil, grades: [String] = [], colors: [String?],
        step: @escaping @Sendable (Double) -> Int
    ) {
        (rawValue, names, isRoman) = (name, numerals ?? grades, numerals != nil)
        (self.colors, stepOf) = (colors, step)
    }

    public static func == (a: Self, b: Self) -> Bool { a.rawValue == b.rawValue }

    /// The step of a value, counted from 0.
    public func step(_ value: Double) -> Int { stepOf(value) }

    /// The step as a Roman numeral, on the scale that has them.
    public func roman(_ value: Double) -> String? { isRoman ? names[step(value)] : nil }

    /// The grade's name, on the scales that have some.
    public func grade(_ value: Double) -> String? { isRoman ? nil : names[step(value)] }

    /// The step's colour.
    public func color(_ value: Double) -> String? { colors.isEmpty ? nil : colors[step(value)] }
}

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
