import Messages
import SignalProcessing

extension SettingsTable {
    static let sensor = Chapter(
        key: "sensor", title: "Sensor", help: "Where the samples come from.", owners: .sampling,
        sections: [
            ("mounting", "Mounting"), ("calibration", "Calibration"), ("iio", "IIO"), ("i2c", "I2C"),
            ("simulate", "Simulated sensor"), ("replay", "Replay"),
        ],
        settings: [
            StationSetting(
                "sensor.driver", \.sensor.driver, .choice(), apply: .restartStream,
                title: "Driver",
                "auto uses the first accelerometer found, through the kernel's driver rather than directly; iio: only the kernel's "
                    + "driver; i2c: only directly; simulate: made-up samples; replay: a recording."),
            StationSetting(
                "sensor.rate_hz", \.sensor.rate, .frequency(.from(1, to: 4000)), apply: .restartStream,
                title: "Sample rate",
                "Samples per second that the sensor is set to; a recording that is replayed has its own."),
            StationSetting(
                "sensor.range", \.sensor.range, .acceleration(.above(0, to: 200 * standardGravity)), written: "2 g",
                apply: .restartStream,
                title: "Full-scale range", "Full scale that the sensor is set to, either way from zero."),
            StationSetting(
                "sensor.block_s", \.sensor.block, .time(.from(0.001, to: 1)), apply: .restartStream,
                title: "Reading interval",
                advanced: true,
                "How long the sensor collects samples before they are read: shorter tells an onset or an alarm sooner, and takes "
                    + "more of the processor."),
            StationSetting(
                "sensor.resample", \.sensor.resample, .bool, apply: .restartStream,
                title: "Resample to whole seconds", advanced: true,
                "Put the samples on the grid of rate_hz, aligned to whole seconds of UTC, by the measured rate; else they "
                    + "stay as the sensor took them."),
            StationSetting(
                "sensor.self_test", \.sensor.selfTest, .bool, apply: .restartStream,
                title: "Self-test at start", advanced: true,
                "Run the chip's self-test at the start (a second or two without data)."),
        ] + mounting + calibration + iio + i2c + simulate + replay)

    private static let mounting = [
        StationSetting(
            "sensor.mounting.x", \.sensor.mounting.sources.x, .mountingSource, apply: .restartStream,
            title: "Sensor axis along x", advanced: true,
            "The sensor's axis that points along the station's x (east, or along the building)."),
        StationSetting(
            "sensor.mounting.y", \.sensor.mounting.sources.y, .mountingSource, apply: .restartStream,
            title: "Sensor axis along y", advanced: true,
            "The sensor's axis that points along the station's y (north, or across the building)."),
        StationSetting(
            "sensor.mounting.z", \.sensor.mounting.sources.z, .mountingSource, apply: .restartStream,
            title: "Sensor axis along z", advanced: true,
            "The sensor's axis that points up."),
        StationSetting(
            "sensor.mounting.north_deg", \.sensor.mounting.north, .number(.from(-360, to: 360), unit: "degrees"),
            apply: .live,
            title: "Bearing of the y axis", "Bearing of the station's y axis, clockwise from true north."),
        StationSetting(
            "sensor.mounting.rotation_deg", \.sensor.mounting.rotation, .rotation, apply: .restartStream,
            title: "Rotation", advanced: true,
            "[roll, pitch, yaw]: rotation of the sensor about x, then y, then z, after the axis map; it is corrected for."
        ),
        StationSetting(
            "sensor.mounting.level", \.sensor.mounting.level, .bool, apply: .restartStream,
            title: "Level by gravity", advanced: true,
            "Rotate z to the vertical, as found from gravity in the first seconds at rest."),
    ]

    private static let calibration = [
        StationSetting(
            "sensor.calibration.offset", \.sensor.calibration.offset, .offset, apply: .restartStream,
            title: "Calibration offset", advanced: true,
            "[x, y, z] in m/s^2, in the sensor's own axes, subtracted first; seismote calibrate determines it."
        ),
        StationSetting(
            "sensor.calibration.matrix", \.sensor.calibration.matrix, .matrix, apply: .restartStream,
            title: "Calibration matrix", advanced: true,
            "Scale and cross-axis correction after the offset, nine numbers by rows; seismote calibrate determines it."),
    ]

    private static let iio = [
        StationSetting(
            "sensor.iio.device", \.sensor.iio.device, .text(.line(64)), apply: .restartStream,
            title: "IIO device", advanced: true,
            "Name, label or id (iio:device0) of the device; auto: the first with the channels of an accelerometer."),
        StationSetting(
            "sensor.iio.uri", \.sensor.iio.uri, .text(.line(256)), apply: .restartStream, remote: .no,
            title: "IIO context URI", advanced: true,
            "URI of libiio: local:, ip:host or usb:. It cannot be set remotely, since it can name any host."),
        StationSetting(
            "sensor.iio.trigger", \.sensor.iio.trigger, .choice(), apply: .restartStream,
            title: "IIO trigger", advanced: true,
            "What triggers the buffer: the device's own trigger, a timer of the kernel (hrtimer), one of software (sysfs), "
                + "none (values are polled); auto takes the first that works."),
    ]

    private static let i2c = [
        StationSetting(
            "sensor.i2c.bus", \.sensor.i2c.bus, .integer(0...255), apply: .restartStream,
            title: "I2C bus", advanced: true,
            "Number of the bus: 1 is /dev/i2c-1."),
        StationSetting(
            "sensor.i2c.address", \.sensor.i2c.address,
            .optional(.integer(0x08...0x77), none: "wherever a known chip may be"), apply: .restartStream,
            title: "I2C address", advanced: true,
            "Address of the chip, such as 0x53."),
        StationSetting(
            "sensor.i2c.chip", \.sensor.i2c.chip, .text(.line(32)), apply: .restartStream,
            title: "Chip", advanced: true,
            "Name of the chip, such as adxl345; auto: whatever identifies itself."),
        StationSetting(
            "sensor.i2c.data_ready", \.sensor.i2c.dataReady, .text(.line(64)), apply: .restartStream, remote: .no,
            title: "Data-ready GPIO line", advanced: true,
            "GPIO line at which the chip says that data are ready, such as gpiochip0:17; empty: none, the FIFO is read by "
                + "time."),
    ]

    private static let simulate = [
        StationSetting(
            "sensor.simulate.noise", \.sensor.simulate.noise,
            .acceleration(.from(0, to: 2 * standardGravity)), written: "0.3 mg", apply: .restartStream,
            title: "Noise", advanced: true,
            "RMS of the simulated sensor's own noise on each axis."),
        StationSetting(
            "sensor.simulate.scenario", \.sensor.simulate.scenario, .choice(), apply: .restartStream,
            title: "Scenario", advanced: true,
            "The motion that is simulated."),
        StationSetting(
            "sensor.simulate.seed", \.sensor.simulate.seed, .seed, apply: .restartStream,
            title: "Random seed", advanced: true,
            "The same seed gives the same samples."),
        StationSetting(
            "sensor.simulate.amplitude", \.sensor.simulate.amplitude,
            .acceleration(.from(0, to: 16 * standardGravity)), written: "1 g", apply: .restartStream,
            title: "Amplitude", advanced: true,
            "Size of the scenarios sine, step and impulse."),
        StationSetting(
            "sensor.simulate.frequency_hz", \.sensor.simulate.frequency, .frequency(.above(0, to: 2000)),
            apply: .restartStream,
            title: "Frequency", advanced: true, "Frequency of the scenario sine."),
    ]

    private static let replay = [
        StationSetting(
            "sensor.replay.file", \.sensor.replay.file, .path, apply: .restartStream, remote: .no,
            title: "Recording", advanced: true,
            "Recording to play: CSV with t,x,y,z, or miniSEED. It cannot be set remotely, since it can name any file."),
        StationSetting(
            "sensor.replay.speed", \.sensor.replay.speed, .number(.from(0, to: 10_000), unit: "times real time"),
            apply: .restartStream,
            title: "Speed", advanced: true, "How fast; 0 is as fast as possible."),
        StationSetting(
            "sensor.replay.loop", \.sensor.replay.loop, .bool, apply: .restartStream,
            title: "Repeat at the end", advanced: true, "Begin again at the end."),
        StationSetting(
            "sensor.replay.scale", \.sensor.replay.scale, .optional(.scale, none: "what the recording says"),
            apply: .restartStream,
            title: "Scale", advanced: true,
            """
            m/s^2 per count of miniSEED integers, or per unit of the file; one number or [x, y, z]. Counts need it, \
            unless they are waveforms of this agent in miniSEED 3, which say it themselves.
            """),
        StationSetting(
            "sensor.replay.unit", \.sensor.replay.unit, .choice(), apply: .restartStream,
            title: "Unit of the CSV columns", advanced: true,
            "Unit of the columns of a CSV file."),
    ]
}

extension SettingsTable {
    static let station = Chapter(
        key: "station", title: "Station", help: "Who and where the station is.", owners: .sampling,
        settings: [
            StationSetting(
                "station.id", \.station.id, .text(.id(0...64), reserved: Topics.reserved), written: "\"\"",
                apply: .restart,
                title: "Station id",
                "Name of the station in all topics and events; empty: the host name."
            ).owned(by: .link, .sampling, .storage, .commands, .reporter),
            StationSetting(
                "station.network", \.station.network, .text(.fdsn(1...8)), apply: .live,
                title: "Network code",
                "FDSN network code, for miniSEED; XX is for stations that have none."),
            StationSetting(
                "station.code", \.station.code, .text(.fdsn(0...8)), apply: .live,
                title: "Station code",
                "FDSN station code, for miniSEED; empty: made from the id."),
            StationSetting(
                "station.location", \.station.location, .text(.fdsn(0...8)), apply: .live,
                title: "Location code", advanced: true,
                "FDSN location code, for miniSEED."),
            StationSetting(
                "station.latitude", \.station.latitude,
                .optional(.number(.from(-90, to: 90), unit: "degrees"), none: "not given"), apply: .live,
                title: "Latitude",
                "Degrees north (WGS 84)."
            ).owned(by: .reporter),
            StationSetting(
                "station.longitude", \.station.longitude,
                .optional(.number(.from(-180, to: 180), unit: "degrees"), none: "not given"), apply: .live,
                title: "Longitude",
                "Degrees east (WGS 84)."
            ).owned(by: .reporter),
            StationSetting(
                "station.elevation_m", \.station.elevation,
                .optional(.number(.from(-12_000, to: 10_000), unit: "m"), none: "not given"), apply: .live,
                title: "Elevation",
                "Height above sea level."
            ).owned(by: .reporter),
            StationSetting(
                "station.description", \.station.description, .text(.line(256)), apply: .live,
                title: "Description",
                "Where the station stands, in words."
            ).owned(by: .reporter),
            StationSetting(
                "station.groups", \.station.groups, .groups, apply: .live,
                title: "Groups",
                "Groups whose commands the station also obeys; every station is in the group `all`."
            ).owned(by: .link, .commands),
        ])
}

extension Codec where T == [String] {
    fileprivate static let groups = list(
        of: .text(.id(1...64)), count: 0...16, allowed: "a list of at most 16 different names"
    ) { $0 }
}
