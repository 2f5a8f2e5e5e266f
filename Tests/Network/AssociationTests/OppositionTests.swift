import Foundation
import Messages
import Propagation
import Testing
import Values

@testable import Association

/// Stations that may contradict an event: until they had the chance, it has no magnitude, so that nobody is alarmed.
@Suite struct OppositionTests {
    private static let centre = Place(latitude: 35, longitude: -117.5)
    private static let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 8)

    /// Stations around the middle, one in each of some directions, up to some kilometres away.
    private static func around(_ count: Int, _ prefix: String, _ kilometres: ClosedRange<Double>) -> [(String, Place)] {
        (0..<count).map { i in
            let part = count < 2 ? 0 : Double(i * 7 % count) / Double(count - 1)
            let distance = kilometres.lowerBound + (kilometres.upperBound - kilometres.lowerBound) * part
            let angle = 2 * Double.pi * Double(i) / Double(count)
            return ("\(prefix)\(i)", Place(offset: SIMD2(cos(angle), sin(angle)) * distance, from: centre))
        }
    }

    /// What stations say of an earthquake below the middle: the onset with the peak of P, and the end with that of S.
    private static func shaken(_ stations: [(String, Place)], magnitude: Double = 5) -> [Country.Message] {
        stations.flatMap { name, place in
            let distance = place.distance(to: source.place)
            let slant = (distance * distance + source.depth * source.depth).squareRoot()
            func peak(_ phase: Phase) -> Double {
                pow(10, MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: phase)) / 100
            }
            let onset = Country.onset(name, source.arrival(.p, at: place), pga: peak(.p))
            var end = onset
            end.time = source.arrival(.s, at: place) + 9
            let time = Timestamp(nanoseconds: Int64(end.time * 1000) * 1_000_000).description
            end.payload = onset.payload.with("event_type", "end").with("t", .string(time))
                .with("pga", .double(peak(.s)))
            return [onset, end]
        }
    }

    /// What is said of messages that come without delay, and for two minutes after them.
    private static func said(_ stations: [(String, Place)], _ messages: [Country.Message]) -> [DueVersion] {
        var country = Country(stations: 0, side: 1)
        country.places = stations.map { (name: $0.0, place: $0.1) }
        var detector = NetworkDetector(isEarly: true)
        for info in country.infos { _ = detector.take(info) }
        var versions: [DueVersion] = []
        func pass(_ clock: Int64) {
            while let due = detector.due, due < clock { versions += detector.pass(clock: due) }
        }
        for message in messages.sorted(by: { $0.time < $1.time }) {
            let clock = Int64(message.time * 1e9)
            pass(clock)
            versions += detector.take(message, arrival: clock)
        }
        pass(Int64((source.origin + 120) * 1e9))
        return versions
    }

    /// A defect: the other stations were farther away than all that had invented an earthquake, and three of ten such events
    /// raised an alarm some seconds before they were `disputed`.
    @Test(arguments: [5, 6]) func inventedEarthquakesAlarmNobodyBeforeTheyAreDisputed(count: Int) throws {
        let liars = Self.around(count, "X", 4...9)
        let others = Self.around(10, "S", 13...17) + Self.around(20, "T", 18...30)
        let versions = Self.said(liars + others, Self.shaken(liars)).map(\.message)
        let last = try #require(versions.last)
        #expect(last.isDisputed && last.dispute == .silence)
        #expect(versions.allSatisfy { $0.magnitude == nil })
    }

    /// Where the others confirm it, the magnitude comes with the seventh station; the rate of versions does not hold it back.
    @Test func aMagnitudeComesWithTheSeventhStation() throws {
        let stations = Self.around(10, "S", 4...17) + Self.around(20, "T", 18...30)
        let messages = Self.shaken(stations)
        let versions = Self.said(stations, messages)
        let first = try #require(versions.firstIndex { $0.message.magnitude != nil })
        #expect(versions[first].message.stations.count == 7)
        #expect(versions[..<first].contains { $0.message.location.quality == .good })
        let onsets = messages.filter { $0.payload["event_type"]?.rawText == "onset" }.map(\.time).sorted()
        #expect(abs(Double(versions[first].time) / 1e9 - onsets[6]) < 0.01)
    }

    /// A network of so few stations that no majority of others can contradict does not wait.
    @Test func aSmallNetworkWaitsForNobody() throws {
        let stations = Self.around(6, "S", 4...9) + Self.around(3, "T", 18...30)
        let versions = Self.said(stations, Self.shaken(Self.around(6, "S", 4...9)))
        #expect(try #require(versions.first { $0.message.stations.count == 6 }).message.magnitude != nil)
    }

    @Test func whetherOthersMayStillContradict() {
        // Seven stations, or four others of which none is overdue.
        #expect(!Opposition(pending: 40).leavesOpen(7))
        #expect(!Opposition(pending: 4).leavesOpen(5))
        #expect(Opposition(pending: 5).leavesOpen(5))
        #expect(Opposition(pending: 40, overdue: 1).leavesOpen(8))
        #expect(!Opposition(pending: 40, overdue: 1).leavesOpen(9))
        // All had their chance: it is left open where more than half as many were not moved.
        #expect(!Opposition(unmoved: ["a", "b", "c"], overdue: 3).leavesOpen(6))
        #expect(Opposition(unmoved: ["a", "b", "c", "d"], overdue: 4).leavesOpen(6))
    }
}
