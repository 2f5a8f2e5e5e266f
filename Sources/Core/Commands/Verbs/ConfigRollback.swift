extension Command {
    public static let configRollback = Command(
        "config-rollback", "Go back to an earlier revision of the settings.",
        members: [
            .init("to_rev", .whole(0...Int(Int32.max)), "the revision; else the last good one that differs")
        ] + CommandMember.change,
        result: "as `config`"
    ) { request, _ in
        .effect(.settings(.change(ConfigChange(.rollback(to: request.members.whole("to_rev")), request.members))))
    }
}
