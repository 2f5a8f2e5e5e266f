import Glibc
import Messages
import Values

/// One station on the whole screen, or several in a table.
struct WatchScreen {
    let window: Double
    let terminal: Terminal
    var trace = TraceHistory()
    var lastEvent = ""
    /// Probabilities of an earthquake in the last event, one for each message with a new one.
    private var probabilities: [Double] = []
    private var eventID = ""
    /// State of the connection, when it is unusual.
    var notice = ""

    init(terminal: Terminal, window: Double) {
        (self.terminal, self.window) = (terminal, window)
    }

    /// Takes an event message.
    mutating func take(event: StationEventMembers, of station: String) {
        lastEvent = EventLine.text(station, event)
        let id = event.id?.printable ?? ""
        if id != eventID { (eventID, probabilities) = (id, []) }
        guard let p = event.probability, p != probabilities.last else { return }
        if probabilities.count == 40 { probabilities.removeFirst() }
        probabilities.append(min(1, max(0, p)))
    }

    /// The probability over time, and what one station cannot know.
    private var probability: String? {
        guard let last = probabilities.last else { return nil }
        let steps = Array("▁▂▃▄▅▆▇█")
        let bars = String(probabilities.map { steps[min(7, Int($0 * 8))] })
        let caution = "one station cannot tell a small earthquake near by from a truck or furniture"
        return "earthquake? \(bars)" + (last > 0.2 && last < 0.8 ? "  " + terminal.dim(caution) : "")
    }

    // MARK: one station

    func station(_ id: String, _ view: StationView) -> [String] {
        let (width, height) = terminal.size
        let summary = view.summary
        let state = view.isOnline == false ? terminal.red("OFFLINE") : view.isOnline == true ? "online" : "?"
        var lines = [
            "\(id)  \(state)  \(timeOfDay(summary?.time)) UTC  clock \(view.clock ?? "-")"
                + (trace.isEmpty ? "" : "  \(trace.signal) at \(significant(trace.rate, 4)) Hz, \(Int(window)) s")
        ]
        let below = below(summary)
        // For each axis its level, its curve, and a row of marks, as far as there is room.
        let room = (height - lines.count - below.count) / 3
        let across = max(10, width - 10)
        let columns = (0..<3).map { trace.columns(axis: $0, count: 2 * across, seconds: window) }
        let scale = TraceDrawing.scale(columns)
        for (axis, name) in ["x", "y", "z"].enumerated() where room > 0 {
            lines.append(level(name, summary?.level(name), width))
            guard room > 1, !trace.isEmpty else { continue }
            let drawing = TraceDrawing(columns[axis], rows: max(1, room - 2), scale: scale)
            lines += curve(drawing, scale).prefix(room - 1)
        }
        return lines + below
    }

    /// Lines below the curves.
    private func below(_ summary: SummaryReading?) -> [String] {
        var lines: [String] = []
        if trace.isEmpty { lines.append(terminal.dim("no traces yet (trace.enabled, trace.only_in_events)")) }
        if let summary {
            lines.append(SummaryText.motionOrReason(summary))
            let trigger = SummaryText.trigger(summary).map { terminal.red($0) } ?? "not triggered"
            lines.append("STA/LTA \(ratios(summary))  \(trigger)")
        }
        if !lastEvent.isEmpty { lines.append(lastEvent.contains("ALARM") ? terminal.red(lastEvent) : lastEvent) }
        if let probability { lines.append(probability) }
        lines.append(terminal.dim(notice.isEmpty ? "q or Ctrl-C ends" : notice))
        return lines
    }

    private func level(_ name: String, _ level: SummaryReading.Level?, _ width: Int) -> String {
        let bar = TraceDrawing.bar(level, width: max(6, min(36, width - 38)))
        let (rms, peak) = (SummaryText.number(level?.rms), SummaryText.number(level?.peak))
        return "\(name)  \(bar)  rms \(padded(rms))  peak \(padded(peak)) m/s²"
    }

    private func padded(_ text: String) -> String { text + String(repeating: " ", count: max(0, 8 - text.count)) }

    private func curve(_ drawing: TraceDrawing, _ scale: Double) -> [String] {
        var lines: [String] = []
        for (i, row) in drawing.rows.enumerated() {
            var label = ""
            if i == 0 { label = "+\(significant(scale, 2))" }
            if i == drawing.rows.count - 1, i > 0 { label = "-\(significant(scale, 2))" }
            lines.append(
                String(repeating: " ", count: max(0, 9 - label.count)) + label + "│" + colored(row, drawing.marks))
        }
        let marks = drawing.marks.map { $0 ? "▲" : " " as Character }
        lines.append(String(repeating: " ", count: 9) + "└" + terminal.red(String(marks)))
        return lines
    }

    /// Row with triggered columns in red.
    private func colored(_ row: [Character], _ marks: [Bool]) -> String {
        guard terminal.hasColor, marks.contains(true) else { return String(row) }
        var text = ""
        var isRed = false
        for (character, mark) in zip(row, marks) {
            if mark != isRed { text += mark ? "\u{1b}[31m" : "\u{1b}[0m" }
            isRed = mark
            text.append(character)
        }
        return isRed ? text + "\u{1b}[0m" : text
    }

    private func ratios(_ summary: SummaryReading) -> String {
        let ratios = summary.ratios
        guard !ratios.isEmpty else { return "-" }
        return ratios.prefix(5).map { "\(safe($0.signal, limit: 4)) \(SummaryText.number($0.ratio))" }
            .joined(separator: "  ")
    }

    // MARK: several

    func table(_ stations: [(id: String, view: StationView)]) -> [String] {
        let (width, height) = terminal.size
        var table = Table(["station", "state", "level", "rms", "peak", "PGA m/s²", "", ""], left: [0, 1, 2, 6, 7])
        for (id, view) in stations {
            let summary = view.summary
            let state = view.isOnline == false ? "OFFLINE" : view.isOnline == true ? "online" : "?"
            let all = summary?.level("v3")
            let isValid = summary?.isValid ?? true
            table.add([
                id, state, bar(all, width),
                SummaryText.number(all?.rms), SummaryText.number(all?.peak), SummaryText.number(summary?.pga),
                isValid ? summary?.intensities.first { $0.value != nil }.map(EventLine.intensity) ?? "" : "",
                [summary.flatMap(SummaryText.trigger), isValid ? nil : "not valid"].compactMap(\.self)
                    .joined(separator: ", "),
            ])
        }
        var lines = table.text(width: .max).split(separator: "\n").map { line in
            line.contains("TRIGGERED") || line.contains("OFFLINE") ? terminal.red(String(line)) : String(line)
        }
        if lines.count > height - 3 {
            let left = lines.count - (height - 3)
            lines.removeLast(left)
            lines.append(terminal.dim("  and \(left) more stations"))
        }
        if !lastEvent.isEmpty { lines.append(lastEvent) }
        lines.append(terminal.dim(notice.isEmpty ? "\(stations.count) stations, q or Ctrl-C ends" : notice))
        return lines
    }

    /// Short where the numbers behind it would have no room.
    private func bar(_ level: SummaryReading.Level?, _ width: Int) -> String {
        TraceDrawing.bar(level, width: max(6, min(24, width - 76)))
    }
}

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
    static func bar(_ level: SummaryReading.Level?, width: Int) -> String {
        func place(_ value: Double?) -> Int {
            guard let value, value > 0 else { return 0 }
            return Int((Double(width) * (log10(value) + 5) / 6).rounded()).clamped(0, width)
        }
        let (filled, top) = (place(level?.rms), place(level?.peak))
        return String((1...max(1, width)).map { $0 <= filled ? "█" : $0 == top ? "│" : "·" })
    }
}

extension Int {
    fileprivate func clamped(_ low: Int, _ high: Int) -> Int { Swift.min(Swift.max(self, low), high) }
}

/// The newest samples of a station's traces.
struct TraceHistory {
    private struct Sample {
        /// Seconds of UTC.
        var time: Double
        var values: SIMD3<Double>
        /// Triggered axes, bits 0, 1, 2.
        var triggers: UInt8
    }

    /// One column of dots.
    struct Column {
        var low: Double
        var high: Double
        var isTriggered: Bool
    }

    private static let limit = 500_000

    private var samples: [Sample] = []
    /// Which signal is there: filtered if it is sent, else raw without its mean, else rms.
    private(set) var signal = ""
    private(set) var rate = 0.0

    /// - Parameter seconds: what is older than that is forgotten.
    mutating func take(_ block: LiveBlock, keeping seconds: Double) {
        let (axes, triggers, start) = (block.values, block.triggers, block.start)
        // Another signal, or a clock that was set back: the rest does not fit any more.
        if block.signal != signal || start < samples.last?.time ?? start - 1 { samples.removeAll() }
        (signal, rate) = (block.signal, block.rate)
        for i in 0..<(axes.map(\.count).max() ?? 0) {
            var sample = Sample(time: start + Double(i) / rate, values: .zero, triggers: 0)
            for axis in 0..<3 {
                sample.values[axis] = i < axes[axis].count ? axes[axis][i] : .nan
                if i < triggers[axis].count, triggers[axis][i] { sample.triggers |= 1 << UInt8(axis) }
            }
            samples.append(sample)
        }
        let oldest = (samples.last?.time ?? 0) - seconds
        let old = samples.firstIndex { $0.time >= oldest } ?? 0
        samples.removeFirst(max(old, samples.count - Self.limit))
    }

    var isEmpty: Bool { samples.isEmpty }

    /// The last seconds of an axis in so many columns, oldest first; nil where there is no sample.
    func columns(axis: Int, count: Int, seconds: Double) -> [Column?] {
        var columns = [Column?](repeating: nil, count: count)
        guard let last = samples.last?.time, count > 0 else { return columns }
        let mean = signal == "raw" ? self.mean(axis) : 0
        let bit = UInt8(1) << UInt8(axis)
        for sample in samples {
            // Each sample lasts until the next one, so that there are no holes between them.
            let age = last - sample.time
            let first = Int((Double(count) * (1 - (age + 1 / max(rate, 1e-3)) / seconds)).rounded(.up))
            let end = Int((Double(count) * (1 - age / seconds)).rounded(.up))
            let value = sample.values[axis] - mean
            guard value.isFinite, end > 0 else { continue }
            let isTriggered = sample.triggers & bit != 0
            for i in max(0, min(first, end - 1))..<min(end, count) {
                columns[i] = Column(
                    low: min(value, columns[i]?.low ?? value), high: max(value, columns[i]?.high ?? value),
                    isTriggered: isTriggered || columns[i]?.isTriggered == true)
            }
        }
        return columns
    }

    private func mean(_ axis: Int) -> Double {
        let values = samples.map { $0.values[axis] }.filter(\.isFinite)
        return values.isEmpty ? 0 : values.reduce(0, +) / Double(values.count)
    }
}
