import Messages

extension Command {
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
