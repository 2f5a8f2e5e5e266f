import Foundation
import Messages
import Propagation
import Testing
import Values

@testable import Association

/// What is said of events, made by hand: ids, versions, merges, magnitudes.
@Suite struct AnnouncerTests {
    private static let origin = 1_760_000_000.0
    private static let centre = Place(latitude: 35, longitude: -117.5)

    /// Stations around a point, on two rings, and an event of each group of them.
    private final class Scene {
        var core = Associator()
        private var announcer = Announcer()
        private var serial = 0

        /// - Parameters:
        ///   - names: of stations, twelve or more: with so many the fit of the associator is the place.
        ///   - at: kilometres east and north of the middle.
        ///   - magnitude: what the peaks are made for.
        func add(
            _ names: [String], at offset: SIMD2<Double>, depth: Double, seconds: Double, magnitude: Double = 5,
            phase: Phase = .s, asOf: Double = 60, factor: (Int) -> Double = { _ in 1 }
        ) {
            serial += 1
            var source = Hypocentre(
                origin: AnnouncerTests.origin + seconds, place: Place(offset: offset, from: AnnouncerTests.centre),
                depth: depth)
            (source.semiMajor, source.semiMinor) = (1, 1)
            var members: [AssociatedEvent.Member] = []
            for (i, name) in names.enumerated() {
                let angle = Double(i) * 2.4
                let place = Place(offset: SIMD2(cos(angle), sin(angle)) * (20 + 2 * Double(i)), from: source.place)
                let distance = place.distance(to: source.place)
                let slant = (distance * distance + depth * depth).squareRoot()
                var onset = StationOnset(
                    eventID: "\(name)-\(serial)", station: name, time: Int64(source.arrival(.p, at: place) * 1e9))
                onset.pga =
                    pow(10, MagnitudeRelation.logPeak(magnitude: magnitude, distance: slant, phase: phase)) / 100
                    * factor(i)
                onset.asOf = onset.time + Int64(asOf * 1e9)
                core.setPlace(place, of: name)
                core.pool.append(Associator.Kept(onset: onset, place: place, event: serial))
                members.append(.init(eventID: onset.eventID, station: name, phase: .p))
            }
            core.pool.sort { StationOnset.precedes($0.onset, $1.onset) }
            core.events.append(
                AssociatedEvent(serial: serial, members: members, hypocentre: source, silent: [], changed: 0))
        }

        func observe(_ seconds: Double) -> [NetworkEventMessage] {
            announcer.observe(core, now: Int64((AnnouncerTests.origin + seconds) * 1e9))
        }
    }

    private static func names(_ letter: String, _ count: Int = 14) -> [String] { (0..<count).map { "\(letter)\($0)" } }

    /// Two earthquakes may begin in the same millisecond; their ids differ all the same, also those of a third one.
    @Test func noTwoEventsHaveOneID() {
        let scene = Scene()
        for (i, letter) in ["a", "b", "c"].enumerated() {
            scene.add(Self.names(letter), at: SIMD2(200 * Double(i), 0), depth: 8, seconds: 0)
        }
        let said = scene.observe(30)
        #expect(said.map(\.kind) == [.onset, .onset, .onset])
        #expect(Set(said.map(\.eventID)).count == 3)
        #expect(
            said.map(\.eventID).sorted() == [
                "net-20251009T085320000Z", "net-20251009T085320001Z", "net-20251009T085320002Z",
            ])
    }

    /// An event whose onsets have gone to others is said to be part of the one that has most of them.
    @Test func aMergeNamesTheEventWithMostOfTheOnsets() throws {
        let scene = Scene()
        for (i, letter) in ["a", "b", "c"].enumerated() {
            scene.add(Self.names(letter), at: SIMD2(200 * Double(i), 0), depth: 8, seconds: Double(i))
        }
        let ids = scene.observe(30).map(\.eventID)
        // Of the third one, the first gets one onset and the second four.
        let gone = scene.core.events.removeLast()
        scene.core.events[0].members.append(gone.members[0])
        scene.core.events[1].members += gone.members[1...4]
        let end = try #require(scene.observe(40).first { $0.eventID == ids[2] })
        #expect(end.kind == .end && end.mergedInto == ids[1] && !end.isWithdrawn)
    }

    /// Where nobody has the onsets, there was no such event.
    @Test func whatNobodyHasIsWithdrawn() throws {
        let scene = Scene()
        for (i, letter) in ["a", "b"].enumerated() {
            scene.add(Self.names(letter), at: SIMD2(200 * Double(i), 0), depth: 8, seconds: Double(i))
        }
        let ids = scene.observe(30).map(\.eventID)
        scene.core.events.removeLast()
        let end = try #require(scene.observe(40).first { $0.eventID == ids[1] })
        #expect(end.kind == .end && end.mergedInto == nil && end.isWithdrawn && end.version == 2)
        #expect(scene.observe(50).isEmpty)
    }

    /// A version says something new, and comes no sooner than a second after the one before.
    @Test func versionsComeWithNewsAndNotTooOften() {
        let scene = Scene()
        scene.add(Self.names("a"), at: SIMD2(0, 0), depth: 8, seconds: 0)
        #expect(scene.observe(30).map(\.version) == [1])
        #expect(scene.observe(35).isEmpty)
        scene.core.pool[0].onset.pga += 1
        #expect(scene.observe(36).map(\.version) == [2])
        scene.core.pool[0].onset.pga += 1
        #expect(scene.observe(36.5).isEmpty)
        #expect(scene.observe(37).map(\.version) == [3])
    }

    /// The distance of a magnitude is that from the source, not from the epicentre.
    @Test(arguments: [5.0, 45]) func theMagnitudeIsReadAtTheDistanceFromTheSource(depth: Double) throws {
        // (The fit is taken as it is where the stations are farther away than one and a half depths.)
        let scene = Scene()
        scene.add(Self.names("a", 60), at: SIMD2(0, 0), depth: depth, seconds: 0, magnitude: 5.5)
        let message = try #require(scene.observe(60).first)
        #expect(message.location.quality == .good && message.depth == depth)
        let found = try #require(message.magnitude?.value)
        #expect(abs(found - 5.5) < 0.051, "\(found)")
    }

    /// Before the S wave has come a peak is that of P.
    @Test func aPeakBeforeTheSWaveIsThatOfP() throws {
        let scene = Scene()
        scene.add(Self.names("a"), at: SIMD2(0, 0), depth: 8, seconds: 0, magnitude: 5, phase: .p, asOf: 1)
        let early = try #require(scene.observe(20).first?.magnitude?.value)
        #expect(abs(early - 5) < 0.051, "\(early)")
    }

    /// A defect: a version that came too soon after the last one waited for late messages as well, up to a second longer.
    @Test func theEndOfAPauseWaitsForNoMessage() throws {
        var country = Country(stations: 6, side: 30, seed: 3)
        let onsets = country.earthquake([1, 2], at: 50).sorted { $0.time < $1.time }
        var detector = NetworkDetector(isEarly: true)
        for info in country.infos { _ = detector.take(info, arrival: nil) }
        var said: [(version: DueVersion, clock: Int64)] = []
        for onset in onsets {
            let arrival = Int64(onset.time * 1e9)
            while let due = detector.due, due < arrival { said += detector.pass(clock: due).map { ($0, due) } }
            said += detector.take(onset, arrival: arrival).map { ($0, arrival) }
        }
        // A peak grows, half a second after the last version.
        let last = try #require(onsets.last)
        let grown = try #require(said.last).clock + 500_000_000
        let text = Timestamp(nanoseconds: grown).description
        var update = last
        update.payload = last.payload.with("event_type", "update").with("t", .string(text)).with("pga", 3.0)
        let before = said.count
        said += detector.take(update, arrival: grown).map { ($0, grown) }
        #expect(said.count == before)
        while said.count == before, let due = detector.due { said += detector.pass(clock: due).map { ($0, due) } }
        #expect(said.last?.version.message.pga.value == 3)
        #expect(try #require(said.last).clock - grown <= 510_000_000)
        #expect(try #require(said.last).version.time >= said[before - 1].version.time)
    }
}
