import Exchange
import Messages
import MiniSEED

/// The answers to `INFO`: XML in records of 512 bytes with version 3, JSON with version 4.
enum SeedLinkInfo {
    /// Bytes of text in a record.
    static let recordText = 456

    /// Text without what would end a line or a quotation.
    static func plain(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 || $0 == "\"" || $0.value == 0x7F ? " " : Character($0) })
    }

    static func xml(_ level: String, _ identity: SeedLinkSession.Identity, _ archive: some FeedArchive) -> String? {
        let levels = ["ID", "CAPABILITIES", "STATIONS", "STREAMS", "CONNECTIONS", "ALL"]
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
                "info:streams", "info:connections", "info:all",
            ] {
                xml.begin("capability", [("name", name)])
                xml.end()
            }
        }
        if ["STATIONS", "STREAMS", "ALL"].contains(level) {
            for station in archive.stations { write(station, level != "STATIONS", &xml) }
        }
        if level == "CONNECTIONS" || level == "ALL" {
            for client in archive.clients {
                xml.begin(
                    "connection",
                    [
                        ("host", client.address), ("ctime", SeedLinkTime.text(client.since)),
                        ("program", client.program), ("txcount", "\(client.packets)"),
                    ])
                xml.end()
            }
        }
        xml.end()
        return xml.text
    }

    private static func write(_ station: FeedStation, _ hasStreams: Bool, _ xml: inout XMLText) {
        func hexadecimal(_ number: UInt64) -> String {
            let digits = String(number & 0xFF_FFFF, radix: 16, uppercase: true)
            return String(repeating: "0", count: 6 - digits.utf8.count) + digits
        }
        xml.begin(
            "station",
            [
                ("name", station.code), ("network", station.network), ("description", station.description),
                ("begin_seq", hexadecimal(station.first)), ("end_seq", hexadecimal(station.last)),
                ("stream_check", "enabled"),
            ])
        for stream in hasStreams ? station.streams : [] {
            xml.begin(
                "stream",
                [
                    ("location", stream.location), ("seedname", stream.channel), ("type", "D"),
                    ("begin_time", SeedLinkTime.text(stream.begin)), ("end_time", SeedLinkTime.text(stream.end)),
                    ("begin_recno", "0"), ("end_recno", "0"), ("gap_check", "disabled"), ("gap_treshold", "0"),
                ])
            xml.end()
        }
        xml.end()
    }

    static func json(
        _ item: String, _ arguments: [Substring], _ identity: SeedLinkSession.Identity, _ archive: some FeedArchive
    ) -> Value? {
        var members: [Value.Member] = [
            .init("software", .string("SeedLink v4.0 (\(identity.software))")),
            .init("organization", .string(identity.organisation)),
        ]
        switch item {
        case "ID": break
        case "CAPABILITIES":
            let words = SeedLinkSession.capabilities.split(separator: " ").map { Value.string(String($0)) }
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
                    "packets": .int(Int64(client.packets)),
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

extension SeedLinkSession {
    mutating func info(_ arguments: [Substring], _ archive: some FeedArchive) {
        guard let item = arguments.first?.uppercased() else { return refuse("ARGUMENTS", "INFO of what?") }
        if isVersion4 {
            let answer = SeedLinkInfo.json(item, Array(arguments.dropFirst()), identity, archive)
            let error: Value = ["error": ["code": "ARGUMENTS", "message": "no such item"]]
            let bytes = (answer ?? error).json()
            sendHeader(answer == nil ? "JE" : "JI", bytes.count, 0, "")
            return send(bytes)
        }
        let answer = SeedLinkInfo.xml(item, identity, archive)
        let text = Array((answer ?? "<?xml version=\"1.0\"?><seedlink/>").utf8)
        var (place, number) = (0, 1)
        repeat {
            let part = text[place..<min(text.count, place + SeedLinkInfo.recordText)]
            place = part.endIndex
            send(place < text.count ? "SLINFO *" : "SLINFO  ")
            send(SeedLinkInfo.record(part, number: number, time: archive.now))
            number += 1
        } while place < text.count
    }
}
