import Exchange
import Messages
import Testing
import Values

@testable import Feed

struct WebTests {
    @Test func readsAQuery() throws {
        let query = try FDSNQuery(
            query: "net=XX&sta=B%2A&loc=--&cha=HN?,BN?&start=2026-01-05&end=2026-01-05T01:00:00.5&level=channel",
            allowed: ["level"])
        let line = try #require(query.lines.first)
        #expect(line.matches("XX", "BASE") && !line.matches("XX", "ROOF"))
        #expect(line.matches(location: "", channel: "BNZ") && !line.matches(location: "00", channel: "BNZ"))
        #expect(line.begin == Timestamp("2026-01-05T00:00:00Z")?.nanoseconds)
        #expect(line.end == Timestamp("2026-01-05T01:00:00.5Z")?.nanoseconds)
        #expect(query.other == ["level": "channel"])
    }

    @Test func readsABody() throws {
        let query = try FDSNQuery(
            body: "quality=B\nXX BASE 00 HN? 2026-01-05T00:00:00 2026-01-05T01:00:00\nXX ROOF * * * *\n",
            allowed: ["quality"])
        #expect(query.lines.map(\.station) == ["BASE", "ROOF"])
        #expect(query.lines[1].begin == nil)
    }

    @Test(arguments: ["sta=A&nonsense=1", "start=yesterday", "net=%zz&start=2026-13-01"])
    func refuses(_ text: String) { #expect(throws: FDSNQuery.Problem.self) { try FDSNQuery(query: text, allowed: []) } }

    @Test func writesMetrics() {
        var text = MetricsText(openMetrics: true)
        text.add("seismote_x_total", .counter, "All\nof it.", [([("station", "a\"\\\n")], 3)])
        text.add("seismote_y_ratio", .gauge, "Half.", [([], 0.5), ([("k", "v")], .infinity)])
        text.add("seismote_z", .gauge, "None.", [])
        #expect(
            text.finished() == """
                # HELP seismote_x All\\nof it.
                # TYPE seismote_x counter
                seismote_x_total{station="a\\"\\\\\\n"} 3
                # HELP seismote_y_ratio Half.
                # TYPE seismote_y_ratio gauge
                seismote_y_ratio 0.5
                seismote_y_ratio{k="v"} +Inf
                # EOF

                """)
    }

    private let network: Value = [
        "event_type": "update", "event_id": "net-1", "version": 2, "origin_time": "2026-01-05T10:20:30.120000000Z",
        "latitude": 35.5, "longitude": -117.25, "depth_km": 8.5, "magnitude": ["value": 4.5, "sigma": 0.25],
        "ellipse": ["semi_major_km": 3.5, "semi_minor_km": 1.5, "azimuth_deg": 40.0],
        "stations": [
            ["id": "base", "onset": "2026-01-05T10:20:33.000000000Z", "phase": "P", "residual_s": 0.125],
            ["id": "a|b<", "onset": "2026-01-05T10:20:34.000000000Z", "phase": "S"],
        ],
        "place": [
            "quality": "outside", "azimuth_deg": 40.0,
            "region": [
                ["latitude": [35.0, 36.0, 36.0], "longitude": [-118.0, -118.0, -117.0]],
                ["latitude": [1.0, 2.0, 2.0, 1.0], "longitude": [5.0, 5.0, 6.0, 5.0]],
                // No lines.
                ["latitude": [1.0, 2.0], "longitude": [5.0, 5.0]],
                ["latitude": [1.0, 2.0, 3.0], "longitude": [5.0, 5.0, "x"]],
            ],
        ],
        "disputed": true,
    ]

    @Test func writesEventsAsText() {
        var text = FDSNText(.events)
        text.add(network, station: "network")
        text.add(["event_id": "b|1\n", "onset": "2026-01-05T10:20:33.000000000Z"], station: "base")
        let lines = text.text.split(separator: "\n")
        #expect(lines[1] == "net-1|2026-01-05T10:20:30.120000|35.5|-117.25|8.5|network|Seismote|||M|4.5||")
        #expect(lines[2] == "b 1 |2026-01-05T10:20:33.000000||||base|Seismote||||||")
        #expect(lines.allSatisfy { $0.split(separator: "|", omittingEmptySubsequences: false).count == 13 })
    }

    @Test func writesAnEarthquakeOfANetworkAsQuakeML() {
        var document = QuakeML()
        document.add(network: network) { $0 == "base" ? ("XX", "BASE") : nil }
        // A version without a place is none.
        document.add(network: ["event_id": "net-2"]) { _ in nil }
        let text = document.text
        for part in [
            "<value>8500.0</value>", "<maxHorizontalUncertainty>3500.0</maxHorizontalUncertainty>",
            "<value>4.5</value>",
            "networkCode=\"XX\" stationCode=\"BASE\"", "stationCode=\"a|b&lt;\"", "<phase>S</phase>",
            "<timeResidual>0.125</timeResidual>",
            "<text>place: outside, towards 40.0 degrees from the middle of the stations</text>",
            "<text>region of 90 %: MULTIPOLYGON (((-118.0 35.0, -118.0 36.0, -117.0 36.0, -118.0 35.0)), "
                + "((5.0 1.0, 5.0 2.0, 6.0 2.0, 5.0 1.0)))</text>",
            "<text>disputed: stations nearby are silent</text>",
        ] { #expect(text.contains(part), "\(part)") }
        #expect(!text.contains("net-2"))
    }
}
