import Messages

extension Command {
    /// A network of stations tells each of them whose onset is in a network event; see `detection.event.confirmation`.
    public static let confirmEvent = Command(
        "confirm-event", "Say that neighbours have seen the earthquake of an event, too.",
        members: [
            .init("event_id", .text, "its `event_id`", isNeeded: true),
            .init("network_event", .text, "`event_id` of the network event, `net-...`", isNeeded: true),
            .init("confirmed", .flag, "false takes it back: the network event was none", standard: "true"),
        ], result: "`event_id`, `confirmed`",
        check: { members in
            guard let name = members.text("network_event"), !EventID.isOfNetwork(name) else { return nil }
            return CodedError(
                "/network_event", .range, "The id of a network event has to stand here.", got: .string(name),
                allowed: "net- and 1 to 60 of letters, digits, _ and -")
        }
    ) { request, context in
        guard context.takesConfirmations else { return .refuse([takesNone]) }
        let members = request.members
        let confirmation = EventConfirmation(
            eventID: members.text("event_id") ?? "", networkEvent: members.text("network_event") ?? "",
            isConfirmed: !members.has("confirmed") || members.flag("confirmed"))
        // The open event is marked by the thread that has it; what is kept is the reply's business.
        return .effect(.both(.confirm(confirmation), .confirm(confirmation)))
    }

    private static let takesNone = CodedError(
        "", .unavailable, "This station's events are not marked by others: detection.event.confirmation is false.",
        allowed: "with detection.event.confirmation: true")
}
