extension Command {
    public static let configConfirm = Command(
        "config-confirm", "Confirm a change that would go back by itself.",
        members: [.init("rev", .whole(0...Int(Int32.max)), "the revision; else whatever is pending")],
        result: "`rev`"
    ) { request, _ in .effect(.settings(.confirm(revision: request.members.whole("rev")))) }
}
