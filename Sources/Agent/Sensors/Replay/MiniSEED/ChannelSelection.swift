import MiniSEED

/// The three channels of a file that are x, y and z, by the orientation in their names.
enum ChannelSelection {
    /// An axis and its orientation codes: east, north or up, or numbered.
    private struct Axis {
        let name: String
        let direction: String
        let number: String

        static let all = [
            Axis(name: "x", direction: "E", number: "1"), Axis(name: "y", direction: "N", number: "2"),
            Axis(name: "z", direction: "Z", number: "3"),
        ]

        func fits(_ channel: IndexedChannel) -> Bool {
            channel.source.subsource == direction || channel.source.subsource == number
        }
    }

    /// x, y, z.
    static func choose(_ channels: [IndexedChannel], file: String) throws(SensorError) -> [IndexedChannel] {
        var chosen: [IndexedChannel] = []
        for axis in Axis.all {
            let fitting = channels.filter(axis.fits)
            guard let channel = fitting.first else {
                throw SensorError(
                    .format,
                    "\(file): no channel for \(axis.name) (orientation \(axis.direction) or \(axis.number)); "
                        + "the file holds \(list(channels))")
            }
            guard fitting.count == 1 else {
                throw SensorError(
                    .format,
                    "\(file): several channels for \(axis.name): \(list(fitting)); "
                        + "a replay needs a file with one channel for each of x, y and z")
            }
            chosen.append(channel)
        }
        try check(chosen, file: file)
        return chosen
    }

    /// All of one station and location, and of one rate.
    /// (A loop over the elements and not over 1..<3: that one the optimiser of Swift 6.0.3 unrolls and dies of.)
    private static func check(_ chosen: [IndexedChannel], file: String) throws(SensorError) {
        guard let first = chosen.first else { return }
        for (axis, other) in zip(Axis.all, chosen) {
            let (a, b) = (first.source, other.source)
            guard a.network == b.network, a.station == b.station, a.location == b.location else {
                throw SensorError(
                    .format, "\(file): x, y and z are not of one station and location: \(list(chosen))")
            }
            guard abs(other.rate / first.rate - 1) < 1e-3 else {
                throw SensorError(
                    .format,
                    "\(file): the channels have different rates: x \(first.rate) Hz, \(axis.name) \(other.rate) Hz")
            }
        }
    }

    private static func list(_ channels: [IndexedChannel]) -> String {
        if channels.isEmpty { return "no time series" }
        let names = channels.prefix(12).map { $0.source.description }.joined(separator: ", ")
        return channels.count > 12 ? "\(names) and \(channels.count - 12) more" : names
    }
}
