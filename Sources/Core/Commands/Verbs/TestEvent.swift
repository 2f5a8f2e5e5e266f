extension Command {
    public static let testEvent = Command(
        "test-event", "Make an event as if the ground had shaken, marked as a test.",
        result: "`event_id`; all its messages have `test: true`"
    ) { _, _ in .effect(.sampling(.testEvent)) }
}
