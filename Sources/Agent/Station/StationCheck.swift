import Messages
import Seismology
import Settings
import SignalProcessing

/// Finds the settings that cannot work at the sensor's rate, before they are in force. Pure.
public enum StationCheck {
    /// Returns the faults of a configuration, each named by its setting; empty: ``StationPipeline`` takes it.
    public static func problems(_ configuration: Configuration, sensor: StationSensor) -> [StationError] {
        let rate = sensor.rate
        var found: [StationError] = []
        func look(_ body: () throws(StationError) -> Void) {
            do throws(StationError) { try body() } catch { if !found.contains(error) { found.append(error) } }
        }
        func design(_ path: String, _ body: () throws(FilterDesignError) -> Void) {
            look { () throws(StationError) in try StationError.at(path, body) }
        }
        design("/conditioning/offset") { () throws(FilterDesignError) in
            _ = try OffsetRemoval(configuration.conditioning.offset, rate: rate)
        }
        for (name, axis) in [("x", 0), ("y", 1), ("z", 2)] {
            design("/axes/\(name)/filter") { () throws(FilterDesignError) in
                _ = try configuration.axes[axis].filter.design(rate: rate)
            }
        }
        design("/sensor/rate_hz") { () throws(FilterDesignError) in _ = try GroundIntegrator(rate: rate) }
        look { () throws(StationError) in _ = try DetectorBank(configuration, rate: rate) }
        look { () throws(StationError) in
            let topics = try StationError.topics(of: configuration)
            _ = try Messenger(configuration, topics: topics, boot: "")
            _ = try WaveformSender(configuration, sensor: sensor, topics: topics)
        }
        look { () throws(StationError) in _ = try RingWriter(configuration, sensor: sensor) }
        look { () throws(StationError) in _ = try VibrationSender.meter(configuration, rate: rate) }
        return found
    }

    /// The first of them; nil: there is none.
    public static func problem(_ configuration: Configuration, sensor: StationSensor) -> StationError? {
        problems(configuration, sensor: sensor).first
    }
}

/// Settings that cannot work at the sensor's actual rate.
public struct StationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Path of the setting, such as `/axes/x/filter`.
    public var path: String
    public var message: String
    public var description: String { "\(path): \(message)" }

    /// Runs a design and names the setting that it came from when it fails.
    static func at<R>(_ path: String, _ body: () throws(FilterDesignError) -> R) throws(StationError) -> R {
        do throws(FilterDesignError) {
            return try body()
        } catch { throw StationError(path: path, message: error.description) }
    }
}

extension StationError {
    /// The topics of a station, or the setting that makes them impossible.
    static func topics(of configuration: Configuration) throws(StationError) -> Topics {
        do throws(TopicError) {
            return try Topics(root: configuration.mqtt.root, id: configuration.station.id)
        } catch { throw StationError(path: "/station/id", message: error.description) }
    }
}
