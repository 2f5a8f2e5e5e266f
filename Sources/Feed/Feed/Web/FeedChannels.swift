import Exchange
import MiniSEED

/// Channels of the feed: those of the station, in counts of 1 µm/s².
enum FeedChannels {
    /// - Parameter streams: those that are asked for. Filtered and RMS traces have no response that StationXML could tell,
    ///   because their filters are the station's settings: they are left out.
    static func described(_ station: DescribedStation, _ streams: [FeedStream]) -> [DescribedChannel] {
        station.channels.compactMap { channel in
            guard streams.contains(where: { $0.channel == channel.source.channel }) else { return nil }
            var channel = channel
            channel.source.location = station.identity.location
            channel.stages = channel.stages.map { stage in
                if case .sensor(_, let rate) = stage { return .sensor(gain: 1 / TraceReading.unitPerCount, rate: rate) }
                return stage
            }
            return channel
        }
    }
}
