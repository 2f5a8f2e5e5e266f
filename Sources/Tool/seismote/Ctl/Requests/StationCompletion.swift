import ArgumentParser
import MQTT
import Messages
import ServerOptions

/// The names of stations for a shell that completes: those of which the broker of the environment has kept something.
enum StationCompletion {
    static let kind = CompletionKind.custom { words, _, _ in (try? names(words)) ?? [] }

    private static func names(_ words: [String]) throws -> [String] {
        // Of the line only where the broker is.
        var broker: [String] = []
        for (option, value) in zip(words, words.dropFirst()) where option == "--broker" || option == "--root" {
            broker += [option, value]
        }
        let access = try BrokerOptions.parse(broker).access()
        let client = BrokerClient(access)
        try client.connect()
        defer { client.disconnect() }
        var fleet = Fleet(root: access.mqtt.root)
        try fleet.look(client, filters: ["state/online"], within: 1)
        return fleet.stations.keys.sorted()
    }
}
