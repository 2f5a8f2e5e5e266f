import Glibc

/// One axis of a trace, drawn.
struct TraceDrawing {
    /// Rows of the curve from the top, and one below that marks where the axis was triggered.
    var rows: [[Character]]
    var marks: [Bool]

    /// - Parameter columns: two for each character.
    init(_ columns: [TraceHistory.Column?], rows: Int, scale: Double) {
        let width = columns.count / 2
        var field = BrailleField(width: width, rows: rows)
        marks = [Bool](repeating: false, count: width)
        let height = Double(4 * rows - 1)
        func dot(_ value: Double) -> Int {
            Int(((1 - max(-1, min(1, value / scale))) / 2 * height).rounded())
        }
        var before: TraceHistory.Column?
        for (x, column) in columns.enumerated() {
            defer { before = column }
            guard let column else { continue }
            // Joined with the column before.
            let low = min(column.low, before?.high ?? column.low)
            let high = max(column.high, before?.low ?? column.high)
            for y in dot(high)...dot(low) { field.set(x, y) }
            if column.isTriggered, x / 2 < width { marks[x / 2] = true }
        }
        self.rows = (0..<rows).map { field.characters(row: $0) }
    }

    /// 1, 2 or 5 times a power of ten that nothing goes beyond.
    static func scale(_ columns: [[TraceHistory.Column?]]) -> Double {
        let largest = columns.joined().reduce(1e-6) { max($0, abs($1?.low ?? 0), abs($1?.high ?? 0)) }
        let power = pow(10, floor(log10(largest)))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= largest } ?? largest
    }

    /// A level as a bar over the decades from 10 µm/s² to 10 m/s², its peak marked.
    static func bar(rms: Double?, peak: Double?, width: Int) -> String {
        func place(_ value: Double?) -> Int {
            guard let value, value > 0 else { return 0 }
            return Int((Double(width) * (log10(value) + 5) / 6).rounded()).clamped(0, width)
        }
        let (filled, top) = (place(rms), place(peak))
        return String((1...max(1, width)).map { $0 <= filled ? "█" : $0 == top ? "│" : "·" })
    }
}

extension Int {
    fileprivate func clamped(_ low: Int, _ high: Int) -> Int { Swift.min(Swift.max(self, low), high) }
}
