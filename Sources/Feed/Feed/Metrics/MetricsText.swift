/// Metrics as Prometheus and OpenMetrics write them.
public struct MetricsText: Sendable {
    public enum Kind: String, Sendable { case gauge, counter }

    private let isOpenMetrics: Bool
    public private(set) var text = ""

    /// - Parameter openMetrics: OpenMetrics 1.0 instead of Prometheus' text format 0.0.4.
    public init(openMetrics: Bool) { isOpenMetrics = openMetrics }

    public var contentType: String {
        isOpenMetrics
            ? "application/openmetrics-text; version=1.0.0; charset=utf-8" : "text/plain; version=0.0.4; charset=utf-8"
    }

    /// One family with all its samples; nothing where there are none.
    /// - Parameter name: of a counter with `_total`.
    public mutating func add(
        _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        guard !samples.isEmpty else { return }
        let family = isOpenMetrics && kind == .counter && name.hasSuffix("_total") ? String(name.dropLast(6)) : name
        text += "# HELP \(family) \(Self.escaped(help, quotes: false))\n# TYPE \(family) \(kind.rawValue)\n"
        for sample in samples {
            text += name
            if !sample.labels.isEmpty {
                let labels = sample.labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }
                text += "{\(labels.joined(separator: ","))}"
            }
            text += " \(Self.number(sample.value))\n"
        }
    }

    /// The whole document.
    public func finished() -> String { isOpenMetrics ? text + "# EOF\n" : text }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            case _ where scalar.value < 0x20: result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
