/// A scale of intensity: its steps, their names and colours. Each is a value in the file of a relation or in one of its
/// own.
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
