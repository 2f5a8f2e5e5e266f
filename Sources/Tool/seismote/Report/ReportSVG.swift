import Glibc
import Values

/// A diagram of a report: two scales, lines and texts.
struct ReportSVG {
    /// One of its scales.
    struct Scale {
        var low: Double
        var high: Double
        var isLogarithmic = false
        /// Where there are lines, with what stands at them.
        var ticks: [(value: Double, text: String)] = []

        func share(_ value: Double) -> Double {
            let place =
                isLogarithmic ? log(value / low) / log(high / low) : (value - low) / (high - low)
            return min(1, max(0, place))
        }

        /// Steps of 1, 2 or 5 over a range.
        static func even(_ low: Double, _ high: Double, most: Int = 8) -> Scale {
            let span = max(high - low, 1e-9)
            var step = pow(10, log10(span / Double(most)).rounded(.down))
            for factor in [2.0, 2.5, 2] where span / step > Double(most) { step *= factor }
            let (first, last) = ((low / step).rounded(.down), (high / step).rounded(.up))
            let decimals = max(0, Int((-log10(step) - 1e-9).rounded(.up)))
            return Scale(
                low: first * step, high: max(last, first + 1) * step,
                ticks: (0...Int(max(1, last - first))).map {
                    let value = (first + Double($0)) * step
                    return (value, ReportText.number(value, decimals))
                })
        }
    }

    private static let (left, right, top, bottom) = (52.0, 20.0, 10.0, 40.0)

    private let x: Scale
    private let y: Scale
    private let width: Double
    private let height: Double
    private var body = ""

    init(x: Scale, y: Scale, names: (x: String, y: String), width: Double = 660, height: Double = 400) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
        for tick in x.ticks {
            line([(tick.value, y.low), (tick.value, y.high)], "stroke=\"#ddd\"")
            label(place(tick.value, y.low).x, height - Self.bottom + 15, "text-anchor=\"middle\"", tick.text)
        }
        for tick in y.ticks {
            line([(x.low, tick.value), (x.high, tick.value)], "stroke=\"#ddd\"")
            label(Self.left - 5, place(x.low, tick.value).y + 4, "text-anchor=\"end\"", tick.text)
        }
        let middle = "text-anchor=\"middle\""
        label(Self.left + (width - Self.left) / 2, height - 6, middle, names.x)
        body += "<text transform=\"translate(12,\(ReportText.number(height / 2, 0))) rotate(-90)\" \(middle)>"
        body += "\(names.y)</text>"
    }

    /// As it stands in the page.
    var text: String {
        "<svg viewBox=\"0 0 \(Int(width)) \(Int(height))\" role=\"img\">\(body)</svg>"
    }

    mutating func line(_ points: [(Double, Double)], _ style: String) {
        let all = points.map { point in
            let at = place(point.0, point.1)
            return "\(ReportText.number(at.x, 1)),\(ReportText.number(at.y, 1))"
        }
        body += "<polyline points=\"\(all.joined(separator: " "))\" fill=\"none\" \(style)/>"
    }

    mutating func dot(_ at: (Double, Double), _ style: String) {
        let at = place(at.0, at.1)
        body += "<circle cx=\"\(ReportText.number(at.x, 1))\" cy=\"\(ReportText.number(at.y, 1))\" \(style)/>"
    }

    /// A text beside a place in the diagram.
    mutating func label(at: (Double, Double), _ style: String, _ text: String) {
        let at = place(at.0, at.1)
        label(at.x, at.y, style, text)
    }

    /// A line of what the colours mean, at the top on the right.
    mutating func legend(_ entries: [(name: String, colour: String)]) {
        for (index, entry) in entries.enumerated() {
            let from = width - Self.right - 18 * Double(entries.count - index)
            label(from, 24, "fill=\"\(entry.colour)\"", entry.name)
        }
    }

    private func place(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
        (
            Self.left + self.x.share(x) * (width - Self.left - Self.right),
            height - Self.bottom - self.y.share(y) * (height - Self.bottom - Self.top)
        )
    }

    private mutating func label(_ x: Double, _ y: Double, _ style: String, _ text: String) {
        body += "<text x=\"\(ReportText.number(x, 1))\" y=\"\(ReportText.number(y, 1))\" \(style)>\(text)</text>"
    }
}

/// Texts that all parts of a report write in the same way.
enum ReportText {
    /// - Parameter reason: a last cell of text that may be long.
    static func row(_ cells: [String], isOver: Bool = false, reason: String? = nil) -> String {
        "<tr\(isOver ? " class=\"over\"" : "")>" + cells.map { "<td>\($0)</td>" }.joined()
            + (reason.map { "<td class=\"text\">\($0)</td>" } ?? "") + "</tr>\n"
    }

    /// With the names of the columns.
    static func table(_ names: [String], _ rows: String) -> String {
        "<table><thead><tr>" + names.map { "<th>\($0)</th>" }.joined() + "</tr></thead>\n" + rows + "</table>\n"
    }

    /// `2026-01-05 10:20:30`.
    static func moment(_ time: Int64) -> String {
        let text = String(describing: Timestamp(nanoseconds: time))
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// With so many decimals.
    static func number(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "…" }
        let scale = (0..<decimals).reduce(1.0) { one, _ in one * 10 }
        let whole = Int64((abs(value) * scale).rounded())
        var digits = String(whole)
        while digits.count <= decimals { digits = "0" + digits }
        if decimals > 0 { digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -decimals)) }
        return (value < 0 && whole != 0 ? "−" : "") + digits
    }

    /// Text with the characters of HTML escaped: words of a station or a file are not HTML.
    static func escaped(_ text: String) -> String {
        var all = ""
        for character in text {
            switch character {
            case "<": all += "&lt;"
            case ">": all += "&gt;"
            case "&": all += "&amp;"
            case "\"": all += "&quot;"
            default: all.append(character)
            }
        }
        return all
    }
}
