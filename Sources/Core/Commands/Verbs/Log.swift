import Messages
import Settings

extension Command {
    public static let log = Command(
        "log", "Receive a station's log over MQTT for a while.",
        members: [
            .init("duration_s", .number(0...86_400, unit: "s"), "for so long; 0 ends it", standard: "60; 0 ends it"),
            .init(
                "level", .choice(LogConfiguration.Level.allCases.map(\.rawValue)), "from this level on",
                standard: "`info`"),
        ],
        result: "`until`; lines come on `event/log/<level>` with `level`, `message`, `fields`"
    ) { request, _ in
        let level = request.members.text("level").flatMap(LogConfiguration.Level.init) ?? .info
        return .effect(.main(.log(level, seconds: request.members.number("duration_s") ?? 60)))
    }
}
