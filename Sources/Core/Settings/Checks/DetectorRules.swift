import Seismology

/// The rules between the settings of detectors: the filter of each against the rate, what its file says, and votes.
enum DetectorRules {
    static let all: [CrossFieldRules.Rule] = {
        var (settings, rules) = (DetectionConfiguration(), Rules())
        settings.visit(&rules)
        let enabled = DetectionConfiguration.names.map { "/detection/\($0)/enabled" }
        return rules.filters + rules.own + [.init(uses: enabled + ["/detection/event/votes"], check: votes)]
    }()

    private static func votes(_ c: Configuration, _ findings: inout Findings) {
        let enabled = c.detection.enabled.count
        guard enabled > 0, c.detection.event.votes > enabled else { return }
        findings.add(
            "/detection/event/votes", .crossField,
            "No event would ever be declared: fewer detectors are enabled than votes are needed.",
            got: .int(Int64(c.detection.event.votes)), allowed: "1…\(enabled)")
    }

    private struct Rules: DetectorSettingsVisitor {
        var filters: [CrossFieldRules.Rule] = []
        var own: [CrossFieldRules.Rule] = []

        mutating func visit<S: DetectorSettings>(_: inout S) {
            let place = "/detection/\(S.name)"
            for field in S.fields {
                guard case .ownFilter(let filter) = field.kind else { continue }
                filters.append(
                    .init(uses: ["/sensor/rate_hz", "/sensor/driver", place]) { c, findings in
                        let settings = c.detection[S.self]
                        guard settings.enabled, let rate = CrossFieldRules.rate(c),
                            let specification = settings[keyPath: filter]
                        else { return }
                        CrossFieldRules.check(specification, "\(place)/\(field.key)", rate, &findings)
                    })
            }
            own.append(
                .init(uses: [place]) { c, findings in
                    let settings = c.detection[S.self]
                    guard settings.enabled else { return }
                    for problem in settings.problems {
                        findings.add(
                            "\(place)/\(problem.key)", .crossField, problem.message, got: .shortest(problem.got),
                            allowed: problem.allowed)
                    }
                })
        }
    }
}
