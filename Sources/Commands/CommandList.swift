extension Command {
    /// Every command, in the order in which the documents and `state/info` list them.
    public static let all: [Command] = [
        .config,
        .configConfirm,
        .configRollback,
        .configReset,
        .configGet,
        .snapshot,
        .stream,
        .resetExtremes,
        .calibrate,
        .selftest,
        .testEvent,
        .alerts,
        .status,
        .rebirth,
        .log,
        .ping,
        .time,
        .restart,
    ]
}
