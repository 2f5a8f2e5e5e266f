import Exchange
import Feed
import NIOHTTP1

/// fdsnws-station.
extension WebServices {
    func stations(_ query: FDSNQuery) throws(FDSNQuery.Problem) -> WebAnswer? {
        let format = query.other["format"]?.lowercased() ?? "xml"
        guard ["xml", "text"].contains(format) else { throw .init(words: "format is xml or text") }
        let levels: [String: StationXMLWriter.Level] = [
            "network": .network, "station": .station, "channel": .channel, "response": .response,
        ]
        guard let level = levels[query.other["level"]?.lowercased() ?? "station"] else {
            throw .init(words: "level is network, station, channel or response")
        }
        let box = try Box(query)
        var found: [DescribedStation] = []
        var channels: [String: [DescribedChannel]] = [:]
        server.board.read { contents in
            for station in contents.stations {
                guard let id = contents.ids[station.identifier], let state = contents.states[id], let info = state.info,
                    var described = DescribedStation(info: info, config: state.config)
                else { continue }
                (described.identity.network, described.identity.code) = (station.network, station.code)
                guard box.contains(described.identity.latitude, described.identity.longitude) else { continue }
                let lines = query.lines.filter { $0.matches(station.network, station.code) }
                let streams = station.streams.filter { stream in
                    lines.contains { line in
                        line.matches(location: stream.location, channel: stream.channel)
                            && stream.end >= line.begin ?? .min && stream.begin <= line.end ?? .max
                    }
                }
                guard !streams.isEmpty else { continue }
                described.begin = streams.map(\.begin).min()
                described.identity.location = streams[0].location
                channels[station.identifier] = FeedChannels.described(described, streams)
                found.append(described)
            }
        }
        guard !found.isEmpty else { return nil }
        if format == "text" { return WebAnswer(.ok, Self.text(found, level, channels)) }
        let text = StationXMLWriter.document(found, created: realNanoseconds(), level: level) { station in
            channels["\(station.identity.network)_\(station.identity.code)"] ?? []
        }
        return WebAnswer(.ok, text, "application/xml")
    }

    private static func text(
        _ stations: [DescribedStation], _ level: StationXMLWriter.Level, _ channels: [String: [DescribedChannel]]
    ) -> String {
        var text = FDSNText(level == .network ? .networks : level == .station ? .stations : .channels)
        switch level {
        case .network:
            for (network, own) in Dictionary(grouping: stations, by: \.identity.network).sorted(by: { $0.key < $1.key })
            {
                text.add(network: network, stations: own.count, begin: own.compactMap(\.begin).min())
            }
        case .station: for station in stations { text.add(station) }
        default:
            for station in stations {
                for channel in channels["\(station.identity.network)_\(station.identity.code)"] ?? [] {
                    text.add(channel, of: station)
                }
            }
        }
        return text.text
    }
}
