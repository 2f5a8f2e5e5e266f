extension Command {
    public static let restart = Command(
        "restart", "End the agent, so that its supervisor starts it again.",
        result: "the agent ends in order; its supervisor starts it again", groupDelay: 30
    ) { _, _ in .effect(.main(.restart)) }
}
