import MiniSEED

/// The three channels of a file that are x, y and z, by the orientation in their names.
enum ChannelSelection {
    /// Orientation codes of each axis: east, north, up, or numbered.
    private static let codes: [[String]] = [["E", "1"], ["N", "2"], ["Z", "3"]]
    private static let names = ["x", "y", "z"]

    /// x, y, z.
    static func choose(_ channels: [IndexedChannel], file: String) throws(SensorError) -> [IndexedChannel] {
        var chosen: [IndexedChannel] = []
        for axis in 0..<3 {
            let fitting = channels.filter { codes[axis].contains($0.source.subsource) }
            guard let channel = fitting.first else {
                throw SensorError(
                    .format,
                    "\(file): no channel for \(names[axis]) (orientation \(codes[axis][0]) or \(codes[axis][1])); "
                        + "the file holds \(list(channels))")
            }
            guard fitting.count == 1 else {
                throw SensorError(
                    .format,
                    "\(file): several channels for \(names[axis]): \(list(fitting)); "
                        + "a replay needs a file with one channel for each of x, y and z")
            }
            chosen.append(channel)
        }
        for axis in 1..<3 {
            let (a, b) = (chosen[0].source, chosen[axis].source)
            guard a.network == b.network, a.station == b.station, a.location == b.location else {
                throw SensorError(
                    .format, "\(file): x, y and z are not of one station and location: \(list(chosen))")
            }
            guard abs(chosen[axis].rate / chosen[0].rate - 1) < 1e-6 else {
                throw SensorError(
                    .format,
                    "\(file): the channels have different rates: x \(chosen[0].rate) Hz, "
                        + "\(names[axis]) \(chosen[axis].rate) Hz")
            }
        }
        return chosen
    }

    private static func list(_ channels: [IndexedChannel]) -> String {
        if channels.isEmpty { return "no time series" }
        let names = channels.prefix(12).map { $0.source.description }.joined(separator: ", ")
        return channels.count > 12 ? "\(names) and \(channels.count - 12) more" : names
    }
}
