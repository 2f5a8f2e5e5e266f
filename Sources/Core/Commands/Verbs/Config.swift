import Messages

extension Command {
    public static let config = Command(
        "config", "Change settings of stations.",
        members: [.init("set", .object, "an object with the settings to change", isNeeded: true)]
            + CommandMember.change,
        result: "see below"
    ) { request, _ in
        .effect(.settings(.change(ConfigChange(.merge(request.members["set"] ?? [:]), request.members))))
    }
}
