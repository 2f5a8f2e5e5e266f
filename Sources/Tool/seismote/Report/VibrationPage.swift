import Glibc
import Messages
import Vibration

/// A report as one page of HTML that needs nothing else and prints on A4.
struct VibrationPage {
    let report: VibrationReport
    /// Share of the limit from which on an interval is listed.
    let warning: Double

    var text: String {
        let records = report.records
        guard let first = records.first, let last = records.last else { return "" }
        let exceeded = report.shares.filter { ($0?.ratio ?? 0) >= 1 }.count
        let measured = records.reduce(0) { $0 + $1.seconds }
        var html = """
            <!doctype html><html lang="en"><head><meta charset="utf-8">
            <title>Vibration at \(escaped(report.station))</title>
            <style>
            @page { size: A4; margin: 18mm }
            body { font: 10.5pt/1.4 sans-serif; max-width: 174mm; margin: 1em auto; color: #111 }
            h1 { font-size: 17pt; margin: 0 } h2 { font-size: 12.5pt; margin: 1.4em 0 .4em } p { margin: .4em 0 }
            table { border-collapse: collapse; width: 100%; font-size: 9pt } thead { display: table-header-group }
            th, td { border-bottom: 1px solid #bbb; padding: 2px 6px; text-align: right }
            th:first-child, td:first-child { text-align: left }
            tr, svg { break-inside: avoid } .over { font-weight: bold } svg { width: 100% } svg text { font: 11px sans-serif }
            </style></head><body>
            <h1>Vibration at \(escaped(report.station))</h1>
            <p>\(moment(first.start)) to \(moment(last.start + Int64(last.length) * 1_000_000_000)) (UTC), \
            \(records.count) intervals of \(last.length) s, \(number(measured / 3600, 2)) h measured. Velocity from \
            \(number(last.lower, 1)) to \(number(last.upper, 1)) Hz; weightings \
            \(last.axes.map { escaped($0.weighting) }.joined(separator: ", ")) of x, y, z.</p>

            """
        if let limit = report.limit {
            html += """
                <p>Limit: \(escaped(limit.table.standard)) (\(escaped(limit.table.edition))), table \
                \(escaped(limit.table.table)), \(escaped(limit.table.title)): \(escaped(limit.row.line)), \
                \(escaped(limit.row.place)). It was reached in <b>\(exceeded)</b> of \(records.count) intervals; the largest \
                share was \(number((report.shares.compactMap { $0?.ratio }.max() ?? 0) * 100, 1)) %.</p>

                """
        }
        html += "<h2>Floor</h2>\n<p>\(floor)</p>\n<h2>Peak velocity over frequency</h2>\n\(diagram)\n"
        html += days + list + holes
        let offset = (report.offset < 0 ? "−" : "+") + number(abs(report.offset), 1)
        return html + "<p>Times are UTC; days begin at 7 h, nights at 23 h, of UTC \(offset) h. Made by seismote "
            + "report from the station’s own messages.</p></body></html>\n"
    }

    // MARK: Parts

    private var floor: String {
        let last = report.records.last { $0.axes.contains { $0.floor != nil } }
        guard let last else {
            return "The sensor’s own noise has not been measured yet (it takes five complete intervals)."
        }
        let parts = zip(VibrationRecord.axisNames, last.axes).compactMap { name, axis in
            axis.floor.map { "\(name) \(number($0, 3)) mm/s" }
        }
        let quiet = report.records.filter { record in
            zip(record.axes, last.axes).allSatisfy { $0.ppv < 3 * ($1.floor ?? 0) }
        }
        return "The sensor’s own noise bounds what can be said: the quietest intervals had peaks of "
            + parts.joined(separator: ", ") + ". What is below three times that says nothing but quiet: all axes of "
            + "\(quiet.count) of \(report.records.count) intervals."
    }

    private var days: String {
        var html = """
            <h2>Days</h2>
            <table><thead><tr><th>From 7 h of</th><th>ppv x</th><th>ppv y</th><th>ppv z</th><th>KB<sub>Fmax</sub></th>\
            <th>VDV day</th><th>VDV night</th><th>share</th><th>measured</th></tr></thead>

            """
        for day in report.days {
            let cells =
                day.ppv.map { number($0, 2) } + [
                    number(day.kbFmax, 2), number(day.dayDose, 3), number(day.nightDose, 3),
                    report.limit == nil ? "" : number(day.share * 100, 1) + " %", number(day.seconds / 3600, 2) + " h",
                ]
            html += row([String(moment(day.start + Int64(report.offset * 3_600e9)).prefix(10))] + cells, day.share >= 1)
        }
        return html + "</table>\n<p>ppv in mm/s, VDV in m/s<sup>1.75</sup> of the largest axis.</p>\n"
    }

    /// Every interval from the warning share on.
    private var list: String {
        guard report.limit != nil else { return "" }
        var html = "<h2>Intervals from \(number(warning * 100, 0)) % of the limit on</h2>\n"
        let rows = zip(report.records, report.shares).filter { ($1?.ratio ?? 0) >= warning }
        guard !rows.isEmpty else { return html + "<p>None.</p>\n" }
        html += """
            <table><thead><tr><th>Begin</th><th>axis</th><th>value</th><th>frequency</th><th>limit</th><th>share</th></tr>\
            </thead>

            """
        for case (let record, let share?) in rows {
            let axis = share.axis ?? record.strongest
            html += row(
                [
                    moment(record.start), share.axis.map { VibrationRecord.axisNames[$0] } ?? "vector",
                    number(share.value, 2), record.axes[axis].frequency.map { number($0, 1) + " Hz" } ?? "not known",
                    number(share.limit, 2), number(share.ratio * 100, 1) + " %",
                ], share.ratio >= 1)
        }
        return html + "</table>\n"
    }

    private var holes: String {
        let (missing, partial) = (report.holes, report.records.filter { $0.seconds < 0.99 * Double($0.length) })
        var html = "<h2>What is missing</h2>\n"
        guard !missing.isEmpty || !partial.isEmpty else { return html + "<p>Nothing.</p>\n" }
        let gaps = partial.reduce(0) { $0 + $1.gaps }
        html += "<p>\(partial.count) intervals are not complete (\(gaps) gaps; starts, changes).</p>\n"
        guard !missing.isEmpty else { return html }
        html += "<table><thead><tr><th>No intervals from</th><th>to</th></tr></thead>\n"
        for hole in missing { html += row([moment(hole.from), moment(hole.to)], false) }
        return html + "</table>\n"
    }

    // MARK: The diagram

    private static let (width, height, left, bottom) = (660.0, 400.0, 52.0, 40.0)
    private static let (frequencies, velocities) = ((low: 1.0, high: 1000.0), (low: 0.01, high: 200.0))

    private func place(_ f: Double, _ v: Double) -> String {
        func share(_ x: Double, _ low: Double, _ high: Double) -> Double {
            min(1, max(0, log(x / low) / log(high / low)))
        }
        let x = Self.left + share(f, Self.frequencies.low, Self.frequencies.high) * (Self.width - Self.left - 10)
        let y =
            (Self.height - Self.bottom)
            - share(v, Self.velocities.low, Self.velocities.high) * (Self.height - Self.bottom - 10)
        return "\(number(x, 1)),\(number(y, 1))"
    }

    private func line(_ from: (Double, Double), _ to: (Double, Double), _ style: String) -> String {
        "<polyline points=\"\(place(from.0, from.1)) \(place(to.0, to.1))\" \(style)/>"
    }

    private func label(_ x: some StringProtocol, _ y: some StringProtocol, _ style: String, _ text: String) -> String {
        "<text x=\"\(x)\" y=\"\(y)\" \(style)>\(text)</text>"
    }

    private var diagram: String {
        let (f, v) = (Self.frequencies, Self.velocities)
        var svg = "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\">"
        for tick in [1.0, 2, 5, 10, 20, 50, 100, 200, 500, 1000] {
            svg += line((tick, v.low), (tick, v.high), "stroke=\"#ddd\"")
            let x = place(tick, v.low).split(separator: ",")[0]
            svg += label(x, "\(Self.height - Self.bottom + 15)", "text-anchor=\"middle\"", "\(Int(tick))")
        }
        for tick in [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200] {
            svg += line((f.low, tick), (f.high, tick), "stroke=\"#ddd\"")
            let y = place(f.low, tick).split(separator: ",")[1]
            let text = tick < 1 ? number(tick, tick < 0.1 ? 2 : 1) : "\(Int(tick))"
            svg += label("\(Self.left - 5)", y, "dy=\"4\" text-anchor=\"end\"", text)
        }
        let middle = "text-anchor=\"middle\""
        svg += label("\(Self.width / 2)", "\(Self.height - 6)", middle, "frequency of the peak, Hz")
        svg += "<text transform=\"translate(12,\(Self.height / 2)) rotate(-90)\" \(middle)>ppv, mm/s</text>"
        for (axis, colour) in [(0, "#b4332a"), (1, "#2f7d32"), (2, "#2a52b4")] {
            for record in report.records {
                guard let frequency = record.axes[axis].frequency else { continue }
                let at = place(frequency, record.axes[axis].ppv).split(separator: ",")
                svg += "<circle cx=\"\(at[0])\" cy=\"\(at[1])\" r=\"2\" fill=\"\(colour)\" fill-opacity=\"0.6\"/>"
            }
            svg += label(
                "\(Self.width - 60 + Double(axis) * 18)", "24", "fill=\"\(colour)\"", VibrationRecord.axisNames[axis])
        }
        if let limit = report.limit, limit.table.measure == .ppv || limit.table.measure == .pvs {
            var points: [String] = []
            let parts = limit.row.curve.parts
            let (low, high) = (parts.first?.from ?? f.low, parts.last?.to ?? f.high)
            for step in 0...400 {
                let at = low * pow(high / low, Double(step) / 400)
                points.append(place(at, limit.row.curve.value(at: at)))
            }
            let curve = points.joined(separator: " ")
            svg += "<polyline points=\"\(curve)\" fill=\"none\" stroke=\"#000\" stroke-width=\"1.6\"/>"
        }
        return svg + "</svg>"
    }

    // MARK: Texts

    private func row(_ cells: [String], _ isOver: Bool) -> String {
        "<tr\(isOver ? " class=\"over\"" : "")>" + cells.map { "<td>\($0)</td>" }.joined() + "</tr>\n"
    }

    private func moment(_ time: Int64) -> String {
        let text = String(describing: Timestamp(nanoseconds: time))
        return text.prefix(10) + " " + text.dropFirst(11).prefix(8)
    }

    /// With so many decimals.
    private func number(_ value: Double, _ decimals: Int) -> String {
        guard value.isFinite, abs(value) < 1e12 else { return "…" }
        let scale = (0..<decimals).reduce(1.0) { one, _ in one * 10 }
        let whole = Int64((abs(value) * scale).rounded())
        var digits = String(whole)
        while digits.count <= decimals { digits = "0" + digits }
        if decimals > 0 { digits.insert(".", at: digits.index(digits.endIndex, offsetBy: -decimals)) }
        return (value < 0 && whole != 0 ? "−" : "") + digits
    }

    /// What a station or a file says is not HTML.
    private func escaped(_ text: String) -> String {
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
