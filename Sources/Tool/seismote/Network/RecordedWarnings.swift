import Association
import Messages
import Settings
import Values
import Warning

/// Warnings that stations at some places would have given, had they read the versions of network events as they came.
struct RecordedWarnings {
    private var stations: [(place: String, warning: NetworkWarning)]
    private let topic: String
    private(set) var lines: [Value] = []

    /// - Parameter places: degrees north and east, with a comma between them.
    init(_ places: [String], root: String, intensity: Double) {
        let topic = "\(root)/network/event"
        self.topic = topic
        stations = places.compactMap { text in
            guard let (latitude, longitude) = Self.place(text) else { return nil }
            let options = NetworkWarning.Options(
                topic: topic, latitude: latitude, longitude: longitude, intensity: intensity,
                stations: Configuration().alarm.network.stations)
            return (text, NetworkWarning(options))
        }
    }

    static func place(_ text: String) -> (latitude: Double, longitude: Double)? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count == 2, let latitude = parts[0], let longitude = parts[1], (-90...90).contains(latitude),
            (-180...180).contains(longitude)
        else { return nil }
        return (latitude, longitude)
    }

    /// - Parameter arrival: when it came, nanoseconds of UTC.
    mutating func take(_ version: DueVersion, arrival: Int64) {
        guard !stations.isEmpty else { return }
        let tree = try? JSONReader.read(version.message.json(boot: "", number: 0, time: version.time))
        for i in stations.indices {
            let now = NetworkWarning.Moment(wall: arrival, monotonic: arrival, isSynchronized: true)
            var said = stations[i].warning.advance(now)
            said += stations[i].warning.take(topic: topic, isRetained: false, tree, at: now).messages
            for message in said { note(message, stations[i].place) }
        }
    }

    mutating func finish() {
        for i in stations.indices {
            while let due = stations[i].warning.due {
                let now = NetworkWarning.Moment(wall: due, monotonic: due, isSynchronized: true)
                for message in stations[i].warning.advance(now) { note(message, stations[i].place) }
            }
        }
    }

    private mutating func note(_ message: WarningMessage, _ place: String) {
        guard let tree = try? JSONReader.read(message.json()) else { return }
        lines.append(.object([.init("place", .string(place)), .init("warning", tree)]))
    }
}
