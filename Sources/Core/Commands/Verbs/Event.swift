import Messages

extension Command {
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
}
