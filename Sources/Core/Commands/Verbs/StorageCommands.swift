import Messages

/// Order to the thread that owns the disk.
public enum StorageOrder: Sendable, Equatable {
    /// Sends the waveform ring's samples between two times (ns of UTC), as miniSEED on `topic`.
    case snapshot(from: Int64, to: Int64, topic: String)
    /// Ends of events whose onset lies between two times (ns of UTC), the newest first.
    /// - after: the cursor of the reply before; 0: from the newest.
    indirect case events(
        ClosedRange<Int64>, minimum: Double?, likely: String?, labelled: Bool = false, limit: Int, after: Int64)
    /// One event; its waveform on a topic; nil: without.
    case event(String, topic: String?)
    /// Levels between two times, in steps of seconds.
    case history(ClosedRange<Int64>, step: Int, cbor: Bool)
    /// Intervals of vibration that begin between two times.
    case vibration(ClosedRange<Int64>, cbor: Bool)
    /// Modes of periods that begin between two times.
    case modes(ClosedRange<Int64>, cbor: Bool)
    /// Labels an event by its id; nil: takes its label away.
    case label(String, String?)
    /// Confirmation of an event by a network.
    indirect case confirm(EventConfirmation)
    /// Messages of a run of the agent, by the numbers of their stream, below a topic.
    indirect case resend(stream: String, boot: String, ClosedRange<Int>)
}

/// Commands for the thread that owns the disk.
extension Command {
    public static let snapshot = Command(
        "snapshot", "Fetch the waveform of a past interval as miniSEED.",
        members: [
            .init("last_s", .number(shortest...longest, unit: "s"), "the last so many seconds"),
            .init("from", .time, "or from this time"),
            .init("to", .time, "to this time"),
        ],
        result: "miniSEED on `data/history/waveform/<id>`, then `topic`, `from`, `to`, `bytes`, `messages`, "
            + "`records`, `samples`, `gaps`, `sha256`, `unit_per_count` (m/s²)",
        needsID: true, most: 2, check: snapshotProblem(in:)
    ) { request, context in
        let members = request.members
        let to = members.time("to") ?? context.wall
        let from = members.time("from") ?? to - Int64((members.number("last_s") ?? 0) * 1e9)
        let topic = "\(context.topics.historyPrefix)/waveform/\(request.id ?? "")"
        return .effect(.storage(.snapshot(from: from, to: to, topic: topic)))
    }

    private static let (shortest, longest) = (0.01, 604_800.0)

    @Sendable private static func snapshotProblem(in members: CommandMembers) -> CodedError? {
        let (hasFrom, hasTo) = (members.has("from"), members.has("to"))
        if members.has("last_s") {
            guard hasFrom || hasTo else { return nil }
            return CodedError(
                "/last_s", .crossField, "`last_s` cannot stand beside `from` and `to`: give one or the other.")
        }
        guard hasFrom, hasTo else {
            return CodedError(
                "", .crossField, "The interval is missing: give either `last_s`, or `from` and `to`.")
        }
        guard let from = members.time("from"), let to = members.time("to") else { return nil }
        let (length, overflow) = to.subtractingReportingOverflow(from)
        guard !overflow, length > 0, Double(length) <= longest * 1e9 else {
            return CodedError(
                "/to", .crossField, "`to` must be later than `from`.", allowed: "up to \(Int(longest)) s after `from`")
        }
        return nil
    }

    public static let events = Command(
        "events", "List the events that stations keep, the newest first.",
        members: [
            .init("from", .time, "with an onset from this time", standard: "the oldest that is kept"),
            .init("to", .time, "to this time", standard: "now"),
            .init("min_mmi", .number(0...12, unit: "MMI"), "of at least this intensity"),
            .init("class", .choice(["earthquake", "disturbance", "unclassified"]), "of this likely class"),
            .init("labelled", .flag, "only those with a label", standard: "false"),
            .init("limit", .whole(1...100), "at most so many", standard: "20"),
            .init("after", .whole(1...1 << 53), "older ones: `next` of the reply before"),
        ],
        result:
            "`matches`: how many there are in all; `events`: each as its `end` message, with its `label` if it has one, as many as 256 kB, or the broker's largest packet, hold; "
            + "`next`: cursor of the rest, or null",
        onlyTells: true, most: 2, isRemembered: false, check: { $0.orderProblem() }
    ) { request, _ in
        let members = request.members
        let from = members.time("from") ?? .min
        return .effect(
            .storage(
                .events(
                    from...max(from, members.time("to") ?? .max), minimum: members.number("min_mmi"),
                    likely: members.text("class"), labelled: members.flag("labelled"),
                    limit: members.whole("limit") ?? 20,
                    after: Int64(members.whole("after") ?? 0))))
    }

    public static let event = Command(
        "event", "Fetch one event, and with `waveform` also its records.",
        members: [
            .init("event_id", .text, "its `event_id`", isNeeded: true),
            .init("waveform", .flag, "also its miniSEED records", standard: "false"),
        ],
        result:
            "`event`: its newest message; with `waveform` miniSEED on `data/history/waveform/<id>`, then `topic`, `from`, "
            + "`to`, `bytes`, `messages`, `records`, `samples`, `gaps`, `sha256`",
        needsID: true, most: 2
    ) { request, context in
        let topic = "\(context.topics.historyPrefix)/waveform/\(request.id ?? "")"
        let isWanted = request.members.flag("waveform")
        return .effect(.storage(.event(request.members.text("event_id") ?? "", topic: isWanted ? topic : nil)))
    }

    public static let history = Command(
        "history",
        "Ask for the levels of the past: minimum, maximum and RMS of each axis, step by step; or for intervals of vibration, or natural modes.",
        members: [
            .init("from", .time, "from this time", isNeeded: true),
            .init("to", .time, "to this time", standard: "now"),
            .init("kind", .choice(["levels", "vibration", "modes"]), "what is wanted", standard: "levels"),
            .init(
                "step_s", .whole(1...86_400), "length of a step: under a minute any, above a multiple of 60",
                standard: "60"),
            .init("signals", .any, "`[\"raw\"]`, the only one that is kept", standard: "`[\"raw\"]`"),
            .init("encoding", .choice(["json", "cbor"]), "of the reply", standard: "json"),
        ],
        result:
            "`from`, `step_s`, `n`, `unit`, `ring_from`, and `x`, `y`, `z` with `min`, `max`, `rms` (gravity is in the "
            + "first two), null where nothing is known; `next`: where the rest begins, when the broker's largest packet does "
            + "not hold all. Of `vibration`: `kind`, `n`, `from`, `interval_s`, `band`, `limit` (its curve), `start_s`, "
            + "`seconds`, `gaps`, `interrupted`, `pvs`, `pvs_s`, and "
            + "`x`, `y`, `z` with `weighting`, `ppv`, `peak_s`, `frequency_hz`, `rms`, `displacement`, `acceleration`, `kb_fmax`, `kb_ftm`, `aw_rms`, `vdv`, "
            + "`floor`, and `half_cycles` (those that decide on limits: `interval`, `axis`, `value`, `peak_s`, `frequency_hz`) of at most 2000 intervals that were measured in the same way; `next`. Of `modes`: `kind`, `n`, `periods` as in "
            + "`data/modes`, at most 800; `next`",
        onlyTells: true, most: 2, isRemembered: false, check: historyProblem(in:)
    ) { request, context in
        let members = request.members
        let from = members.time("from") ?? 0
        let to = members.time("to") ?? context.wall
        let isCBOR = members.text("encoding") == "cbor"
        if let kind = members.text("kind"), kind != "levels" {
            guard to > from else { return .refuse([tooEarly]) }
            return .effect(
                .storage(kind == "modes" ? .modes(from...to, cbor: isCBOR) : .vibration(from...to, cbor: isCBOR)))
        }
        let step = members.whole("step_s") ?? 60
        guard to > from, Double(to) - Double(from) <= mostSteps * Double(step) * 1e9 else {
            return .refuse([tooMany])
        }
        return .effect(.storage(.history(from...to, step: step, cbor: isCBOR)))
    }

    private static let mostSteps = 5000.0
    private static let tooMany = CodedError(
        "/step_s", .crossField, "The interval has no steps, or more than 5000.",
        allowed: "`to` up to 5000 × step_s after `from`")

    private static let tooEarly = CodedError("/to", .crossField, "`to` must be later than `from`.")
    private static let ofLevels = ["step_s", "signals"]

    @Sendable private static func historyProblem(in members: CommandMembers) -> CodedError? {
        if members.text("kind") ?? "levels" != "levels", let name = ofLevels.first(where: { members[$0] != nil }) {
            return CodedError(
                "/" + name, .crossField, "Vibration and modes have intervals of their own.",
                allowed: "with kind `levels`")
        }
        if let signals = members["signals"], signals != ["raw"], signals != "raw" {
            return CodedError(
                "/signals", .range, "Of the past only `raw` is kept.", got: signals.shown, allowed: "[\"raw\"]")
        }
        if let step = members.whole("step_s"), step > 60, step % 60 != 0 {
            return CodedError(
                "/step_s", .crossField, "Steps above a minute are whole minutes.", got: .int(Int64(step)),
                allowed: "1…60, or a multiple of 60")
        }
        return nil
    }

    public static let resend = Command(
        "resend", "Publish messages again that a reader has missed.",
        members: [
            .init("stream", .text, "their topic below the id; kept are those of `event/trigger`", isNeeded: true),
            .init("boot", .text, "`boot` of the messages", isNeeded: true),
            .init("from_seq", .whole(0...1 << 53), "the first `seq` that is missing", isNeeded: true),
            .init("to_seq", .whole(0...1 << 53), "the last", isNeeded: true),
        ],
        result:
            "the messages on `data/history/<stream>`; `topic`, `sent`: how many, `gone`: pairs of `seq` from … to that are "
            + "kept no more, `waiting`: messages that wait for the broker and come by themselves",
        needsID: true, most: 2, check: resendProblem(in:)
    ) { request, _ in
        let members = request.members
        let from = members.whole("from_seq") ?? 0
        return .effect(
            .storage(
                .resend(
                    stream: members.text("stream") ?? "", boot: members.text("boot") ?? "",
                    from...max(from, members.whole("to_seq") ?? from))))
    }

    @Sendable private static func resendProblem(in members: CommandMembers) -> CodedError? {
        guard let from = members.whole("from_seq"), let to = members.whole("to_seq") else { return nil }
        guard to < from || to - from >= 10_000 else { return nil }
        return CodedError(
            "/to_seq", .crossField, "`to_seq` is earlier than `from_seq`, or these are more than 10000 messages.",
            got: .int(Int64(to)), allowed: "\(from)…\(from + 9999)")
    }

    /// So that the recordings of real houses become the next fit of the discriminator.
    public static let label = Command(
        "label", "Say what an event was; the label stays with it.",
        members: [
            .init("event_id", .text, "its `event_id`", isNeeded: true),
            .init("label", .choice(labels + [unlabelled]), "what it was; `none` takes a label away", isNeeded: true),
        ], result: "`event_id`, `label`"
    ) { request, _ in
        let members = request.members
        let label = members.text("label")
        return .effect(.storage(.label(members.text("event_id") ?? "", label == unlabelled ? nil : label)))
    }

    /// Labels that an event can have; the dashboard has a button for each.
    public static let labels = [
        "earthquake", "footsteps", "jump", "door", "knock", "furniture", "machine", "elevator", "truck", "bus", "train",
        "construction", "wind", "explosion", "moved", "other",
    ]
    private static let unlabelled = "none"
}
