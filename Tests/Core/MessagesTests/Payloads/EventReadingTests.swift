import TestSupport
import Testing
import Values

@testable import Messages

/// Events as other programs read them.
@Suite struct EventReadingTests {
    private static let network: Value = [
        "t": "2026-01-05T10:20:25Z", "event_type": "update", "event_id": "net-20260105T102020120Z", "version": 3,
        "origin_time": "2026-01-05T10:20:20.120Z", "latitude": 46.25, "longitude": -7.5, "depth_km": 8,
        "ellipse": ["semi_major_km": 3.25, "semi_minor_km": 1, "azimuth_deg": 40],
        "place": [
            "quality": "ambiguous", "azimuth_deg": 10,
            "region": [["latitude": [46, 47, 46], "longitude": [7, 7, 8]]],
        ],
        "magnitude": ["value": 4.2, "sigma": 0.25, "relation": "cua2009"], "mmi": ["value": 4.5, "station": "a"],
        "class": ["likely": "earthquake"],
        "stations": [
            [
                "id": "a", "event_id": "a-1", "onset": "2026-01-05T10:20:23Z", "phase": "P", "residual_s": -0.25,
                "distance_km": 11,
            ]
        ],
        "disputed": true, "disputed_because": "lone_operator", "merged_into": "net-2", "withdrawn": true,
    ]
    private static let station: Value = [
        "t": "2026-01-05T10:20:25Z", "station": "a", "event_type": "end", "event_id": "a-20260105T102020120Z",
        "onset": "2026-01-05T10:20:20Z", "end": "2026-01-05T10:20:24Z", "duration_s": 4.5,
        "tq": ["error_ms": 2.5], "p_time": "2026-01-05T10:20:19.9Z", "p_sigma_s": 0.25, "pga": 1.5, "mmi": 4.5,
        "intensity": [
            ["scale": "jma", "value": 3.5],
            ["scale": "mmi", "relation": "worden12", "value": 4.5, "from_pga": 4.25],
            ["scale": "mmi", "relation": "gutenberg_richter", "value": 4.75, "from_pga": 4],
        ],
        "class": ["likely": "earthquake", "p": 0.75, "certain": true, "final": true], "velocity_valid": false,
        "alarm": true, "test": true,
    ]

    /// The message with another value of a member; nil: without it.
    private static func changed(_ message: Value, _ key: String, _ value: Value?) -> Value {
        guard case .object(var members) = message else { return .null }
        members.removeAll { $0.key == key }
        if let value { members.append(.init(key, value)) }
        return .object(members)
    }

    @Test func allMembersOfANetworkEvent() throws {
        let read = try #require(NetworkEventReading(Self.network))
        #expect(read.kind == .update && read.eventID == "net-20260105T102020120Z" && read.version == 3)
        #expect(read.made == 1_767_608_425_000_000_000 && read.origin == 1_767_608_420_120_000_000)
        #expect(read.latitude == 46.25 && read.longitude == -7.5 && read.depth == 8)
        #expect(read.semiMajor == 3.25 && read.semiMinor == 1 && read.ellipseAzimuth == 40)
        #expect(read.quality == .ambiguous && read.azimuth == 10)
        #expect(read.region == [.init(latitude: [46, 47, 46], longitude: [7, 7, 8])])
        #expect(read.magnitude == .init(value: 4.2, sigma: 0.25) && read.mmi == 4.5 && read.likely == .earthquake)
        let one = try #require(read.stations?.first)
        #expect(one.id == "a" && one.eventID == "a-1" && one.onset == 1_767_608_423_000_000_000)
        #expect(one.phase == "P" && one.residual == -0.25 && one.distance == 11)
        #expect(read.dispute == .loneOperator && read.isMerged && read.isWithdrawn && read.refused.isEmpty)
    }

    @Test func allMembersOfAStationsEvent() throws {
        let read = try #require(StationEventReading(Self.station))
        #expect(read.kind == .end && read.station == "a" && read.eventID == "a-20260105T102020120Z")
        #expect(read.onset == 1_767_608_420_000_000_000 && read.newest == 1_767_608_425_000_000_000)
        #expect(read.end == 1_767_608_424_000_000_000 && read.duration == 4.5 && read.clockError == 2.5)
        #expect(read.arrival == 1_767_608_419_900_000_000 && read.arrivalSigma == 0.25)
        #expect(read.pga == 1.5 && read.mmi == 4.5 && read.likely == "earthquake" && read.probability == 0.75)
        #expect(read.isClassCertain && read.isClassFinal && !read.isVelocityValid && read.hasAlarm && read.isTest)
        #expect(read.intensities.map(\.scale) == ["jma", "mmi", "mmi"])
        #expect(read.intensities.map(\.certain) == [3.5, 4.25, 4.75] && read.certainMercalli == 4.25)
        let valid = try #require(StationEventReading(Self.changed(Self.station, "velocity_valid", nil)))
        #expect(valid.certainMercalli == 4.5 && valid.intensities[1].certain == 4.5)
        #expect(valid.isMercalliCertain && !read.isMercalliCertain)
    }

    /// What a relation needs decides alike on the value for decisions, and on whether all of it is certain; an intensity of
    /// Japan has no velocity in it.
    @Test(
        arguments: [
            ("mmi", "gutenberg_richter", true, false), ("mmi", "wald99", true, true), ("mmi", "worden12", false, true),
            ("mmi", "atkinson_kaka07", false, true), ("cwa", "cwa", true, true), ("jma", "jma", true, false),
            ("jma", nil, true, false), (nil, "jma", true, false), ("mmi", nil, false, true),
            (nil, "of_tomorrow", false, true),
        ] as [(String?, String?, Bool, Bool)])
    func whatARelationNeeds(_ scale: String?, _ relation: String?, _ acceleration: Bool, _ velocity: Bool) throws {
        var item: [Value.Member] = [.init("value", 4.5), .init("from_pga", 4.25)]
        if let scale { item.append(.init("scale", .string(scale))) }
        if let relation { item.append(.init("relation", .string(relation))) }
        for (a, v) in [(true, true), (true, false), (false, true), (false, false)] {
            let event: Value = [
                "event_id": "a-1", "onset": "2026-01-05T10:20:20Z", "acceleration_valid": .bool(a),
                "velocity_valid": .bool(v), "intensity": [.object(item)],
            ]
            let one = try #require(StationEventReading(event)?.intensities.first)
            let isCertain = (a || !acceleration) && (v || !velocity)
            let told = StationEventMembers(event).isCertain(IntensityReading(.object(item)))
            #expect(one.isCertain == isCertain && told == isCertain)
            #expect(one.certain == (v || !velocity ? 4.5 : 4.25))
        }
    }

    /// Without an intensity of the Mercalli scale its value stands on both.
    @Test(arguments: [(true, true), (true, false), (false, true)])
    func certaintyWithoutARelation(_ acceleration: Bool, _ velocity: Bool) throws {
        let event: Value = [
            "event_id": "a-1", "onset": "2026-01-05T10:20:20Z", "mmi": 4.5, "acceleration_valid": .bool(acceleration),
            "velocity_valid": .bool(velocity), "intensity": [["scale": "jma", "value": 3]],
        ]
        let read = try #require(StationEventReading(event))
        #expect(read.isMercalliCertain == (acceleration && velocity))
        #expect(read.certainMercalli == (velocity ? 4.5 : nil))
    }

    private static let odd: [Value] = [
        .null, true, -1, .int(.max), .double(1e300), "", "x", "2262-01-01T00:00:00Z", [], [1], ["x": 1],
        [["id": 1], ["scale": 2], "x"],
    ]

    /// A member that is no such value, or that is missing, hides itself and nothing else.
    @Test func oneOddMemberLeavesTheOthers() throws {
        guard case .object(let network) = Self.network, case .object(let station) = Self.station else { return }
        for value in Self.odd.map(Optional.some) + [nil] {
            for key in network.map(\.key) where !["event_id", "version"].contains(key) {
                let read = try #require(NetworkEventReading(Self.changed(Self.network, key, value)), "\(key)")
                #expect(key == "latitude" || read.latitude == 46.25)
                #expect(key == "magnitude" || read.magnitude?.value == 4.2)
                #expect(key == "stations" || read.stations?.count == 1)
                #expect(key == "origin_time" || read.origin != nil)
                #expect(key == "disputed" || read.dispute != nil)
                #expect(read.refused.allSatisfy { $0.member.hasPrefix(key) })
            }
            for key in station.map(\.key) where !["event_id", "onset"].contains(key) {
                let read = try #require(StationEventReading(Self.changed(Self.station, key, value)), "\(key)")
                #expect(key == "pga" || read.pga == 1.5)
                #expect(key == "intensity" || read.intensities.count == 3)
                #expect(key == "class" || read.likely == "earthquake")
                #expect(key == "test" || read.isTest)
                #expect(key == "station" || read.station == "a")
            }
        }
    }

    @Test func whatCannotBeIsRefused() throws {
        func refused(_ key: String, _ value: Value) throws -> [String] {
            try #require(NetworkEventReading(Self.changed(Self.network, key, value))).refused.map(\.member)
        }
        #expect(try refused("latitude", 90.5) == ["latitude"] && refused("longitude", "x") == ["longitude"])
        #expect(try refused("depth_km", 701) == ["depth_km"] && refused("depth_km", .null) == [])
        #expect(try refused("magnitude", ["value": 9.6]) == ["magnitude.value"])
        #expect(try refused("magnitude", ["value": 9.5, "sigma": 99]) == [] && refused("magnitude", 4) == [])
        #expect(try refused("magnitude", ["value": -5.5]) == ["magnitude.value"])
        // Not a number is outside every range.
        #expect(StationEventReading(Self.changed(Self.station, "pga", "x"))?.pga?.isNaN == true)
        #expect(StationEventReading(Self.changed(Self.station, "station", 1))?.station == "")
    }

    @Test func versionsThatAreNone() {
        for version: Value in [0, -1, 1_000_000_001, "1", .null, 1.5] {
            #expect(NetworkEventReading(Self.changed(Self.network, "version", version)) == nil, "\(version)")
        }
        for tree: Value in [.null, 1, "x", [], true] {
            #expect(NetworkEventReading(tree) == nil && StationEventReading(tree) == nil)
        }
        #expect(StationEventReading(Self.changed(Self.station, "onset", "1900-01-01T00:00:00Z")) == nil)
    }

    @Test(arguments: [
        ("net-20260105T102030120Z", true), ("net-1", true), ("net-A_z", true), ("net-", false), ("", false),
        ("event-1", false), ("net-\"x", false), ("net- 1", false), ("net-é", false), ("NET-1", false),
        ("net-" + String(repeating: "1", count: 60), true), ("net-" + String(repeating: "1", count: 61), false),
    ]) func idsOfANetwork(_ id: String, _ isOne: Bool) {
        #expect(EventID.isOfNetwork(id) == isOne)
        #expect((NetworkEventReading(Self.changed(Self.network, "event_id", .string(id))) != nil) == isOne)
    }

    @Test(arguments: [
        ("a-1", true), ("a-", true), ("a-b-1", true), ("a", false), ("ab-1", false), ("b-1", false), ("", false),
        ("a-1/2", false), ("a-#", false), ("a-1.5", false), ("a- 1", false),
        ("a-" + String(repeating: "1", count: 126), true), ("a-" + String(repeating: "1", count: 127), false),
    ]) func idsOfAStation(_ id: String, _ isOne: Bool) {
        #expect(EventID.isOf(station: "a", id) == isOne && !EventID.isOf(station: "a", nil))
    }

    /// 10 000 messages that somebody has made to break it, and what the fuzzers have kept.
    @Test func hostileMessages() throws {
        var (networks, stations) = (0, 0)
        let drawn = Array(HostileMessages([Self.network, Self.station], count: 10_000, seed: 42))
        for bytes in drawn + (try HostileMessages.corpora()) {
            guard let tree = try? JSONReader.read(bytes) else { continue }
            if let event = NetworkEventReading(tree) {
                networks += 1
                #expect(abs(event.latitude ?? 0) <= 90 && abs(event.longitude ?? 0) <= 180)
                #expect((0...700).contains(event.depth ?? 0) && (-5...9.5).contains(event.magnitude?.value ?? 0))
                #expect((0...20_000).contains(event.semiMajor ?? 0) && (0...3).contains(event.magnitude?.sigma ?? 0))
                #expect((1...1_000_000_000).contains(event.version) && event.stations?.count ?? 0 <= 10_000)
                #expect(event.eventID.hasPrefix("net-") && (5...64).contains(event.eventID.utf8.count))
                #expect(event.region.allSatisfy { $0.latitude.count > 2 && $0.latitude.count == $0.longitude.count })
            }
            if let event = StationEventReading(tree) {
                stations += 1
                #expect((0...1).contains(event.probability ?? 0) && Timestamp.sensible.contains(event.onset))
            }
        }
        #expect(networks > 1000 && stations > 1000, "\(networks) \(stations)")
    }
}
