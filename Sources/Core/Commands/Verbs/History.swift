import Messages

extension Command {
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
        onlyTells: true, most: 2, isRemembered: false, check: problem(in:)
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

    @Sendable private static func problem(in members: CommandMembers) -> CodedError? {
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
}
