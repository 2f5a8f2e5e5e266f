import Administration

/// Retained messages of an earlier id or prefix, which show a station that is no more.
enum LeftoverCheck {
    static func judge(_ facts: Facts) -> [Verdict] {
        facts.leftovers.judge { leftovers in
            var wrong: [Verdict] = []
            for base in leftovers.bases where !base.isOnline {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "retained_leftovers", .warning,
                            "The broker still has \(base.topics.count) retained messages below \(base.base), \(base.reason).",
                            remedy: clear(base.topics, leftovers))))
            }
            if !leftovers.staleAlerts.isEmpty {
                wrong.append(
                    .wrong(
                        Diagnosis(
                            "retained_leftovers", .warning,
                            "The broker still has alerts that the station does not have any more: \(leftovers.staleAlerts.joined(separator: ", ")).",
                            remedy: clear(leftovers.staleAlerts, leftovers))))
            }
            return wrong.isEmpty ? [.fine("the broker keeps nothing of earlier names")] : wrong
        }
    }

    private static func clear(_ topics: [String], _ facts: LeftoverFacts) -> String {
        "Empty them with an account that may: for t in \(topics.map { shellWord($0) }.joined(separator: " ")); do mosquitto_pub \(facts.publish) -r -n -t \"$t\"; done"
    }
}
