import Messages
import Settings
import SignalProcessing

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
