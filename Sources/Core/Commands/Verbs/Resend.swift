import Messages

extension Command {
    public static let resend = Command(
        "resend", "Publish messages again that a reader has missed.",
        members: [
            .init("stream", .text, "their topic below the id; kept are those of `event/trigger`", isNeeded: true),
            .init("boot", .text, "`boot` of the messages", isNeeded: true),
            .init("from_seq", .whole(0...1 << 53), "the first `seq` that is missing", isNeeded: true),
            .init("to_seq", .whole(0...1 << 53), "the last", isNeeded: true),
        ],
        result:
            "the messages on `data/history/<stream>`; `topic`, `sent`: how many, `gone`: pairs of `seq` from … to that are "
            + "kept no more, `waiting`: messages that wait for the broker and come by themselves",
        needsID: true, most: 2, check: problem(in:)
    ) { request, _ in
        let members = request.members
        let from = members.whole("from_seq") ?? 0
        return .effect(
            .storage(
                .resend(
                    stream: members.text("stream") ?? "", boot: members.text("boot") ?? "",
                    from...max(from, members.whole("to_seq") ?? from))))
    }

    @Sendable private static func problem(in members: CommandMembers) -> CodedError? {
        guard let from = members.whole("from_seq"), let to = members.whole("to_seq") else { return nil }
        guard to < from || to - from >= 10_000 else { return nil }
        return CodedError(
            "/to_seq", .crossField, "`to_seq` is earlier than `from_seq`, or these are more than 10000 messages.",
            got: .int(Int64(to)), allowed: "\(from)…\(from + 9999)")
    }
}
