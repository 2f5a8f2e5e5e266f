import SignalProcessing

extension SettingsTable {
    static let sensor = Chapter(
        key: "sensor", help: "Where the samples come from.",
        settings: [
            Setting(
                "sensor.driver", \.sensor.driver, .choice(), apply: .restartStream,
                "auto takes the first accelerometer found; simulate makes samples up; replay plays a recording."),
            Setting(
                "sensor.rate_hz", \.sensor.rate, .frequency(.from(1, to: 4000)), apply: .restartStream,
                "Samples per second that the sensor is set to; a recording that is replayed has its own."),
            Setting(
                "sensor.range", \.sensor.range, .acceleration(.above(0, to: 200 * standardGravity)), written: "2 g",
                apply: .restartStream, "Full scale that the sensor is set to, either way from zero."),
        ] + mounting + simulate + replay)

    private static let mounting = [
        Setting(
            "sensor.mounting.x", \.sensor.mounting.sources.x, .mountingSource, apply: .restartStream,
            "The sensor's axis that points along the station's x (east, or along the building)."),
        Setting(
            "sensor.mounting.y", \.sensor.mounting.sources.y, .mountingSource, apply: .restartStream,
            "The sensor's axis that points along the station's y (north, or across the building)."),
        Setting(
            "sensor.mounting.z", \.sensor.mounting.sources.z, .mountingSource, apply: .restartStream,
            "The sensor's axis that points up."),
        Setting(
            "sensor.mounting.north_deg", \.sensor.mounting.north, .number(.from(-360, to: 360), unit: "degrees"),
            apply: .live, "Bearing of the station's y axis, clockwise from true north."),
    ]

    private static let simulate = [
        Setting(
            "sensor.simulate.noise", \.sensor.simulate.noise,
            .acceleration(.from(0, to: 2 * standardGravity)), written: "0.3 mg", apply: .restartStream,
            "RMS of the simulated sensor's own noise on each axis."),
        Setting(
            "sensor.simulate.scenario", \.sensor.simulate.scenario, .choice(), apply: .restartStream,
            "What the simulated sensor feels."),
        Setting(
            "sensor.simulate.seed", \.sensor.simulate.seed, .seed, apply: .restartStream,
            "The same seed gives the same samples."),
        Setting(
            "sensor.simulate.amplitude", \.sensor.simulate.amplitude,
            .acceleration(.from(0, to: 16 * standardGravity)), written: "1 g", apply: .restartStream,
            "Size of the scenarios sine, step and impulse."),
        Setting(
            "sensor.simulate.frequency_hz", \.sensor.simulate.frequency, .frequency(.above(0, to: 2000)),
            apply: .restartStream, "Frequency of the scenario sine."),
    ]

    private static let replay = [
        Setting(
            "sensor.replay.file", \.sensor.replay.file, .path, apply: .restartStream, remote: false,
            "Recording to play: CSV with t,x,y,z, or miniSEED. Not to be set remotely: it would read any file."),
        Setting(
            "sensor.replay.speed", \.sensor.replay.speed, .number(.from(0, to: 10_000), unit: "times real time"),
            apply: .restartStream, "How fast; 0 is as fast as possible."),
        Setting("sensor.replay.loop", \.sensor.replay.loop, .bool, apply: .restartStream, "Begin again at the end."),
        Setting(
            "sensor.replay.scale", \.sensor.replay.scale, .scale, apply: .restartStream,
            "m/s^2 per count of miniSEED integers, or per unit of a CSV file; one number or [x, y, z]."),
        Setting(
            "sensor.replay.unit", \.sensor.replay.unit, .choice(), apply: .restartStream,
            "Unit of the columns of a CSV file."),
    ]
}
