extension Command {
    public static let configReset = Command(
        "config-reset", "Drop everything that was set remotely.", members: CommandMember.change, result: "as `config`"
    ) { request, _ in .effect(.settings(.change(ConfigChange(.reset, request.members)))) }
}
