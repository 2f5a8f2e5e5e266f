import Glibc
import Messages
import Values

/// An event message on one line.
enum EventLine {
    static func text(_ station: String, _ event: Value) -> String {
        let kind = event["event_type"]?.text ?? "?"
        var parts = [station, kind, strength(event)]
        if kind != "onset", let seconds = event["duration_s"]?.number { parts.append("\(fixed(seconds, 1)) s") }
        if let assessment = assessment(event) { parts.append(assessment) }
        if event["confirmed"]?.flag == true { parts.append("confirmed by neighbours") }
        if let label = event["label"]?.text { parts.append("label: \(label)") }
        let detectors = (event["detectors"]?.list ?? []).map { detector in
            let axes = detector["axes"]?.texts ?? []
            return (detector["name"]?.text ?? "?") + (axes.isEmpty ? "" : " on \(axes.joined(separator: ","))")
        }
        if kind == "onset", !detectors.isEmpty { parts.append("by \(detectors.joined(separator: "; "))") }
        if event["clipped"]?.flag == true { parts.append("CLIPPED") }
        if let records = event["waveform", "records"]?.whole { parts.append("waveform of \(records) records") }
        if event["test"]?.flag == true { parts.append("test") }
        let key = kind == "end" ? "end" : "onset"
        return dateAndTime((event[key] ?? event["t"])?.rawText) + "  " + parts.joined(separator: "  ")
    }

    /// Assessment of an event, and the shaking to come: `earthquake 93 %  ALARM  PGV 3 cm/s to come (0.8 to 13)`; nil
    /// before anything is known. The percentage is always the probability of an earthquake, and says so: `disturbance
    /// (earthquake 10 %)`.
    static func assessment(_ event: Value) -> String? {
        var parts: [String] = []
        if let likely = event["class", "likely"]?.text {
            switch (likely, event["class", "p"]?.number) {
            // An earthquake is one until the probability has been low for a while.
            case ("earthquake", let p?) where p >= 0.5: parts.append("\(likely) \(percent(p))")
            case ("earthquake", _), (_, nil): parts.append(likely)
            case (_, let p?): parts.append("\(likely) (earthquake \(percent(p)))")
            }
        }
        if event["class", "moved"]?.flag == true { parts.append("the sensor was moved") }
        if event["alarm"]?.flag == true { parts.append("ALARM") }
        if event["event_type"]?.text != "end", let pgv = event["onsite", "pgv_predicted"]?.number,
            let low = event["onsite", "pgv_low"]?.number, let high = event["onsite", "pgv_high"]?.number
        {
            let (least, most) = (significant(low * 100, 2), significant(high * 100, 2))
            let more = event["onsite", "saturated"]?.flag == true ? ", may become much more" : ""
            parts.append("PGV \(significant(pgv * 100, 2)) cm/s to come (\(least) to \(most)\(more))")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "  ")
    }

    /// Never 0 or 100: nothing is sure.
    static func percent(_ p: Double) -> String { "\(Int(min(99, max(1, (p * 100).rounded())))) %" }

    /// Peak acceleration and the first intensity: `0.0412 m/s² III`.
    static func strength(_ event: Value) -> String {
        var parts: [String] = []
        if let pga = event["pga"]?.number {
            parts.append("\(significant(pga, 3)) m/s²")
            if !CertainIntensity.isAccelerationValid(event) { parts.append("(not certain)") }
        }
        if let one = event["intensity"]?.list?.first(where: { $0["value"]?.number != nil }) {
            let number = one["value"]?.number.map { fixed($0, 1) }
            parts.append(one["roman"]?.text ?? one["grade"]?.text ?? number ?? "")
            if !CertainIntensity.isCertain(one, in: event) { parts.append("(not certain)") }
        }
        return parts.joined(separator: " ")
    }
}
