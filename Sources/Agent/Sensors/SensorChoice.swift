import Instruments

/// Makes the driver that the settings ask for.
public enum SensorChoice {
    public static func driver(_ configuration: SensorConfiguration) -> any SensorDriver {
        let sensor = plainDriver(configuration)
        return configuration.resample ? ResampledSensor(sensor, rate: configuration.rate) : sensor
    }

    static func plainDriver(_ configuration: SensorConfiguration) -> any SensorDriver {
        switch configuration.driver {
        case .simulate: SimulateSensor(configuration)
        case .replay: ReplaySensor(configuration.replay)
        case .i2c: I2CSensor(configuration)
        case .iio: IIOSensor(configuration)
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
}
