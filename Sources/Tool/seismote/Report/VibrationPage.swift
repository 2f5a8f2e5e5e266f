import Glibc
import Messages
import Values
import Vibration

/// A report as one page of HTML that needs nothing else and prints on A4.
struct VibrationPage {
    let report: VibrationReport
    /// Share of the limit from which on an interval is listed.
    let warning: Double

    var text: String {
        var html = """
            <!doctype html><html lang="en"><head><meta charset="utf-8">
            <title>Vibration at \(escaped(report.station))</title>
            <style>
            @page { size: A4; margin: 18mm }
            body { font: 10.5pt/1.4 sans-serif; max-width: 174mm; margin: 1em auto; color: #111 }
            h1 { font-size: 17pt; margin: 0 } h2 { font-size: 12.5pt; margin: 1.4em 0 .4em; break-after: avoid }
            p { margin: .4em 0 } table { border-collapse: collapse; width: 100%; font-size: 9pt }
            thead { display: table-header-group } th { vertical-align: bottom }
            th, td { border-bottom: 1px solid #bbb; padding: 2px 6px; text-align: right; white-space: nowrap }
            th:first-child, td:first-child { text-align: left } th { white-space: normal } td.text { white-space: normal; text-align: left }
            tr, svg { break-inside: avoid } .over { font-weight: bold } svg { width: 100% } svg text { font: 11px sans-serif }
            </style></head><body>
            <h1>Vibration at \(escaped(report.station))</h1>

            """
        html += who + whole
        if !report.records.isEmpty {
            html += "<h2>Floor</h2>\n<p>\(floor)</p>\n<h2>Peak velocity over frequency</h2>\n\(diagram)\n"
            html += days + doses + list
        }
        html += ModesChapter(report.modes).text
        if !report.records.isEmpty { html += holes }
        let offset = (report.offset < 0 ? "−" : "+") + number(abs(report.offset), 1)
        return html + "<p>Times are UTC; days begin at 7 h, nights at 23 h, of UTC \(offset) h. Made by seismote "
            + "report from the station’s own messages.</p></body></html>\n"
    }

    // MARK: Parts

    /// The station, its sensor, and how it is calibrated.
    private var who: String {
        guard let info = report.info else {
            return
                "<p>What the sensor is, and whether it is calibrated, is not known: there was no <code>state/info</code>.</p>\n"
        }
        var parts: [String] = []
        if let text = info.station?.description, !text.isEmpty { parts.append(escaped(text) + ".") }
        if let latitude = info.station?.latitude, let longitude = info.station?.longitude {
            parts.append("Latitude \(number(latitude, 4)), longitude \(number(longitude, 4)).")
        }
        guard let sensor = info.sensor else { return "<p>\(parts.joined(separator: " "))</p>\n" }
        var words = "Sensor: \(escaped(sensor.chip ?? "not known"))"
        if let rate = sensor.rate { words += ", \(number(rate, 0)) samples a second" }
        if let range = sensor.range { words += ", full scale \(number(range, 1)) m/s²" }
        parts.append(words + ".")
        parts.append(calibration(sensor))
        return "<p>\(parts.joined(separator: " "))</p>\n"
    }

    private func calibration(_ sensor: InfoReading.Sensor) -> String {
        let settings = report.settings
        let (offset, matrix) = (settings?.calibrationOffset ?? [], settings?.calibrationMatrix ?? [])
        let identity = [1.0, 0, 0, 0, 1, 0, 0, 0, 1]
        let isSet = offset.contains { $0 != 0 } || (matrix.count == 9 && matrix != identity)
        if let time = sensor.calibrated {
            let method = escaped(sensor.calibrationMethod ?? "not known")
            return "Calibrated on \(moment(time).prefix(10)), method: \(method)."
                + (isSet ? "" : " Its correction is not among the settings.")
        }
        return isSet
            ? "Its settings have a calibration (<code>sensor.calibration</code>), whose day is not known."
            : "It is not calibrated: scale and offset are those of the chip’s data sheet."
    }

    /// Summary of the measurement, and of the limit that it was compared with.
    private var whole: String {
        let records = report.records
        guard let first = records.first, let last = records.last else { return "" }
        let exceeded = report.shares.filter { ($0?.ratio ?? 0) >= 1 }.count
        let measured = records.reduce(0) { $0 + $1.seconds }
        var html = """
            <p>\(moment(first.start)) to \(moment(last.start + Int64(last.length) * 1_000_000_000)) (UTC), \
            \(records.count) intervals of \(last.length) s, \(number(measured / 3600, 2)) h measured. Velocity from \
            \(number(last.lower, 1)) to \(number(last.upper, 1)) Hz; weightings \
            \(last.axes.map { escaped($0.weighting) }.joined(separator: ", ")) of x, y, z.</p>

            """
        guard let limit = report.limit else { return html }
        html += """
            <p>Limit: \(escaped(limit.table.standard)) (\(escaped(limit.table.edition))), table \
            \(escaped(limit.table.table)), \(escaped(limit.table.title)): \(escaped(limit.row.line)), \
            \(escaped(limit.row.place)). It was reached in <b>\(exceeded)</b> of \(records.count) intervals; the largest \
            share was \(number((report.shares.compactMap { $0?.ratio }.max() ?? 0) * 100, 1)) %.</p>

            """
        return html
    }

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

    private func date(_ day: VibrationReport.Day) -> String {
        String(moment(day.start + Int64(report.offset * 3_600e9)).prefix(10))
    }

    private var days: String {
        let rows = report.days.map { day in
            ReportText.row(
                [date(day)] + day.ppv.map { number($0, 2) } + [
                    number(day.kbFmax, 2), report.limit == nil ? "" : number(day.share * 100, 1) + " %",
                    number(day.seconds / 3600, 2) + " h",
                ], isOver: day.share >= 1)
        }
        return "<h2>Days</h2>\n"
            + ReportText.table(
                ["From 7 h of", "ppv x", "ppv y", "ppv z", "KB<sub>Fmax</sub>", "share", "measured"], rows.joined())
            + "<p>ppv in mm/s.</p>\n"
    }

    /// Vibration dose of each day and night, and what BS 6472-1 says of it.
    private var doses: String {
        func judged(_ dose: Double, _ limits: [VibrationLimit], night: Bool) -> String {
            let reached = limits.last { dose >= $0.row.curve.strictest * (night ? $0.table.nightFactor : 1) }
            return reached.map { $0.row.place == "low" ? "low probability" : $0.row.place } ?? "less"
        }
        let limits = VibrationLimit.all.filter { $0.table.name == "bs6472-1" }
        let rows = report.days.flatMap { day in
            [(day.dayDoses, day.daySeconds, false), (day.nightDoses, day.nightSeconds, true)].compactMap {
                doses, seconds, isNight -> String? in
                guard seconds > 0, let largest = doses.max() else { return nil }
                return ReportText.row(
                    [date(day), isNight ? "night" : "day"] + doses.map { number($0, 3) } + [
                        judged(largest, limits, night: isNight), number(seconds / 3600, 1) + " h",
                    ])
            }
        }
        let weightings = report.records.last.map { $0.axes.map { escaped($0.weighting) } } ?? []
        var html = "<h2>Vibration dose of day and night</h2>\n"
        html += ReportText.table(["From 7 h of", "", "x", "y", "z", "comment", "measured"], rows.joined())
        html += "<p>VDV in m/s<sup>1.75</sup>, days of 16 h from 7 h on, nights of 8 h from 23 h on. Comment: how "
        html += "probable adverse comment is in dwellings, by BS 6472-1 (2008), table 1; less: below all of its values."
        if !weightings.isEmpty, weightings != ["wd", "wd", "wb"] {
            html += " The standard weights with Wd and Wb; this station with \(weightings.joined(separator: ", "))."
        }
        return html + " What was not measured is missing in the dose.</p>\n"
    }

    /// Every interval from the warning share on.
    private var list: String {
        guard report.limit != nil else { return "" }
        let title = "<h2>Intervals from \(number(warning * 100, 0)) % of the limit on</h2>\n"
        var rows = ""
        for case (let record, let share?) in zip(report.records, report.shares) where share.ratio >= warning {
            let axis = share.axis ?? record.strongest
            rows += ReportText.row(
                [
                    moment(record.start),
                    share.time.map { String(moment($0).dropFirst(11)) } ?? "",
                    share.axis.map { VibrationRecord.axisNames[$0] } ?? "vector",
                    number(share.value, 2), share.frequency.map { number($0, 1) + " Hz" } ?? "not known",
                    record.axes[axis].displacement.map { number($0, 4) } ?? "",
                    record.axes[axis].acceleration.map { number($0, 3) } ?? "",
                    number(share.limit, 2), number(share.ratio * 100, 1) + " %",
                ], isOver: share.ratio >= 1)
        }
        guard !rows.isEmpty else { return title + "<p>None.</p>\n" }
        let isOld = zip(report.records, report.shares).contains { record, share in
            record.halfCycles.isEmpty && (share?.ratio ?? 0) < 1
        }
        return title
            + "<p>Value, time and frequency are those of the half cycle that is nearest to the limit at its own frequency; displacement and acceleration are the largest of the interval.</p>\n"
            + (isOld && report.limit?.row.curve.parts.isEmpty == false
                ? "<p>Some intervals were stored by an earlier version, with their largest peak alone: one of a lower frequency may have been nearer to the limit.</p>\n"
                : "")
            + ReportText.table(
                [
                    "Begin", "peak at", "axis", "value", "frequency", "displace&shy;ment, mm",
                    "accel&shy;eration, m/s²", "limit", "share",
                ], rows)
    }

    private var holes: String {
        let missing = report.holes
        var html = "<h2>What is missing</h2>\n"
        let partial = report.partial
        guard !missing.isEmpty || !partial.isEmpty else { return html + "<p>Nothing.</p>\n" }
        if !partial.isEmpty {
            let seconds = partial.reduce(0) { $0 + Double($1.length) - $1.seconds }
            let reasons = VibrationReport.reasons.compactMap { reason, words -> String? in
                let count = partial.filter { $0.interruptions.contains(reason) }.count
                return count == 0 ? nil : "\(count) \(words)"
            }
            let silent = partial.filter(\.interruptions.isEmpty).count
            let all = reasons + (silent > 0 ? ["\(silent) without a reason that is known"] : [])
            html += "<p>\(partial.count) of \(report.records.count) intervals \(partial.count == 1 ? "is" : "are") not "
            html += "complete, of which \(number(seconds / 60, 1)) min are missing: "
            html += "\(all.joined(separator: ", ")). After each start, gap "
            html += "and change the filters need some seconds, which do not count.</p>\n"
        }
        guard !missing.isEmpty else { return html }
        let rows = missing.map {
            ReportText.row(
                [
                    moment($0.from), moment($0.to), number(Double($0.to - $0.from) / 60e9, 1),
                ], reason: $0.reason)
        }
        return html + ReportText.table(["No intervals from", "to", "min", "why"], rows.joined())
    }

    // MARK: The diagram

    private static let colours = ["#b4332a", "#2f7d32", "#2a52b4"]

    private var diagram: String {
        func scale(_ low: Double, _ high: Double, _ ticks: [Double]) -> ReportSVG.Scale {
            .init(
                low: low, high: high, isLogarithmic: true,
                ticks: ticks.map { ($0, ReportText.number($0, $0 < 0.1 ? 2 : $0 < 1 ? 1 : 0)) })
        }
        var svg = ReportSVG(
            x: scale(1, 1000, [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]),
            y: scale(0.01, 200, [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200]),
            names: ("frequency of the peak, Hz", "ppv, mm/s"))
        for (axis, colour) in Self.colours.enumerated() {
            for record in report.records {
                guard let frequency = record.axes[axis].frequency else { continue }
                svg.dot((frequency, record.axes[axis].ppv), "r=\"2\" fill=\"\(colour)\" fill-opacity=\"0.6\"")
            }
            for cycle in report.records.flatMap(\.halfCycles) where cycle.axis == axis {
                guard let frequency = cycle.frequency else { continue }
                svg.dot((frequency, cycle.value), "r=\"1.3\" fill=\"none\" stroke=\"\(colour)\" stroke-opacity=\"0.6\"")
            }
        }
        if let limit = report.limit, limit.table.measure == .ppv || limit.table.measure == .pvs {
            let parts = limit.row.curve.parts
            let (low, high) = (parts.first?.from ?? 1, parts.last?.to ?? 1000)
            let points = (0...400).map { step in
                let at = low * pow(high / low, Double(step) / 400)
                return (at, limit.row.curve.value(at: at))
            }
            svg.line(points, "stroke=\"#000\" stroke-width=\"1.6\"")
            if let end = points.last {
                svg.label(at: (end.0, end.1 * 1.15), "text-anchor=\"end\"", escaped(limit.row.line))
            }
        }
        svg.legend(zip(VibrationRecord.axisNames, Self.colours).map { ($0, $1) })
        return svg.text
    }

    // MARK: Texts

    private func moment(_ time: Int64) -> String { ReportText.moment(time) }
    private func number(_ value: Double, _ decimals: Int) -> String { ReportText.number(value, decimals) }
    private func escaped(_ text: String) -> String { ReportText.escaped(text) }
}
