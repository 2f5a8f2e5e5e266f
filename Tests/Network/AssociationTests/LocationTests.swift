import Foundation
import Messages
import Propagation
import Settings
import TestSupport
import Testing
import Values

@testable import Association

/// Places of small networks, from onsets of iasp91 with an error of 0.15 s.
struct LocationTests {
    struct Network: Sendable, CustomTestStringConvertible {
        var stations: Int
        var kilometres: Double
        var testDescription: String { "\(stations) stations in \(kilometres) km" }
    }

    static let networks = [(6, 11.0), (10, 11), (6, 22), (5, 40), (8, 40), (12, 40), (6, 67), (6, 100), (10, 100)]
        .map { Network(stations: $0.0, kilometres: $0.1) }

    private static let centre = Place(latitude: 46, longitude: 7.5)

    private static func stations(_ network: Network, _ dice: inout SplitMix64) -> [Place] {
        (0..<network.stations).map { _ in
            let half = network.kilometres / 2
            return Place(offset: SIMD2(dice.number(-half...half), dice.number(-half...half)), from: centre)
        }
    }

    private static func readings(
        _ source: Hypocentre, _ stations: [Place], magnitude: Double, _ dice: inout SplitMix64
    ) -> [Locator.Reading] {
        stations.map { place in
            // A sum of twelve even numbers is nearly normal.
            let error = (0..<12).reduce(-6.0) { sum, _ in sum + dice.number(0...1) } * 0.15
            let time = source.arrival(.p, at: place) + error
            let distance = place.distance(to: source.place)
            let slant = (distance * distance + source.depth * source.depth).squareRoot()
            let peak =
                MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: .s) + dice.number(-0.3...0.3)
            return Locator.Reading(
                place: place, phase: .p, time: time, peak: pow(10, peak) / 100, asOf: time + 60)
        }
    }

    private static func isInside(_ place: Place, _ region: [[SIMD2<Double>]]) -> Bool {
        region.contains { Contour.contains($0, SIMD2(place.latitude, place.longitude)) }
    }

    /// Earthquakes inside the network are found there, and the region has them in it.
    @Test(arguments: networks) func insideSmallNetworks(network: Network) throws {
        var dice = SplitMix64(state: UInt64(network.stations) << 8 + UInt64(network.kilometres))
        var (far, outOfRegion, good) = (0, 0, 0)
        let trials = 12
        for _ in 0..<trials {
            var (stations, place) = (Self.stations(network, &dice), Self.centre)
            // Until the source is among the stations.
            repeat {
                stations = Self.stations(network, &dice)
                let half = network.kilometres / 2
                place = Place(offset: SIMD2(dice.number(-half...half), dice.number(-half...half)), from: Self.centre)
            } while Locator.gap(
                at: place.projected(around: Self.centre), stations.map { $0.projected(around: Self.centre) })
                > 180
            let source = Hypocentre(origin: 1_760_000_000, place: place, depth: dice.number(5...15))
            var locator = Locator(Self.readings(source, stations, magnitude: 4.8, &dice), silent: [])
            let found = locator.locate()
            let location = try #require(found)
            if location.source.place.distance(to: place) > 20 { far += 1 }
            if !Self.isInside(place, location.region) { outOfRegion += 1 }
            if location.quality == .good { good += 1 }
        }
        #expect(far <= 1 && outOfRegion <= 2, "\(far) far off, \(outOfRegion) outside of the region")
        if network.stations >= 8, network.kilometres >= 40 { #expect(good >= trials / 2, "\(good) good") }
    }

    /// A station that says how little it knows of its arrival spoils less than one that does not say it.
    @Test func anUncertainArrivalCountsLess() throws {
        var dice = SplitMix64(state: 26)
        var (said, unsaid) = (0.0, 0.0)
        for _ in 0..<12 {
            let stations = Self.stations(Network(stations: 7, kilometres: 40), &dice)
            let source = Hypocentre(origin: 1_760_000_000, place: Self.centre, depth: 10)
            var readings = Self.readings(source, stations, magnitude: 4.8, &dice)
            for i in 0..<2 { readings[i].time += dice.number(0.5...1.5) }
            func distance() throws -> Double {
                var locator = Locator(readings, silent: [])
                let found = locator.locate()
                return try #require(found).source.place.distance(to: source.place)
            }
            unsaid += try distance()
            for i in 0..<2 { readings[i].sigma = 1 }
            said += try distance()
        }
        #expect(said < 0.7 * unsaid, "\(said / 12) and \(unsaid / 12) km")
    }

    /// The station's arrival is what an event is located by, also when a later message tells it better; else its onset.
    @Test func theArrivalIsReadAndUpdated() throws {
        func report(_ type: Value, _ changes: [(String, Value)]) throws -> StationOnset {
            guard case .object(var members) = Country.onset("S1", 1_760_000_000).payload else {
                throw CancellationError()
            }
            members.removeAll { $0.key == "event_type" }
            members.append(.init("event_type", type))
            for (key, value) in changes { members.append(.init(key, value)) }
            return try StationReport(.object(members), station: "S1", arrival: nil).onset
        }
        var onset = try report("onset", [])
        #expect(onset.arrival == nil)
        let early: [(String, Value)] = [("p_time", "2025-10-09T08:53:19.5Z"), ("p_sigma_s", .double(0.25))]
        let later = try report("update", early)
        let isNew = onset.update(later)
        #expect(isNew && onset.arrival == .init(time: 1_759_999_999_500_000_000, sigma: 0.25))
        let without = try report("update", [])
        _ = onset.update(without)
        #expect(onset.arrival?.sigma == 0.25)
    }

    /// Beyond a small network, the direction is right and the quality says so.
    @Test func outside() throws {
        var dice = SplitMix64(state: 7)
        let network = Network(stations: 6, kilometres: 15)
        var (outOfRegion, turned) = (0, 0)
        for i in 0..<12 {
            let stations = Self.stations(network, &dice)
            let place = Place(offset: SIMD2(70, 0).rotated(Double(i) * 30), from: Self.centre)
            let source = Hypocentre(origin: 1_760_000_000, place: place, depth: 10)
            var locator = Locator(Self.readings(source, stations, magnitude: 5.5, &dice), silent: [])
            let found = locator.locate()
            let location = try #require(found)
            #expect(location.quality != .good, "to \(i * 30) degrees")
            let wanted = Contour.azimuth(SIMD2(70, 0).rotated(Double(i) * 30))
            let turn = abs((location.azimuth - wanted + 540).truncatingRemainder(dividingBy: 360) - 180)
            if turn > 45 { turned += 1 }
            if !Self.isInside(place, location.region) { outOfRegion += 1 }
        }
        #expect(outOfRegion <= 2 && turned <= 2, "\(outOfRegion) outside of the region, \(turned) elsewhere")
    }

    /// One gross error among eight moves nothing.
    @Test func aGrossErrorDoesNotMoveThePlace() throws {
        var dice = SplitMix64(state: 3)
        let network = Network(stations: 9, kilometres: 40)
        for i in 0..<9 {
            let stations = Self.stations(network, &dice)
            let place = Place(offset: SIMD2(2, 3), from: Self.centre)
            let source = Hypocentre(origin: 1_760_000_000, place: place, depth: 9)
            var readings = Self.readings(source, stations, magnitude: 5, &dice)
            readings[i].time += 4
            var locator = Locator(readings, silent: [])
            let found = locator.locate()
            let location = try #require(found)
            #expect(location.source.place.distance(to: place) < 8)
        }
    }

    /// The order of the onsets and of the silent stations makes no difference, to the last bit.
    @Test func orderMakesNoDifference() throws {
        var dice = SplitMix64(state: 5)
        let stations = Self.stations(Network(stations: 8, kilometres: 30), &dice)
        let silent = Self.stations(Network(stations: 8, kilometres: 60), &dice)
        let source = Hypocentre(origin: 1_760_000_000, place: Self.centre, depth: 9)
        let readings = Self.readings(source, stations, magnitude: 5, &dice)
        var (one, other) = (Locator(readings, silent: silent), Locator(readings.reversed(), silent: silent.reversed()))
        #expect(one.locate() == other.locate())
    }

    @Test func contoursAreClosedAndHaveTheirArea() {
        // A disc of a radius of 10 on a grid of 40, and a ring around a hole.
        let width = 40
        func grid(_ value: (Double) -> Double) -> [Double] {
            (0..<width * width).map { i in
                let (x, y) = (Double(i % width) - 19.5, Double(i / width) - 19.5)
                return value((x * x + y * y).squareRoot())
            }
        }
        let disc = Contour.lines(grid { -$0 }, width: width, level: -10)
        #expect(disc.count == 1)
        #expect(abs(Contour.area(disc[0]) - 314.16) < 5)
        #expect(Contour.contains(disc[0], SIMD2(19.5, 19.5)) && !Contour.contains(disc[0], SIMD2(2, 2)))
        let ring = Contour.lines(grid { -abs($0 - 12) }, width: width, level: -4)
        #expect(ring.count == 2)
        // What reaches the border is closed along it.
        let all = Contour.lines(grid { _ in 1 }, width: width, level: 0)
        #expect(all.count == 1 && Contour.area(all[0]) > 1500)
    }
}

extension SIMD2<Double> {
    fileprivate func rotated(_ degrees: Double) -> SIMD2<Double> {
        let (c, s) = (cos(degrees * .pi / 180), sin(degrees * .pi / 180))
        return SIMD2(x * c - y * s, x * s + y * c)
    }
}
