import Messages
import Settings
import TestSupport
import Testing
import Values

@testable import Association

/// A station may lie; what it says is bounded, counted and refused with a reason.
@Suite struct RefusalTests {
    static let now: Int64 = 1_760_000_000_000_000_000

    private func refusal(_ changes: [(String, Value?)], arrival: Int64? = now) -> Refusal? {
        guard case .object(var members) = Country.onset("S1", 1_760_000_000).payload else { return nil }
        for (key, value) in changes {
            members.removeAll { $0.key == key }
            if let value { members.append(.init(key, value)) }
        }
        do throws(Refusal) { _ = try StationReport(.object(members), station: "S1", arrival: arrival) } catch {
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
}
