import Values

/// A summary in words.
enum SummaryText {
    /// One line for a log.
    static func line(_ station: String, _ summary: Value) -> String {
        var parts = [timeOfDay(summary["t"]?.rawText), station]
        if summary["valid"]?.flag == false {
            parts.append("not valid: \(summary["reason"]?.text ?? "?")")
        } else {
            let levels = ["x", "y", "z"].map { "\($0) \(number(summary[$0, "rms"]))" }
            parts.append("rms \(levels.joined(separator: " ")) m/s²")
            parts.append(motion(summary))
        }
        if let trigger = trigger(summary) { parts.append(trigger) }
        return parts.joined(separator: "  ")
    }

    /// Peaks and intensities, with the seconds that they are of:
    /// `PGA 0.041 m/s² (0.42 %g)  PGV 0.0021 m/s  of 10 s  III (worden12, 10 s)  1 (jma, 60 s)`.
    static func motion(_ summary: Value) -> String {
        var parts = ["PGA \(number(summary["pga"])) m/s² (\(number(summary["pga_pct_g"])) %g)"]
        parts.append("PGV \(number(summary["pgv"])) m/s")
        if let seconds = summary["window_s"]?.number { parts.append("of \(significant(seconds, 3)) s") }
        for one in (summary["intensity"]?.list ?? []).prefix(4) where one["value"]?.number != nil {
            let value = one["roman"]?.text ?? one["grade"]?.text ?? number(one["value"])
            let seconds = one["window_s"]?.number.map { ", \(significant($0, 3)) s" } ?? ""
            parts.append("\(value) (\(one["relation"]?.text ?? "?")\(seconds))")
        }
        return parts.joined(separator: "  ")
    }

    /// `TRIGGERED by level, sta_lta`; nil when not.
    static func trigger(_ summary: Value) -> String? {
        guard summary["triggered"]?.flag == true else { return nil }
        let names = summary["detectors"]?.texts ?? []
        return "TRIGGERED" + (names.isEmpty ? "" : " by " + names.joined(separator: ", "))
    }

    static func number(_ value: Value?) -> String { value?.number.map { significant($0, 3) } ?? "-" }
}
