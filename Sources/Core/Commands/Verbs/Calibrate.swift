extension Command {
    public static let calibrate = Command(
        "calibrate", "Measure offset and noise of a station's sensor at rest.",
        members: [.init("duration_s", .number(1...600, unit: "s"), "time at rest", standard: "20")],
        result: "offset, noise and magnitude at rest; also `sensor.calibration` in `state/info`"
    ) { request, _ in .effect(.sampling(.calibrate(seconds: request.members.number("duration_s") ?? 20))) }
}
