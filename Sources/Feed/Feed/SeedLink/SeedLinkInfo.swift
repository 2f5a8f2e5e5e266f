import Exchange
import Messages
import MiniSEED
import Values

/// The answers to `INFO`: XML in records of 512 bytes with version 3, JSON with version 4.
enum SeedLinkInfo {
    /// Bytes of text in a record.
    static let recordText = 456
    private static let (mostGaps, mostConnections) = (2000, 2000)

    /// Text without what would end a line or a quotation.
    static func plain(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0 == "\"" || $0.value == 0x7F ? " " : Character($0) })
    }

    static func xml(_ level: String, _ identity: SeedLinkSession.Identity, _ archive: some FeedArchive) -> String? {
        let levels = ["ID", "CAPABILITIES", "STATIONS", "STREAMS", "GAPS", "CONNECTIONS", "ALL"]
        guard levels.contains(level) else { return nil }
        var xml = XMLText()
        xml.begin(
            "seedlink",
            [
                ("software", "SeedLink v3.1 (\(identity.software))"), ("organization", identity.organisation),
                ("started", SeedLinkTime.text(archive.started)),
            ])
        if ["ID", "CAPABILITIES", "ALL"].contains(level) {
            for name in [
                "multistation", "window-extraction", "info:id", "info:capabilities", "info:stations",
                "info:streams", "info:gaps", "info:connections", "info:all",
            ] {
                xml.begin("capability", [("name", name)])
                xml.end()
            }
        }
        switch level {
        case "STATIONS", "STREAMS": for station in archive.stations { write(station, level != "STATIONS", &xml) }
        case "GAPS": gaps(archive, &xml)
        case "CONNECTIONS": connections(archive, &xml)
        case "ALL":
            for station in archive.stations { write(station, true, &xml) }
            gaps(archive, &xml)
            connections(archive, &xml)
        default: break
        }
        xml.end()
        return xml.text
    }

    private static func hexadecimal(_ number: UInt64) -> String {
        let digits = String(number & 0xFF_FFFF, radix: 16, uppercase: true)
        return String(repeating: "0", count: 6 - digits.utf8.count) + digits
    }

    private static func begin(_ station: FeedStation, _ xml: inout XMLText) {
        xml.begin(
            "station",
            [
                ("name", station.code), ("network", station.network), ("description", station.description),
                ("begin_seq", hexadecimal(station.first)), ("end_seq", hexadecimal(station.last)),
                ("stream_check", "enabled"),
            ])
    }

    private static func write(_ station: FeedStation, _ hasStreams: Bool, _ xml: inout XMLText) {
        begin(station, &xml)
        for stream in hasStreams ? station.streams : [] {
            xml.begin(
                "stream",
                [
                    ("location", stream.location), ("seedname", stream.channel), ("type", "D"),
                    ("begin_time", SeedLinkTime.text(stream.begin)), ("end_time", SeedLinkTime.text(stream.end)),
                    ("begin_recno", "0"), ("end_recno", "0"), ("gap_check", "enabled"), ("gap_treshold", "1"),
                ])
            xml.end()
        }
        xml.end()
    }

    /// The newest gaps of all streams, by station and stream.
    private static func gaps(_ archive: some FeedArchive, _ xml: inout XMLText) {
        let gaps = Dictionary(grouping: archive.gaps(most: mostGaps), by: \.station)
        for (index, station) in archive.stations.enumerated() {
            guard let own = gaps[index] else { continue }
            begin(station, &xml)
            for stream in station.streams {
                let found = own.filter { $0.location == stream.location && $0.channel == stream.channel }
                guard !found.isEmpty else { continue }
                xml.begin(
                    "stream", [("location", stream.location), ("seedname", stream.channel), ("type", "D")])
                for gap in found.sorted(by: { $0.from < $1.from }) {
                    xml.begin(
                        "gap",
                        [("begin_time", SeedLinkTime.text(gap.from)), ("end_time", SeedLinkTime.text(gap.to))])
                    xml.end()
                }
                xml.end()
            }
            xml.end()
        }
    }

    /// Writes the connections, at each station that a client is sent; clients that take no station yet come behind.
    private static func connections(_ archive: some FeedArchive, _ xml: inout XMLText) {
        let clients = archive.clients
        var takers: [Int: [(client: FeedClient, next: UInt64)]] = [:]
        var (left, others) = (mostConnections, [FeedClient]())
        for client in clients {
            if client.positions.isEmpty { others.append(client) }
            for position in client.positions where left > 0 {
                takers[position.station, default: []].append((client, position.next))
                left -= 1
            }
        }
        func write(_ client: FeedClient, _ next: UInt64?) {
            xml.begin(
                "connection",
                [
                    ("host", client.address), ("port", "\(client.port)"), ("ctime", SeedLinkTime.text(client.since)),
                    ("begin_seq", hexadecimal(next ?? 0)), ("current_seq", hexadecimal(next ?? 0)),
                    ("sequence_gaps", "0"), ("txcount", "\(client.packets)"), ("program", client.program),
                ])
            xml.end()
        }
        for (index, station) in archive.stations.enumerated() {
            guard let own = takers[index] else { continue }
            begin(station, &xml)
            for taker in own { write(taker.client, taker.next) }
            xml.end()
        }
        for client in others.prefix(mostConnections) { write(client, nil) }
    }

    static func json(
        _ item: String, _ arguments: [Substring], _ identity: SeedLinkSession.Identity, _ capabilities: String,
        _ archive: some FeedArchive
    ) -> Value? {
        var members: [Value.Member] = [
            .init("software", .string("SeedLink v4.0 (\(identity.software))")),
            .init("organization", .string(identity.organisation)),
        ]
        switch item {
        case "ID": break
        case "CAPABILITIES":
            let words = capabilities.split(separator: " ").map { Value.string(String($0)) }
            members.append(.init("capability", .array(words)))
        case "FORMATS":
            members.append(
                .init(
                    "format",
                    [
                        "2": [
                            "mimetype": "application/vnd.fdsn.mseed",
                            "subformat": ["D": "miniSEED 2 data"],
                        ]
                    ]))
        case "STATIONS", "STREAMS":
            let pattern = arguments.first.map(String.init) ?? "*"
            let stations = archive.stations.filter { Glob.matches(pattern, $0.identifier) }
            members.append(.init("station", .array(stations.map { value($0, hasStreams: item == "STREAMS") })))
        case "CONNECTIONS":
            let clients = archive.clients.map { client -> Value in
                [
                    "client_addr": .string(client.address), "client_id": .string(client.program),
                    "connect_time": .string(Timestamp(nanoseconds: client.since).description),
                    "packets": .int(Int64(client.packets)), "client_port": .int(Int64(client.port)),
                    "station": .array(
                        client.positions.prefix(100).map { position in
                            [
                                "id": .string(archive.stations[position.station].identifier),
                                "next_seq": .int(Int64(clamping: position.next)),
                            ]
                        }),
                ]
            }
            members.append(.init("connection", .array(clients)))
        default: return nil
        }
        return .object(members)
    }

    private static func value(_ station: FeedStation, hasStreams: Bool) -> Value {
        var members: [Value.Member] = [
            .init("id", .string(station.identifier)), .init("description", .string(station.description)),
            .init("start_seq", .int(Int64(clamping: station.first))),
            .init("end_seq", .int(Int64(clamping: station.last))),
        ]
        if hasStreams {
            let streams = station.streams.map { stream -> Value in
                [
                    "id": .string(stream.identifier), "format": "2", "subformat": "D", "origin": "native",
                    "start_time": .string(Timestamp(nanoseconds: stream.begin).description),
                    "end_time": .string(Timestamp(nanoseconds: stream.end).description),
                ]
            }
            members.append(.init("stream", .array(streams)))
        }
        return .object(members)
    }

    /// A record of text: miniSEED 2 with encoding 0, channel `SL.INFO..INF`.
    static func record(_ text: ArraySlice<UInt8>, number: Int, time: Int64) -> [UInt8] {
        let digits = "\(number % 1_000_000)"
        var bytes = Array((String(repeating: "0", count: 6 - digits.utf8.count) + digits + "D INFO   INFSL").utf8)
        func big(_ value: Int) { bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)] }
        let calendar = CalendarTime(nanoseconds: time)
        let ofDay = Int(time - time / 86_400_000_000_000 * 86_400_000_000_000) / 100_000
        big(calendar.year)
        big(calendar.dayOfYear)
        bytes += [UInt8(ofDay / 36_000_000), UInt8(ofDay / 600_000 % 60), UInt8(ofDay / 10_000 % 60), 0]
        big(ofDay % 10_000)
        big(text.count)
        bytes += [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]
        big(56)
        big(48)
        // Blockette 1000: ASCII, big endian, 2^9 bytes.
        big(1000)
        bytes += [0, 0, 0, 1, 9, 0]
        bytes += text
        bytes += [UInt8](repeating: 0, count: 512 - bytes.count)
        return bytes
    }
}
