import Messages
import Settings
import Values

/// Order to the main thread.
public enum MainOrder: Sendable, Equatable {
    /// All retained messages again.
    case rebirth
    /// The log over MQTT for a while.
    case log(LogConfiguration.Level, seconds: Double)
    /// So many of its last lines, from a level on.
    case logTail(Int, LogConfiguration.Level)
    /// The agent ends in order; its supervisor starts it again.
    case restart
    /// Another version of the agent, by the program that may install it.
    indirect case update(UpdateRequest)
    /// This version, which runs on trial, is good.
    indirect case confirmUpdate(String)
}

/// Commands that the main thread carries out, or answers at once.
extension Command {
    public static let alerts = Command(
        "alerts", "Show the active alerts of stations.", result: "`alerts`: the active ones", onlyTells: true
    ) { _, context in .reply(["alerts": .array(context.alerts.map(\.value))]) }

    public static let status = Command(
        "status", "Show the state of stations: sensor, clock, queues, memory.",
        result: "as `state/health`, with `online` and `rev`", onlyTells: true
    ) { _, context in .reply(context.status()) }

    public static let rebirth = Command(
        "rebirth", "Have stations publish their retained messages again.",
        result: "`topics`: how many retained messages are sent again"
    ) { _, _ in .effect(.main(.rebirth)) }

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

    public static let ping = Command(
        "ping", "Ask whether stations answer, and how soon.", result: "`version`, `boot`, `uptime_s`", onlyTells: true
    ) { _, context in
        .reply([
            "version": .string(productVersion), "boot": .string(context.boot),
            "uptime_s": .double((context.uptime * 1000).rounded() / 1000),
        ])
    }

    public static let time = Command(
        "time", "Ask for the clock of stations: its time, source, error and offset.",
        result:
            "`t`; `synced`, `source`, `error_ms` of the host's clock, as in `state/health`; `offset_ms`: how far it is "
            + "behind its source, null where the kernel does not know",
        onlyTells: true
    ) { _, context in
        let (quality, offset) = context.clock()
        return .reply(
            Value.object([
                .init("t", .string(Timestamp(nanoseconds: context.wall).description)),
                .init("synced", .bool(quality.synced)), .init("source", .string(quality.source.rawValue)),
            ])
            .with("error_ms", quality.errorMs.map { .double($0) })
            .with("offset_ms", offset.map { .double(Double($0) / 1e6) } ?? .null))
    }

    public static let restart = Command(
        "restart", "End the agent, so that its supervisor starts it again.",
        result: "the agent ends in order; its supervisor starts it again", groupDelay: 30
    ) { _, _ in .effect(.main(.restart)) }
}

extension AlertMessage {
    /// The same as a tree.
    var value: Value { (try? JSONReader.read(json())) ?? .object([]) }
}
