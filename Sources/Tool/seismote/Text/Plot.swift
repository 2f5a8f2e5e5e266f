import Glibc

/// Curves over a logarithmic axis of frequency, drawn with braille dots (2 × 4 in a character).
struct Plot {
    /// Hz.
    let low: Double
    let high: Double
    /// dB at the top and at the bottom, multiples of 10.
    let top: Int
    let bottom: Int
    /// Characters.
    let width = 66
    private let rowsPerTen = 2
    private var field: BrailleField
    private var rows: Int { (top - bottom) / 10 * rowsPerTen }

    init(low: Double, high: Double, top: Int, bottom: Int) {
        (self.low, self.high, self.top, self.bottom) = (low, high, top, bottom)
        field = BrailleField(width: width, rows: (top - bottom) / 10 * rowsPerTen)
    }

    /// Adds a curve: decibels at a frequency.
    mutating func add(_ decibels: (Double) -> Double) {
        var before: Int?
        for column in 0..<2 * width {
            let frequency = low * pow(high / low, (Double(column) + 0.5) / Double(2 * width))
            let level = (Double(top) - decibels(frequency)) / Double(top - bottom) * Double(4 * rows)
            // Below the picture: the curve leaves it.
            let dot = level.isFinite ? Int(min(max(level, -1), Double(4 * rows))) : 4 * rows
            for y in min(dot, before ?? dot)...max(dot, before ?? dot) where y != before || dot == before {
                field.set(column, y)
            }
            before = dot
        }
    }

    /// The picture with its axes, indented by two.
    var text: String {
        var lines: [String] = []
        for row in 0..<rows {
            let label = row % rowsPerTen == 0 ? "\(top - 10 * row / rowsPerTen) dB" : ""
            lines.append("  " + padded(label, 8) + (label.isEmpty ? "│" : "┤") + String(field.characters(row: row)))
        }
        var axis = [Character](repeating: "─", count: width)
        var labels = [Character](repeating: " ", count: width + 12)
        var free = 0
        for decade in Int(floor(log10(low)))...Int(floor(log10(high))) {
            for digit in [1.0, 2, 5] {
                let frequency = digit * pow(10, Double(decade))
                guard frequency >= low * 0.999, frequency <= high else { continue }
                let column = min(width - 1, Int(log(frequency / low) / log(high / low) * Double(width)))
                axis[column] = "┬"
                let label = significant(frequency, 3)
                let start = max(0, column - label.count / 2)
                guard start >= free else { continue }
                for (i, character) in label.enumerated() { labels[start + i] = character }
                free = start + label.count + 1
            }
        }
        lines.append("  " + padded("\(bottom) dB", 8) + "┼" + String(axis))
        while labels.last == " " { labels.removeLast() }
        lines.append("  " + padded("", 8) + " " + String(labels) + " Hz")
        return lines.joined(separator: "\n")
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count - 1)) + text + " "
    }
}

/// Dots drawn with braille characters, 2 × 4 in each.
struct BrailleField {
    /// Characters.
    let width: Int
    let rows: Int
    private var cells: [UInt8]

    init(width: Int, rows: Int) {
        (self.width, self.rows) = (width, rows)
        cells = [UInt8](repeating: 0, count: width * rows)
    }

    /// Sets a dot, from the left and from the top; outside it is left away.
    mutating func set(_ x: Int, _ y: Int) {
        guard (0..<4 * rows).contains(y), (0..<2 * width).contains(x) else { return }
        let bits: [[UInt8]] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]]
        cells[y / 4 * width + x / 2] |= bits[y % 4][x % 2]
    }

    /// The characters of a row, from the top.
    func characters(row: Int) -> [Character] {
        cells[row * width..<(row + 1) * width].map { dots in
            dots == 0 ? " " : Character(Unicode.Scalar(0x2800 + UInt32(dots)) ?? " ")
        }
    }
}
