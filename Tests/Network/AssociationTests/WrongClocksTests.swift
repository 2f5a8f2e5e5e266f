import Foundation
import Messages
import Propagation
import Testing

@testable import Association

/// Which clocks are named as wrong, and which onsets are of something else.
@Suite struct WrongClocksTests {
    private static let centre = Place(latitude: 35, longitude: -117.5)
    /// Of the first earthquake of a country, seconds.
    private static let first = 60.0

    /// Clocks that the last version of each of some earthquakes names; the same station is off in each of them by so many
    /// seconds, and in time where that is 0.
    /// - Parameter isFelt: whether its event ends after the S wave, as those of the others do.
    private static func named(
        _ offsets: [Double], every pause: Double = 300, seed: UInt64, isFelt: Bool = true
    ) -> [[String]] {
        var country = Country(stations: 60, side: 120, seed: seed)
        var messages: [Country.Message] = []
        var station = ""
        for (i, offset) in offsets.enumerated() {
            let place = SIMD2(5.0, 5.0 + Double(i))
            var onsets = country.earthquake(place, at: first + pause * Double(i))
            if i == 0 { station = onsets[onsets.count / 2].station }
            let source = Hypocentre(
                origin: Country.start + first + pause * Double(i), place: Place(offset: place, from: centre), depth: 10)
            onsets.removeAll { $0.station == station }
            if let own = country.places.first(where: { $0.name == station })?.place {
                let onset = Country.onset(station, source.arrival(.p, at: own) + offset)
                messages += [onset] + (isFelt ? country.ends(of: [onset], place) : [])
            }
            messages += onsets + country.ends(of: onsets, place)
        }
        let said = detected(country.infos + messages.sorted { $0.time < $1.time }, isEarly: true).map(\.message)
        let last = Dictionary(grouping: said, by: \.eventID).compactMap(\.value.last)
        #expect(last.count == offsets.count)
        return last.sorted { $0.origin < $1.origin }.map { $0.clocks.map { $0.id == station ? "it" : $0.id } }
    }

    /// A defect: one onset in ten of 300 stations was false, and each that came within six seconds of a wave named its station's
    /// clock: 27 right ones in 120 earthquakes.
    @Test(arguments: [-4.5, -2, 1.5, 3], [true, false]) func oneFalseOnsetNamesNoClock(offset: Double, isFelt: Bool) {
        for seed in 1...3 as ClosedRange<UInt64> {
            #expect(Self.named([offset], seed: seed, isFelt: isFelt) == [[]], "seed \(seed)")
        }
    }

    /// A clock is named when two earthquakes agree on it, whether they come soon after each other or not, and whatever else the
    /// station sends.
    @Test(arguments: [70.0, 300]) func twoEarthquakesNameAClock(pause: Double) {
        for isFelt in [true, false] {
            let named = Self.named([-2, -2.2], every: pause, seed: 4, isFelt: isFelt)
            #expect(named.last == ["it"])
            #expect(pause < 100 || named == [[], ["it"]])
        }
    }

    /// Onsets that disagree are of other things; a station whose clock goes wrong is named by its second earthquake from then
    /// on, and one whose clock is set is named no more.
    @Test func onsetsThatDisagreeNameNoClock() {
        #expect(Self.named([-3, 2.5], seed: 5) == [[], []])
        #expect(Self.named([0, 0, 3], seed: 6) == [[], [], []])
        #expect(Self.named([0, 0, 0, -2, -2.1], seed: 7) == [[], [], [], [], ["it"]])
        #expect(Self.named([-2, -2, 0, 0, 2], seed: 8) == [[], ["it"], [], [], []])
    }

    /// A station that misses P waves triggers on the S waves of each earthquake of a place, by the same time after P.
    @Test func onsetsOfTheSWaveNameNoClock() throws {
        var country = Country(stations: 60, side: 120, seed: 9)
        let place = SIMD2(5.0, 5.0)
        var messages: [Country.Message] = []
        let centre = Place(offset: place, from: Self.centre)
        let (late, own) = try #require(country.places.first { (25...40).contains($0.place.distance(to: centre)) })
        for i in 0..<3 {
            let origin = Self.first + 300 * Double(i)
            let source = Hypocentre(origin: Country.start + origin, place: centre, depth: 10)
            var onsets = country.earthquake(place, at: origin)
            onsets.removeAll { $0.station == late }
            onsets.append(Country.onset(late, source.arrival(.s, at: own)))
            messages += onsets + country.ends(of: onsets, place)
        }
        let said = detected(country.infos + messages.sorted { $0.time < $1.time }, isEarly: true).map(\.message)
        #expect(Set(said.map(\.eventID)).count == 3 && said.allSatisfy(\.clocks.isEmpty))
        #expect(said.last?.stations.first { $0.id == late }?.phase == "S")
    }

    /// Clocks that a swarm names, of which a station triggers on the S waves: each time by so many seconds beside that of the
    /// place that it has entered.
    /// - Parameter distance: of the station from the swarm, km.
    private static func namedBySwarm(
        _ distance: ClosedRange<Double>, off error: Double, seed: UInt64
    ) throws -> [String] {
        var country = Country(stations: 60, side: 100, seed: seed)
        let middle = SIMD2(2.0, -3.0)
        let centre = Place(offset: middle, from: Self.centre)
        let (late, own) = try #require(country.places.first { distance.contains($0.place.distance(to: centre)) })
        var messages: [Country.Message] = []
        for i in 0..<3 {
            let place = middle + SIMD2(0.4 * cos(2.4 * Double(i)), 0.4 * sin(2.4 * Double(i)))
            let origin = Self.first + 300 * Double(i)
            let source = Hypocentre(
                origin: Country.start + origin, place: Place(offset: place, from: Self.centre), depth: 10)
            var onsets = country.earthquake(place, at: origin)
            onsets.removeAll { $0.station == late }
            onsets.append(Country.onset(late, source.arrival(.s, at: own) + error + 0.1 * sin(Double(i))))
            messages += onsets + country.ends(of: onsets, place)
        }
        let said = detected(country.infos + messages.sorted { $0.time < $1.time }, isEarly: true).map(\.message)
        #expect(Set(said.map(\.eventID)).count == 3)
        return Set(said.flatMap(\.clocks).map(\.id)).sorted()
    }

    /// A station near a swarm, whose P waves are too weak for it, always triggers on the S wave: 1 to 3 s after P, as a clock might
    /// be off. Its entered place may be one or two kilometres wrong, so that it fits neither well.
    @Test(arguments: [0.0, 0.7, -0.7]) func aSwarmsSWaveNamesNoClock(off: Double) throws {
        for least in [8.0, 11, 14, 17] {
            let named = try Self.namedBySwarm(least...least + 3, off: off, seed: UInt64(least))
            #expect(named == [], "\(least) km")
        }
    }

    /// An earthquake in the middle of thirty stations, of which the first ones are off by so many seconds.
    private static func clocks(
        off: [Double], isFelt: Bool = true, noise: Int = 0, magnitude: Double? = 5, scatter: Double = 0.1
    ) -> [String] {
        let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 10)
        var core = Associator()
        var members: [AssociatedEvent.Member] = []
        for i in 0..<30 {
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            let place = Place(offset: direction * (10 + Double(i)), from: centre)
            let seconds = source.arrival(.p, at: place) + (i < off.count ? off[i] : i % 2 == 0 ? scatter : -scatter)
            var onset = StationOnset(eventID: "\(i)", station: "\(i)", time: Int64(seconds * 1e9))
            let distance = place.distance(to: centre)
            let slant = (distance * distance + 100).squareRoot()
            onset.pga = pow(10, MagnitudeRelation.logPeak(magnitude: 5, distance: slant, phase: .s)) / 100
            if isFelt { onset.asOf = onset.time + 30_000_000_000 }
            core.setPlace(place, of: "\(i)")
            core.pool.append(.init(onset: onset, place: place, event: i < off.count ? nil : 1))
            if i >= off.count { members.append(.init(eventID: "\(i)", station: "\(i)", phase: .p)) }
        }
        for i in 0..<noise {
            let time = Int64((source.origin - 100 + Double(i) / 10) * 1e9)
            let onset = StationOnset(eventID: "noise \(i)", station: "\(i % 30)", time: time)
            core.pool.append(.init(onset: onset, place: centre, event: nil))
        }
        let event = AssociatedEvent(serial: 1, members: members, hypocentre: source, silent: [], changed: 0)
        return core.wrongClocks(event, source, magnitude: magnitude).map(\.station)
    }

    /// Several that are off alike, as by one wrong time server, are named by their first earthquake; what is alone among them
    /// is not, and none where noise brings as many or nobody has felt the S wave.
    @Test func severalThatAreOffAlikeAreNamedAtOnce() {
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2]) == ["0", "1", "2", "3"])
        #expect(Self.clocks(off: [2, 2.2, -4, 1.9]) == ["0", "1", "3"])
        #expect(Self.clocks(off: [2, 2.2]) == [])
        #expect(Self.clocks(off: [2, -2, 4, -4, 3]) == [])
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2], isFelt: false) == [])
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2], magnitude: nil) == [])
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2], magnitude: 7) == [])
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2], noise: 100) == [])
        // Where the others do not fit closely, the place may be wrong.
        #expect(Self.clocks(off: [2, 2.2, 1.9, 2], scatter: 0.3) == [])
    }

    /// Where most of the onsets disagree with a place, the place is wrong: no clock is named.
    @Test func noClockIsNamedAgainstMost() {
        #expect(Self.clocks(off: Array(repeating: 2, count: 9)).count == 9)
        #expect(Self.clocks(off: Array(repeating: 2, count: 16)) == [])
    }

    /// Whether onsets that have a source of their own, and are off the P wave of an event by so many seconds, are taken for those
    /// of wrong clocks.
    private static func areOfWrongClocks(_ offsets: [Double], members count: Int = 21) -> Bool {
        let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 10)
        var core = Associator()
        var members: [AssociatedEvent.Member] = []
        var chosen: [Associator.Kept] = []
        for i in 0..<(count + offsets.count) {
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            let place = Place(offset: direction * (10 + Double(2 * i)), from: centre)
            core.setPlace(place, of: "\(i)")
            let seconds = source.arrival(.p, at: place) + (i < count ? 0 : offsets[i - count])
            let onset = StationOnset(eventID: "\(i)", station: "\(i)", time: Int64(seconds * 1e9))
            if i < count {
                members.append(.init(eventID: "\(i)", station: "\(i)", phase: .p))
            } else {
                chosen.append(.init(onset: onset, place: place))
            }
        }
        let event = AssociatedEvent(serial: 1, members: members, hypocentre: source, silent: [], changed: 0)
        return core.isOfWrongClocks(source, chosen, beside: event)
    }

    /// A defect: one or two false onsets among those of wrong clocks were enough for a second event, as were clocks of which
    /// some were ahead and others behind, where the event itself had few onsets more.
    @Test func falseOnsetsAmongThoseOfWrongClocksMakeNoEvent() {
        #expect(Self.areOfWrongClocks([-2, -2.1, -1.9, -2, -2.1, -3.2]))
        #expect(Self.areOfWrongClocks([2.1, -2.1, -1.9, -2.2, 5.5]))
        #expect(Self.areOfWrongClocks([1.9, 1.9, 2, 1.9, -2, -2.1, -2, -2, -2.3, -1.9, -1.8, -2.1]))
        // Three of something else may be an event.
        #expect(!Self.areOfWrongClocks([-2, -2.1, -1.9, -2, -2.1, -2, 5.5, -0.5, 3.5]))
        // A wave from elsewhere.
        #expect(!Self.areOfWrongClocks([-4, -2.8, -1.5, 0.5, 2, 3.5, 5]))
        #expect(!Self.areOfWrongClocks([-3.2, -1.2, 0.9, 2.9]))
    }

    /// A defect: what stations say until an earthquake's shaking is over delays the time when it is forgotten, and by then an onset
    /// of no event, as those of wrong clocks are, was dropped: hardly a wrong clock was ever known.
    @Test func clocksAreRememberedWhenTheirOnsetsAreDropped() throws {
        let source = Hypocentre(origin: Country.start + 60, place: Self.centre, depth: 10)
        var core = Associator()
        var onsets: [StationOnset] = []
        for i in 0..<21 {
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            let place = Place(offset: direction * (10 + Double(2 * i)), from: Self.centre)
            core.setPlace(place, of: "\(i)")
            let seconds = source.arrival(.p, at: place) - (i == 5 ? 2 : 0)
            onsets.append(StationOnset(eventID: "\(i)", station: "\(i)", time: Int64(seconds * 1e9)))
        }
        for onset in onsets.sorted(by: StationOnset.precedes) { core.process(onset, isFirst: true, at: onset.time) }
        var end = onsets[20]
        end.pga = 1
        end.asOf = end.time + 30_000_000_000
        core.process(end, isFirst: false, at: end.asOf)
        // Something else.
        let time = onsets[5].time + 181_000_000_000
        core.process(StationOnset(eventID: "later", station: "20", time: time), isFirst: true, at: time)
        core.advance(to: time + 60_000_000_000)
        #expect(core.events.isEmpty)
        let offsets = try #require(core.stations["5"]?.offsets)
        #expect(offsets.count == 1 && abs(offsets[0] + 2) < 0.2, "\(offsets)")
        let right = try #require(core.stations["6"]?.offsets)
        #expect(right.count == 1 && abs(right[0]) < 0.2, "\(right)")
    }

    /// Events that are left where so many clocks, all two seconds behind, have made one, and right ones make another; of some
    /// clocks it is known that they are wrong.
    private static func events(ofWrongClocks wrong: Int, known: Int, right: Int) -> Int {
        let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 10)
        var core = Associator()
        var members: [Int: [AssociatedEvent.Member]] = [:]
        for i in 0..<(wrong + right) {
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            let place = Place(offset: direction * (10 + Double(2 * (i % 15))), from: centre)
            core.setPlace(place, of: "\(i)")
            let seconds = source.arrival(.p, at: place) + (i < wrong ? -2 : 0)
            let onset = StationOnset(eventID: "\(i)", station: "\(i)", time: Int64(seconds * 1e9))
            let serial = i < wrong ? 1 : 2
            core.pool.append(.init(onset: onset, place: place, event: serial, hasWrongClock: i < known))
            members[serial, default: []].append(.init(eventID: "\(i)", station: "\(i)", phase: .p))
        }
        core.pool.sort { StationOnset.precedes($0.onset, $1.onset) }
        for (serial, own) in members.sorted(by: { $0.key < $1.key }) {
            var source = source
            if serial == 1 { source.origin -= 2 }
            core.events.append(
                AssociatedEvent(serial: serial, members: own, hypocentre: source, silent: [], changed: 0))
        }
        core.mergeInto(2)
        return core.events.count
    }

    /// A defect: known wrong clocks joined an event that others had made, which then had more than half as many onsets as that of
    /// the right clocks, and stayed beside it.
    @Test func knownWrongClocksKeepNoEvent() {
        #expect(Self.events(ofWrongClocks: 12, known: 7, right: 14) == 1)
        #expect(Self.events(ofWrongClocks: 12, known: 10, right: 11) == 1)
        // Where hardly one is known, either may be the right one.
        #expect(Self.events(ofWrongClocks: 12, known: 2, right: 14) == 2)
        #expect(Self.events(ofWrongClocks: 12, known: 7, right: 11) == 2)
    }

    /// Events that six onsets of one source make, whose stations were off by so many seconds in earthquakes before.
    private static func events(afterOffsets offsets: [Double]) -> Int {
        let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 10)
        var core = Associator()
        var onsets: [StationOnset] = []
        for i in 0..<6 {
            let direction = SIMD2<Double>(cos(Double(i)), sin(Double(i)))
            let place = Place(offset: direction * (10 + Double(4 * i)), from: centre)
            core.setPlace(place, of: "\(i)")
            core.stations["\(i)"]?.offsets = offsets
            let time = Int64(source.arrival(.p, at: place) * 1e9)
            onsets.append(StationOnset(eventID: "\(i)", station: "\(i)", time: time))
        }
        for onset in onsets.sorted(by: StationOnset.precedes) { core.process(onset, isFirst: true, at: onset.time) }
        core.advance(to: Int64((source.origin + 30) * 1e9))
        return core.events.count
    }

    /// A defect: stations whose clocks two earthquakes had shown to be wrong made an event of their own beside that of the others.
    @Test func clocksThatAreKnownToBeWrongMakeNoEvent() {
        #expect(Self.events(afterOffsets: [-2, -2.1]) == 0)
        #expect(Self.events(afterOffsets: [0, 2, 1.9]) == 0)
        // What one earthquake alone says, or what was then set right, is not held against them.
        for offsets in [[], [-2], [-2, 0], [-2, 2], [-2, -2, 0.1], [0.4, 0.4]] as [[Double]] {
            #expect(Self.events(afterOffsets: offsets) == 1, "\(offsets)")
        }
    }

    /// Events where five stations have an onset of a source, six as near are silent, and five nearer ones have clocks that are
    /// known to be two seconds behind.
    /// - Parameter areShaken: whether those have an onset as well.
    private static func events(besideKnownClocks areShaken: Bool) -> Int {
        let source = Hypocentre(origin: Country.start + 60, place: centre, depth: 10)
        var core = Associator()
        var onsets: [StationOnset] = []
        for i in 0..<16 {
            let direction = SIMD2<Double>(cos(2.4 * Double(i)), sin(2.4 * Double(i)))
            let distance = i < 5 ? 6 + 2 * Double(i) : i < 10 ? 6 * Double(i - 3) : 3 * Double(i) - 16
            let place = Place(offset: direction * distance, from: centre)
            core.setPlace(place, of: "\(i)")
            if i < 5 { core.stations["\(i)"]?.offsets = [-2, -2.1] }
            guard i < 5 ? areShaken : i < 10 else { continue }
            let time = Int64((source.arrival(.p, at: place) - (i < 5 ? 2 : 0)) * 1e9)
            onsets.append(StationOnset(eventID: "\(i)", station: "\(i)", time: time))
        }
        for onset in onsets.sorted(by: StationOnset.precedes) { core.process(onset, isFirst: true, at: onset.time) }
        core.advance(to: Int64((source.origin + 30) * 1e9))
        return core.events.count
    }

    /// A station whose clock is known to be wrong is not silent where it has an onset as much too late or too early.
    @Test func knownWrongClocksHaveFeltTheEarthquake() {
        #expect(Self.events(besideKnownClocks: true) == 1)
        #expect(Self.events(besideKnownClocks: false) == 0)
    }
}
