import Foundation
import Messages
import Propagation
import Settings
import TestSupport
import Testing
import Values

@testable import Association

/// Depths and magnitudes of small networks, whose onsets hardly tell the depth.
@Suite struct DepthTests {
    private static let centre = Place(latitude: 46, longitude: 7.5)

    /// An earthquake below a network of 11 km, as its stations report it.
    private static func last(
        _ dice: inout SplitMix64, stations count: Int, depth: Double, magnitude: Double
    ) -> NetworkEventMessage? {
        var country = Country(stations: 0, side: 1)
        for i in 0..<count {
            let angle = (Double(i) + dice.number(0...0.8)) * 2 * .pi / Double(count)
            let offset = SIMD2<Double>(cos(angle), sin(angle)) * dice.number(2...5.5)
            country.places.append(("S\(i)", Place(offset: offset, from: centre)))
        }
        let place = Place(offset: SIMD2(dice.number(-1.5...1.5), dice.number(-1.5...1.5)), from: centre)
        let source = Hypocentre(origin: Country.start + 60, place: place, depth: depth)
        var messages: [Country.Message] = []
        for (name, place) in country.places {
            let distance = place.distance(to: source.place)
            let slant = (distance * distance + depth * depth).squareRoot()
            let scatter = dice.number(-0.35...0.35)
            func peak(_ phase: Phase) -> Double {
                pow(10, MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: phase) + scatter) / 100
            }
            // A sum of twelve even numbers is nearly normal.
            let error = (0..<12).reduce(-6.0) { sum, _ in sum + dice.number(0...1) } * 0.15
            let onset = Country.onset(name, source.arrival(.p, at: place) + error, pga: peak(.p))
            var end = onset
            end.time = onset.time + 12
            let time = Timestamp(nanoseconds: Int64(end.time * 1000) * 1_000_000).description
            end.payload = onset.payload.with("event_type", "end").with("t", .string(time))
                .with("pga", .double(peak(.s)))
            messages += [onset, end]
        }
        return detected(country.infos + messages.sorted { $0.time < $1.time }).last?.message
    }

    /// A defect: places were found 0.5 to 3.5 km deep where they were 4 to 16, because nearer earthquakes may be smaller ones
    /// and those are frequent; the distance came out too short, and the magnitude up to 1 too small with a sigma of 0.3.
    @Test(arguments: [1045, 1046] as [UInt64]) func magnitudesOfSmallNetworksAreNotTooSmall(seed: UInt64) {
        var dice = SplitMix64(state: seed)
        var (errors, depths): ([Double], [Double]) = ([], [])
        var (within, count) = (0, 0)
        for trial in 0..<96 {
            let (depth, magnitude) = (4 + Double(trial % 4) * 4, 2.5 + Double(trial % 6) * 0.5)
            let found = Self.last(&dice, stations: 8 + trial % 5, depth: depth, magnitude: magnitude)
            // (One that is missed is no matter of its depth.)
            guard let message = found else { continue }
            count += 1
            depths.append(message.depth - depth)
            #expect(message.depthSigma > 1 && message.depthSigma < 12, "\(message.depthSigma) km")
            guard let one = message.magnitude else { continue }
            errors.append(one.value - magnitude)
            if abs(one.value - magnitude) <= one.sigma { within += 1 }
        }
        #expect(count >= 90 && errors.count >= 48)
        let bias = errors.reduce(0, +) / Double(errors.count)
        #expect(abs(bias) < 0.2, "\(bias)")
        let share: Int = within * 100 / errors.count
        #expect((55...80).contains(share), "\(within) of \(errors.count) within one sigma")
        let tooDeep: Double = depths.reduce(0, +) / Double(depths.count)
        #expect(abs(tooDeep) < 2.5, "\(depths)")
    }

    /// The depth is that of the region where the onsets do not tell it, and the magnitude says how little is known.
    @Test func theRegionSaysHowDeep() throws {
        var dice = SplitMix64(state: 46)
        let stations = (0..<6).map { i -> Place in
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            return Place(offset: direction * (2 + 0.6 * Double(i)), from: Self.centre)
        }
        let source = Hypocentre(origin: 100, place: Self.centre, depth: 10)
        let readings = stations.map { place in
            Locator.Reading(place: place, phase: .p, time: source.arrival(.p, at: place) + dice.number(-0.2...0.2))
        }
        func located(_ prior: DepthPrior) throws -> Location {
            var locator = Locator(readings, silent: [], depths: prior)
            let found = locator.locate()
            return try #require(found)
        }
        let (usual, known) = (try located(DepthPrior()), try located(DepthPrior(middle: 30, spread: 1)))
        #expect(abs(usual.source.depth - 10) < 4 && abs(known.source.depth - 30) < 2)
        #expect(usual.source.depthSigma > known.source.depthSigma)
        let observations = stations.map { MagnitudeRelation.Observation(place: $0, peak: 0.1, phase: .s) }
        #expect(
            MagnitudeRelation.sigma(of: observations, at: usual.candidates)
                > 1.5 * MagnitudeRelation.sigma(of: observations, at: known.candidates))
    }

    /// Usual depths cost little, and no depth is impossible.
    @Test func deepEarthquakesStayPossible() {
        let prior = DepthPrior(middle: 10, spread: 4)
        #expect(prior.cost(10) == 0 && prior.cost(14) < 0.6)
        #expect(prior.cost(26) > 3 && prior.cost(600) < 14)
        #expect(prior.rarityDepth(2) == 10 && prior.rarityDepth(18) == 10 && prior.rarityDepth(48) == 40)
    }
}
