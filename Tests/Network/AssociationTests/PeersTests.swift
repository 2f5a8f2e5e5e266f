import Propagation
import Testing

@testable import Association

/// What stations around a source say that have no onset of it.
@Suite struct PeersTests {
    /// A defect: a station with an onset of something else up to 20 s before the wave was against the earthquake before the
    /// wave had been there. Until then it may still feel it.
    @Test(arguments: [nil, 8.0, 3]) func nobodyIsAgainstItBeforeTheWave(earlier: Double?) {
        let centre = Place(latitude: 35, longitude: -117.5)
        let source = Hypocentre(origin: 1000, place: centre, depth: 10)
        var stations: [String: Associator.Station] = [:]
        let offsets: [SIMD2<Double>] = [[3, 4], [-5, 1], [2, -6], [7, 2], [-6, -6]]
        for (i, offset) in offsets.enumerated() {
            stations["m\(i)"] = .init(place: Place(offset: offset, from: centre))
        }
        let place = Place(offset: SIMD2(0, 9), from: centre)
        let arrival = source.arrival(.p, at: place)
        stations["o"] = .init(place: place, recent: earlier.map { [arrival - $0] } ?? [])
        let (options, members) = (AssociationOptions(), Set((0..<5).map { "m\($0)" }))
        func peers(_ now: Double) -> Peers {
            Peers(
                of: source, members: members, busy: [], stations: stations, now: now, options: options, magnitude: nil)
        }
        let gate = options.gate(arrival - source.origin, .p)
        let before = peers(arrival)
        #expect(before.members == 5 && before.pending == 1 && before.others == 0 && before.silent.isEmpty)
        #expect(before.settled == arrival + gate)
        let after = peers(arrival + gate + 0.1)
        #expect(after.pending == 0 && after.others == (earlier == nil ? 0 : 1))
        #expect(after.silent == (earlier == nil ? ["o"] : []))
        // Its onset is of this wave.
        stations["o"]?.recent = [arrival + gate / 2]
        #expect(peers(arrival + gate + 0.1).others == 0 && peers(arrival).pending == 0)
    }
}
