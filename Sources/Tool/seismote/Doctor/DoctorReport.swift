import Values

/// Results of all checks, for people and for programs.
struct DoctorReport {
    let results: [(check: String, verdict: Verdict)]
    private let station: String
    private let path: String

    init(_ facts: Facts, checks: [DoctorCheck] = DoctorCheck.all) {
        results = checks.flatMap { check in check.judge(facts).map { (check.name, $0) } }
        (station, path) = (facts.settings.configuration.station.id, facts.settings.path)
    }

    var diagnoses: [Diagnosis] { results.compactMap(\.verdict.diagnosis) }

    /// As wide as it is, but on a terminal as it has room for.
    var text: String { text(width: Terminal.width ?? .max) }

    func text(width: Int) -> String {
        // On a narrow one what is said stands below the check's name.
        let indent = width < 80 ? 4 : 24
        var lines = ["Station \(station), \(path)", ""]
        for (check, verdict) in results {
            switch verdict {
            case .fine(let words): lines.append(line("ok", check, words, width))
            case .skipped(let reason): lines.append(line("skipped", check, reason, width))
            case .wrong(let diagnosis):
                lines.append(line(diagnosis.severity == .error ? "WRONG" : "warning", check, diagnosis.message, width))
                let remedy = wrapped("[\(diagnosis.code)] To fix: \(diagnosis.remedy)", width: width, indent: indent)
                lines.append(String(repeating: " ", count: indent) + remedy)
            }
        }
        return lines.joined(separator: "\n") + "\n\n" + summary
    }

    private var summary: String {
        let errors = diagnoses.filter { $0.severity == .error }.count
        let skipped = results.count { if case .skipped = $0.verdict { true } else { false } }
        func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
        let found =
            diagnoses.isEmpty
            ? "Nothing is wrong" : "\(count(errors, "fault")), \(count(diagnoses.count - errors, "warning"))"
        return found + (skipped > 0 ? "; \(count(skipped, "check")) skipped" : "")
    }

    private func line(_ mark: String, _ check: String, _ words: String, _ width: Int) -> String {
        func padded(_ text: String, _ width: Int) -> String {
            text + String(repeating: " ", count: max(1, width - text.count))
        }
        if width < 80 {
            return padded(mark, 9) + check + "\n    " + wrapped(words, width: width, indent: 4)
        }
        return padded(mark, 9) + padded(check, 15) + wrapped(words, width: width, indent: 24)
    }

    var value: Value {
        let checks = results.map { check, verdict -> Value in
            var members: [Value.Member] = [.init("check", .string(check))]
            func add(_ key: String, _ text: String) { members.append(.init(key, .string(text))) }
            switch verdict {
            case .fine(let words):
                add("outcome", "fine")
                add("message", words)
            case .skipped(let reason):
                add("outcome", "skipped")
                add("message", reason)
            case .wrong(let diagnosis):
                add("outcome", "wrong")
                add("code", diagnosis.code)
                add("severity", diagnosis.severity.rawValue)
                add("message", diagnosis.message)
                add("remedy", diagnosis.remedy)
            }
            return .object(members)
        }
        return ["ok": .bool(diagnoses.isEmpty), "station": .string(station), "checks": .array(checks)]
    }
}
