import Messages
import Values

extension AlertChapter {
    static let vibration = AlertChapter(title: "Vibration", alerts: [VibrationLimitReached.self])
}

struct VibrationLimitReached: Alert {
    static let declaration = AlertDeclaration(
        "vibration_limit", .error, "Vibration limit reached",
        "An interval of `data/vibration` has reached `vibration.limit`. The message has the largest interval "
            + "since the alert was raised, and is published again for a larger one. The alert ends with the first "
            + "interval below the warning share, and when the sensor is lost.",
        remedy:
            "Find out what shakes; `seismote report` makes a page of the intervals and their limit. Where the limit is not "
            + "that of this place, set `vibration.limit`",
        see: "[vibration](../understand/vibration.md#limits)",
        lesser: "when only `vibration.warn_share` of the limit is reached",
        details:
            "For the last interval: `limit` (its name), `axis`, `value`, `allowed`, `unit`, `share`, `start`; of a peak `t` and, "
            + "where it is known, `frequency_hz` of its half cycle.")

    /// The largest since it was raised.
    private var largest: VibrationMessage.Standing?

    mutating func look(_ facts: AlertFacts) -> AlertFault? {
        guard let now = facts.vibration, now.state != .ok, facts.sensor.description != nil else {
            largest = nil
            return nil
        }
        let isLess =
            largest.map { $0.state == now.state && $0.limit.name == now.limit.name && $0.share >= now.share } ?? false
        if !isLess { largest = now }
        let share = now.limit.share
        var details: [Value.Member] = [
            .init("limit", .string(now.limit.name)), .init("axis", .string(now.limit.axis)),
            .init("value", .double(share.value)), .init("allowed", .double(share.limit)),
            .init("unit", .string(now.unit)), .init("share", .double(now.share)),
            .init("start", .string(Timestamp(nanoseconds: now.start).description)),
        ]
        if let time = share.time { details.append(.init("t", .string(Timestamp(nanoseconds: time).description))) }
        if let frequency = share.frequency { details.append(.init("frequency_hz", .double(frequency))) }
        return AlertFault(
            (largest ?? now).sentence, .object(details), now.state == .exceeded ? .error : .warning)
    }
}

extension VibrationMessage.Standing {
    fileprivate var share: Double { limit.share.ratio }

    fileprivate var sentence: String {
        let percent = Int((min(share, 1e6) * 100).rounded())
        let stretch = "in the interval from \(Timestamp(nanoseconds: start))"
        let frequency = limit.share.frequency.map { " at \(($0 * 10).rounded() / 10) Hz" } ?? ""
        return "\(limit.axis) reached \(Self.short(limit.share.value)) \(unit)\(frequency), \(percent) % of the limit "
            + "\(Self.short(limit.share.limit)) \(unit) of \(limit.name), \(stretch)"
    }

    /// Two digits behind the point.
    private static func short(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
