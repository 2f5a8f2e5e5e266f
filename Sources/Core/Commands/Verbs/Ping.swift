import Messages

extension Command {
    public static let ping = Command(
        "ping", "Ask whether stations answer, and how soon.", result: "`version`, `boot`, `uptime_s`", onlyTells: true
    ) { _, context in
        .reply([
            "version": .string(productVersion), "boot": .string(context.boot),
            "uptime_s": .double((context.uptime * 1000).rounded() / 1000),
        ])
    }
}
