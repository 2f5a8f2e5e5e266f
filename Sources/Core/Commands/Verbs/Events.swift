import Messages

extension Command {
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
}
