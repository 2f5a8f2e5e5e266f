import Foundation
import Propagation
import TestSupport
import Testing

@testable import Association

/// Where most onsets have come from, though a third of them are of clocks that are two seconds wrong.
@Suite struct AgreementTests {
    private static let centre = Place(latitude: 35, longitude: -117.5)

    /// Onsets of an earthquake in the middle, a third of them two seconds wrong.
    private static func arrivals(_ dice: inout SplitMix64, _ source: Hypocentre) -> [Arrival] {
        (0..<36).map { (i: Int) -> Arrival in
            let station = Place(offset: SIMD2(dice.number(-60...60), dice.number(-60...60)), from: centre)
            let wrong: Double = i % 3 > 0 ? 0 : i % 2 == 0 ? 2 : -2
            let time = source.arrival(.p, at: station) + dice.number(-0.15...0.15) + wrong
            return Arrival(station: station, phase: .p, time: time)
        }
    }

    /// A defect: wrong clocks had moved an earthquake by 18 km, which is farther than the places that were tried.
    @Test func findsAPlaceEighteenKilometresAway() throws {
        var dice = SplitMix64(state: 7)
        for direction in 0..<12 {
            let source = Hypocentre(origin: 1000, place: Self.centre, depth: 10)
            let arrivals = Self.arrivals(&dice, source)
            let angle = Double(direction) * .pi / 6
            let place = Place(offset: SIMD2(cos(angle), sin(angle)) * 18, from: Self.centre)
            let start = Hypocentre(origin: 997.2, place: place, depth: 37)
            let best = try #require(Agreement(arrivals, AssociationOptions()).best(around: start), "\(direction)")
            let off = best.source.place.distance(to: Self.centre)
            #expect(off < 1.5, "\(direction): \(off) km")
        }
    }
}
