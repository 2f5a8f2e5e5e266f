import Sensors
import Settings
import SignalProcessing

/// Makes the driver that the settings ask for.
public enum SensorChoice {
    public static func driver(_ configuration: SensorConfiguration) -> any SensorDriver {
        let sensor = plainDriver(configuration)
        return configuration.resample ? ResampledSensor(sensor, rate: configuration.rate) : sensor
    }

    static func plainDriver(_ configuration: SensorConfiguration) -> any SensorDriver {
        switch configuration.driver {
        case .simulate: SimulateSensor(simulation(configuration))
        case .replay: ReplaySensor(replay(configuration))
        case .i2c: I2CSensor(i2c(configuration))
        case .iio: IIOSensor(iio(configuration))
        case .auto: AutoSensor(configuration)
        }
    }

    /// Times real time at which samples come; 0 is as fast as possible.
    public static func speed(_ configuration: SensorConfiguration) -> Double {
        configuration.driver == .replay ? configuration.replay.speed : 1
    }

    /// Whether the samples come from a chip, and are not made up or played.
    public static func isHardware(_ configuration: SensorConfiguration) -> Bool {
        configuration.driver != .simulate && configuration.driver != .replay
    }

    private static func iio(_ configuration: SensorConfiguration) -> IIOSettings {
        let given = configuration.iio
        var settings = IIOSettings()
        settings.device = given.device
        settings.uri = given.uri
        settings.trigger = .init(rawValue: given.trigger.rawValue) ?? .auto
        settings.rate = configuration.rate
        settings.range = configuration.range
        return settings
    }

    private static func simulation(_ configuration: SensorConfiguration) -> SimulateSettings {
        let given = configuration.simulate
        var settings = SimulateSettings()
        settings.scenario = .init(rawValue: given.scenario.rawValue) ?? .quiet
        settings.rate = configuration.rate
        settings.range = configuration.range
        settings.noise = given.noise
        settings.seed = given.seed
        settings.amplitude = given.amplitude
        settings.frequency = given.frequency
        return settings
    }

    static func i2c(_ configuration: SensorConfiguration) -> I2CSettings {
        let given = configuration.i2c
        var settings = I2CSettings()
        settings.bus = given.bus
        settings.address = given.address.map { UInt8(clamping: $0) }
        settings.chip = given.chip
        settings.rate = configuration.rate
        settings.range = configuration.range
        settings.dataReady = given.dataReady
        return settings
    }

    /// The recording that the settings name.
    public static func replay(_ configuration: SensorConfiguration) -> ReplaySettings {
        let given = configuration.replay
        var settings = ReplaySettings(file: given.file)
        settings.speed = given.speed
        settings.loop = given.loop
        settings.scale = given.scale.map { ($0.x, $0.y, $0.z) }
        settings.unit = given.unit == .g ? .g : .metresPerSecondSquared
        return settings
    }
}
