import Messages

/// An event message on one line.
enum EventLine {
    static func text(_ station: String, _ event: Value) -> String {
        let kind = event["event_type"]?.text ?? "?"
        var parts = [station, kind, strength(event)]
        if kind != "onset", let seconds = event["duration_s"]?.real { parts.append("\(fixed(seconds, 1)) s") }
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

    /// Peak acceleration and the first intensity: `0.0412 m/s² III`.
    static func strength(_ event: Value) -> String {
        var parts: [String] = []
        if let pga = event["pga"]?.real { parts.append("\(significant(pga, 3)) m/s²") }
        if let one = event["intensity"]?.list?.first(where: { $0["value"]?.real != nil }) {
            let number = one["value"]?.real.map { fixed($0, 1) }
            parts.append(one["roman"]?.text ?? one["grade"]?.text ?? number ?? "")
        }
        return parts.joined(separator: " ")
    }
}
