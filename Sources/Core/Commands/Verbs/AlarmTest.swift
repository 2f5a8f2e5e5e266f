import Messages

extension Command {
    /// A pattern that nobody can guess shows that it was this test that switched the relay.
    public static let alarmTest = Command(
        "alarm-test", "Switch the alarm's line in a pattern, to see and hear whether it works.",
        members: [
            CommandMember("pattern", .text, "up to 64 digits, 1 for on and 0 for off", standard: "16 random ones"),
            CommandMember("step_s", .number(0.05...5, unit: "s"), "how long each of them lasts", standard: "0.25"),
        ], result: "`pattern` as it was played; fails where the line does not follow", most: 1,
        check: { members in
            guard let pattern = members.text("pattern") else { return nil }
            let isGood = (1...64).contains(pattern.utf8.count) && pattern.utf8.allSatisfy { $0 == 48 || $0 == 49 }
            return isGood
                ? nil
                : CodedError(
                    "/pattern", .range, "This is no pattern.", got: .string(pattern),
                    allowed: "1 to 64 of the digits 0 and 1")
        }
    ) { request, _ in
        .effect(
            .alarm(.test(request.members.text("pattern"), step: request.members.number("step_s") ?? 0.25)))
    }
}
