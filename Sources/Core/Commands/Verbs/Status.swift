import Messages

extension Command {
    public static let status = Command(
        "status", "Show the state of stations: sensor, clock, queues, memory.",
        result: "as `state/health`, with `online` and `rev`", onlyTells: true
    ) { _, context in .reply(context.status()) }
}
