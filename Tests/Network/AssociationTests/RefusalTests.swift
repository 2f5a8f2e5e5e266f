import Messages
import Settings
import TestSupport
import Testing
import Values

@testable import Association

/// A station may lie; what it says is bounded, counted and refused with a reason.
@Suite struct RefusalTests {
    static let now: Int64 = 1_760_000_000_000_000_000

    private func refusal(_ changes: [(String, Value?)], arrival: Int64? = now) -> RejectionReason? {
        guard case .object(var members) = Country.onset("S1", 1_760_000_000).payload else { return nil }
        for (key, value) in changes {
            members.removeAll { $0.key == key }
            if let value { members.append(.init(key, value)) }
        }
        do throws(RejectionReason) { _ = try StationReport(.object(members), station: "S1", arrival: arrival) } catch {
            return error
        }
        return nil
    }

    @Test func goodOnesAreTaken() {
        #expect(refusal([]) == nil)
        #expect(refusal([("intensity", [["scale": "mmi", "value": 4.5]]), ("class", ["likely": "nonsense"])]) == nil)
        #expect(refusal([("extra", [1, 2, ["x": .null]])]) == nil)
    }

    /// What a start or a gap makes uncertain is no part of a network's largest intensity; what the acceleration says is.
    @Test(arguments: [
        (false, "worden12", 4.0, 4.0 as Double?), (false, "worden12", nil, nil), (false, "gutenberg_richter", nil, 7.5),
        (true, "worden12", 4.0, 7.5), (true, "worden12", nil, 7.5),
    ]) func intensitiesThatAreNotCertain(_ isValid: Bool, _ relation: String, _ byPGA: Double?, _ mmi: Double?) throws {
        guard case .object(var members) = Country.onset("S1", 1_760_000_000).payload else { return }
        var scale: [Value.Member] = [
            .init("scale", "mmi"), .init("relation", .string(relation)), .init("value", 7.5),
        ]
        if let byPGA { scale.append(.init("from_pga", .double(byPGA))) }
        members.removeAll { $0.key == "intensity" }
        members.append(.init("intensity", .array([.object(scale)])))
        if !isValid { members.append(.init("velocity_valid", .bool(false))) }
        let report = try StationReport(.object(members), station: "S1", arrival: Self.now)
        #expect(report.onset.mmi == mmi)
    }

    @Test func eachLieHasItsReason() {
        let day: Int64 = 86_400_000_000_000
        #expect(refusal([("station", "S2")]) == .station)
        #expect(refusal([("event_id", "S2-x")]) == .eventID)
        #expect(refusal([("event_id", "S1-a/b")]) == .eventID)
        #expect(refusal([("event_id", .string("S1-" + String(repeating: "9", count: 200)))]) == .eventID)
        #expect(refusal([("onset", "yesterday")]) == .syntax)
        #expect(refusal([("onset", nil)]) == .syntax)
        #expect(refusal([("event_type", "boom")]) == .syntax)
        #expect(refusal([("pga", .double(99))]) == .value)
        #expect(refusal([("pga", .double(-1))]) == .value)
        #expect(refusal([("pga", "large")]) == .value)
        #expect(refusal([("intensity", [["scale": "mmi", "value": 13]])]) == .value)
        #expect(refusal([("tq", ["error_ms": 5000])]) == .clock)
        let early: Value = .string("2025-10-09T08:53:18.500000000Z")
        #expect(refusal([("p_time", early), ("p_sigma_s", .double(0.2))]) == nil)
        #expect(refusal([("p_time", early), ("p_sigma_s", .double(-0.2))]) == .value)
        #expect(refusal([("p_time", early), ("p_sigma_s", .double(61))]) == .value)
        for time in ["2025-10-09T08:51:00Z", "2025-10-09T08:55:00Z", "1700-01-01T00:00:00Z", "2262-01-01T00:00:00Z"] {
            #expect(refusal([("p_time", .string(time)), ("p_sigma_s", .double(0.2))]) == .value, "\(time)")
        }
        // Differences of such times are more than `Int64` holds.
        for onset in ["1920-01-01T00:00:00Z", "2025-10-09T08:53:20Z"] {
            for end in ["2262-04-11T23:47:16Z", "1677-09-22T00:00:00Z"] {
                let times: [(String, Value?)] = [("onset", .string(onset)), ("t", .string(end)), ("event_type", "end")]
                #expect(refusal(times, arrival: nil) == .future, "\(onset) \(end)")
            }
        }
        #expect(refusal([("test", true)]) == .test)
        #expect(refusal([], arrival: Self.now - 6_000_000_000) == .future)
        #expect(refusal([], arrival: Self.now + day + 1_000_000_000) == .old)
    }

    @Test func placesAreOnTheEarth() {
        var detector = NetworkDetector()
        for station: Value in [
            ["latitude": 91, "longitude": 0], ["latitude": 1, "longitude": "x"], ["latitude": 1, "longitude": -181],
            ["latitude": 1, "longitude": 1, "elevation_m": 1e9],
        ] {
            let result = detector.take(station: "S1", topic: "state/info", payload: ["station": station], arrival: nil)
            #expect(result == .failure(.place))
        }
        #expect(detector.refused == [.place: 4])
        #expect(detector.take(Country.onset("S1", Country.start)).isEmpty)
        #expect(detector.refused[.unplaced] == 1)
    }

    @Test func aChattererIsHeardTenTimes() {
        var detector = NetworkDetector()
        _ = detector.take(
            station: "S1", topic: "state/info", payload: ["station": ["latitude": 45, "longitude": 10]], arrival: nil)
        for i in 0..<100 { _ = detector.take(Country.onset("S1", Country.start + Double(i))) }
        #expect((detector.refused[.rate] ?? 0) > 80)
    }

    /// Whatever bytes come: a reason or an onset within bounds, no crash.
    @Test func anyPayload() {
        var dice = SplitMix64(state: 99)
        let good = Country.onset("S1", 1_760_000_000).payload.json()
        var detector = NetworkDetector()
        _ = detector.take(
            station: "S1", topic: "state/info", payload: ["station": ["latitude": 45, "longitude": 10]], arrival: nil)
        var read = 0
        for _ in 0..<20_000 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...6, using: &dice) {
                let at = Int.random(in: 0..<bytes.count, using: &dice)
                switch Int.random(in: 0...2, using: &dice) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &dice)
                case 1: bytes.remove(at: at)
                default: bytes.insert(Array("0919-e{}[],:\"".utf8).randomElement(using: &dice)!, at: at)
                }
            }
            guard let tree = try? JSONReader.read(bytes) else { continue }
            read += 1
            _ = detector.take(station: "S1", topic: "event/trigger", payload: tree, arrival: Self.now)
        }
        #expect(read > 1000)
        #expect(detector.finish().isEmpty)
    }

    /// 10 000 messages that somebody has made to break it, and what the fuzzers have kept: each is refused, or its values are
    /// within their ranges.
    @Test func hostileMessages() throws {
        guard case .object(let members) = Country.onset("S1", 1_760_000_000).payload else { return }
        let event: Value = .object(
            members.filter { $0.key != "intensity" && $0.key != "class" } + [
                .init("t", "2025-10-09T08:53:25Z"), .init("end", "2025-10-09T08:53:24Z"), .init("duration_s", 4.5),
                .init("tq", ["synced": true, "error_ms": 2.5]), .init("p_time", "2025-10-09T08:53:19.9Z"),
                .init("p_sigma_s", 0.2), .init("velocity_valid", false), .init("test", false),
                .init("intensity", [["scale": "mmi", "relation": "worden12", "value": 4.5, "from_pga": 4.0]]),
                .init("class", ["likely": "earthquake", "p": 0.75, "certain": false, "final": true]),
            ])
        let info: Value = [
            "station": ["id": "S1", "latitude": 45, "longitude": 10, "elevation_m": 300], "t": "2025-10-09T08:53:25Z",
        ]
        let place: Value = ["latitude": 45, "longitude": 10, "elevation_m": 300, "operator": "a", "source": "b"]
        var (taken, refused) = (0, 0)
        for bytes in Array(HostileMessages([event], count: 10_000, seed: 1)) + (try HostileMessages.corpora()) {
            guard let tree = try? JSONReader.read(bytes) else { continue }
            do throws(RejectionReason) {
                let onset = try StationReport(tree, station: "S1", arrival: Self.now).onset
                taken += 1
                #expect((0...98.0665).contains(onset.pga) && (0...12.5).contains(onset.mmi ?? 0))
                #expect((0...1).contains(onset.judgement?.probability ?? 0) && onset.asOf >= onset.time)
                #expect((0...60).contains(onset.arrival?.sigma ?? 0) && onset.eventID.hasPrefix("S1-"))
                #expect(abs((onset.arrival?.time ?? onset.time) - onset.time) <= 60_000_000_000)
            } catch { refused += 1 }
        }
        #expect(taken > 1000 && refused > 3000, "\(taken) taken, \(refused) refused")
        var detector = NetworkDetector()
        for bytes in HostileMessages([info, place, event], count: 10_000, seed: 2) {
            guard let tree = try? JSONReader.read(bytes) else { continue }
            _ = detector.take(station: "S1", topic: "state/info", payload: tree, arrival: Self.now)
            _ = detector.enterPlace(tree, of: "S1", arrival: Self.now)
            _ = detector.take(station: "S1", topic: "event/trigger", payload: tree, arrival: Self.now)
            detector.restore(tree)
        }
        #expect(detector.finish().isEmpty)
    }

    /// A successor goes on with any version that a detector has written: all of it is within the ranges of its declaration.
    @Test func whatADetectorWritesIsRead() throws {
        var country = Country(stations: 12, side: 60, seed: 27)
        let shaken = country.earthquake([2, 1], at: 50).sorted { $0.time < $1.time }
        let said = detected(country.infos + shaken, isEarly: true)
        #expect(!said.isEmpty)
        for one in said {
            let read = try #require(
                NetworkEventReading(try JSONReader.read(one.message.json(boot: "", number: 0, time: one.time))))
            #expect(read.eventID == one.message.eventID && read.version == one.message.version)
            #expect(read.kind == one.message.kind && read.made == one.time && read.origin == one.message.origin)
            #expect(read.refused.isEmpty && read.stations?.map(\.eventID) == one.message.stations.map(\.eventID))
            #expect(read.quality == one.message.location.quality && read.region == one.message.location.region)
            #expect((read.magnitude == nil) == (one.message.magnitude == nil) && read.semiMajor != nil)
            #expect(read.isWithdrawn == one.message.isWithdrawn && (read.dispute != nil) == one.message.isDisputed)
        }
        for tree in said.prefix(3).map({ try? JSONReader.read($0.message.json(boot: "", number: 0, time: $0.time)) }) {
            for bytes in HostileMessages([tree ?? .null], count: 1000, seed: 3) {
                var detector = NetworkDetector(isEarly: true)
                detector.restore((try? JSONReader.read(bytes)) ?? .null)
                #expect(detector.finish().allSatisfy { $0.message.eventID.hasPrefix("net-") })
            }
        }
    }
}
