import Messages
import Settings

extension Command {
    public static let logTail = Command(
        "log-tail", "Show the last lines of a station's log.",
        members: [
            .init("lines", .whole(1...1000), "at most so many", standard: "100"),
            .init(
                "level", .choice(LogConfiguration.Level.allCases.map(\.rawValue)), "from this level on",
                standard: "`debug`"),
        ],
        result:
            "`lines`, the oldest first, each with `t`, `level`, `message`, `fields`; `others`: how many older ones the station "
            + "has; it keeps 1000 lines or 128 kB of those that `log.level` lets into its log",
        onlyTells: true, isRemembered: false
    ) { request, _ in
        let level = request.members.text("level").flatMap(LogConfiguration.Level.init) ?? .debug
        return .effect(.main(.logTail(request.members.whole("lines") ?? 100, level)))
    }
}
