import Messages

extension Command {
    public static let snapshot = Command(
        "snapshot", "Fetch the waveform of a past interval as miniSEED.",
        members: [
            .init("last_s", .number(shortest...longest, unit: "s"), "the last so many seconds"),
            .init("from", .time, "or from this time"),
            .init("to", .time, "to this time"),
        ],
        result: "miniSEED on `data/history/waveform/<id>`, then `topic`, `from`, `to`, `bytes`, `messages`, "
            + "`records`, `samples`, `gaps`, `sha256`, `unit_per_count` (m/s²)",
        needsID: true, most: 2, check: problem(in:)
    ) { request, context in
        let members = request.members
        let to = members.time("to") ?? context.wall
        let from = members.time("from") ?? to - Int64((members.number("last_s") ?? 0) * 1e9)
        let topic = "\(context.topics.historyPrefix)/waveform/\(request.id ?? "")"
        return .effect(.storage(.snapshot(from: from, to: to, topic: topic)))
    }

    private static let (shortest, longest) = (0.01, 604_800.0)

    @Sendable private static func problem(in members: CommandMembers) -> CodedError? {
        let (hasFrom, hasTo) = (members.has("from"), members.has("to"))
        if members.has("last_s") {
            guard hasFrom || hasTo else { return nil }
            return CodedError(
                "/last_s", .crossField, "`last_s` cannot stand beside `from` and `to`: give one or the other.")
        }
        guard hasFrom, hasTo else {
            return CodedError(
                "", .crossField, "The interval is missing: give either `last_s`, or `from` and `to`.")
        }
        guard let from = members.time("from"), let to = members.time("to") else { return nil }
        let (length, overflow) = to.subtractingReportingOverflow(from)
        guard !overflow, length > 0, Double(length) <= longest * 1e9 else {
            return CodedError(
                "/to", .crossField, "`to` must be later than `from`.", allowed: "up to \(Int(longest)) s after `from`")
        }
        return nil
    }
}
