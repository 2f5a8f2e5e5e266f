import Messages
import Propagation
import Settings
import TestSupport
import Testing
import Values

@testable import Association

@Suite struct AssociationTests {
    /// Four earthquakes on 70 stations, noise between them, in order of time.
    static let months: (infos: [Country.Message], messages: [Country.Message], sources: [SIMD2<Double>]) = {
        var country = Country(stations: 70, side: 200, seed: 7)
        let sources: [SIMD2<Double>] = [
            [10, 20], [-60, 50], [60, -40], [0, -10],
        ]
        var messages = country.noise(25, seconds: 0...300)
        for (i, source) in sources.enumerated() {
            messages += country.earthquake(source, depth: 8 + Double(i), at: 40 + 60 * Double(i))
        }
        return (country.infos, messages.sorted { $0.time < $1.time }, sources)
    }()

    @Test func findsAllAndNothingElse() {
        let published = detected(Self.months.infos + Self.months.messages)
        let last = Dictionary(grouping: published, by: \.message.eventID).compactMapValues(\.last)
        #expect(last.count == 4)
        let centre = Place(latitude: 35, longitude: -117.5)
        let errors = last.values.map { one in
            let place = Place(latitude: one.message.latitude, longitude: one.message.longitude)
            return Self.months.sources.map { Place(offset: $0, from: centre).distance(to: place) }.min()!
        }
        #expect(errors.max()! < 2, "\(errors)")
        for one in last.values {
            #expect(one.message.kind == .end)
            #expect(one.message.stations.count >= 10)
            #expect(one.message.rms < 0.4)
            #expect(one.message.ellipse.semiMajor < 5 && one.message.ellipse.semiMajor > 0.1)
            #expect(one.message.magnitude?.relation == "cua-heaton-2009-soil")
        }
        for (_, versions) in Dictionary(grouping: published, by: \.message.eventID) {
            let numbers: [Int] = versions.map { $0.message.version }
            #expect(numbers == Array(1...versions.count))
            let kinds: [String] = versions.map { $0.message.kind.rawValue }
            #expect(kinds.filter { $0 != "update" } == ["onset", "end"])
        }
    }

    @Test(arguments: 1...4) func orderAndDuplicatesMakeNoDifference(seed: UInt64) {
        var country = Country(stations: 1, side: 1, seed: seed)
        var shuffled = country.late(Self.months.messages, 2.99)
        if seed % 2 == 0 {
            shuffled = country.late(shuffled + shuffled.filter { _ in country.dice.number(0...1) < 0.3 }, 2.99)
        }
        #expect(detected(Self.months.infos + shuffled) == detected(Self.months.infos + Self.months.messages))
    }

    /// A defect: six of the first onsets had a source in common that was 190 km away, to which two thirds of all onsets went;
    /// the right source found later kept the rest, and both stayed. (60 simulated stations, an M 4.6 at their edge.)
    @Test(arguments: [false, true]) func aWrongPlaceFarAwayGivesWayToTheRightOne(isEarly: Bool) throws {
        let file = try JSONReader.read([UInt8](Vectors.data("association/far-first.json")))
        guard case .array(let stations)? = file["stations"], case .array(let onsets)? = file["onsets"],
            case .array(let source)? = file["earthquake"]
        else { throw TestFailure("far-first.json") }
        var messages: [Country.Message] = []
        for case .array(let row) in stations {
            let station: Value = ["id": row[0], "latitude": row[1], "longitude": row[2]]
            messages.append(
                .init(
                    station: row[0].rawText ?? "", topic: "state/info", payload: ["station": station],
                    time: Country.start))
        }
        for case .array(let row) in onsets {
            messages.append(Country.onset(row[1].rawText ?? "", Country.start + (row[0].number ?? 0)))
        }
        let last = Dictionary(grouping: detected(messages, isEarly: isEarly), by: \.message.eventID)
            .compactMap(\.value.last?.message)
        let left = last.filter { $0.mergedInto == nil && !$0.isWithdrawn }
        #expect(left.count == 1)
        let place = Place(latitude: source[0].number ?? 0, longitude: source[1].number ?? 0)
        for one in left {
            let distance = Place(latitude: one.latitude, longitude: one.longitude).distance(to: place)
            #expect(distance < 3 && one.stations.count >= 46, "\(distance) km, \(one.stations.count) stations")
        }
    }

    /// A defect: where nothing was left of an event but its last version, the successor ended at once, and so did each after
    /// it. Whoever may write to the broker could do the same with a version or a time that nothing can be added to.
    @Test func aSuccessorGoesOnWhereAllIsOver() throws {
        let said = detected(Self.months.infos + Self.months.messages)
        let last = try #require(said.last { $0.message.kind == .end })
        var second = NetworkDetector(isEarly: false)
        let message = try JSONReader.read(last.message.json(boot: "", number: 0, time: last.time))
        second.restore(message)
        for time in ["2262-04-11T23:47:16.854775807Z", "1677-09-21T00:12:43.145224193Z"] {
            second.restore(message.with("event_id", .string("net-far \(time)")).with("t", .string(time)))
        }
        second.restore(message.with("event_id", "net-large").with("version", .int(.max)).with("event_type", "update"))
        second.isMuted = true
        for message in Self.months.infos { _ = second.take(message) }
        second.isMuted = false
        #expect(second.pass(clock: last.time + 60_000_000_000).isEmpty)
        #expect(second.pass(clock: last.time + 86_400_000_000_000).isEmpty)
        #expect(second.finish().isEmpty)
    }

    /// A successor gets again what may still be needed, and knows what was published.
    @Test(arguments: [false, true]) func takeOverAtAnyPoint(isEarly: Bool) throws {
        let whole = detected(Self.months.infos + Self.months.messages, isEarly: isEarly)
        let messages = Self.months.messages
        for stop in stride(from: 3, to: messages.count, by: 31) {
            var first = NetworkDetector(isEarly: isEarly)
            var said = (Self.months.infos + messages[..<stop]).flatMap { first.take($0) }
            let needed = Double(first.oldestNeeded ?? .max) / 1e9
            var second = NetworkDetector(isEarly: isEarly)
            for one in said {
                second.restore(try JSONReader.read(one.message.json(boot: "", number: 0, time: one.time)))
            }
            second.isMuted = true
            // A region in which nothing happens has no part in it.
            for message in Self.months.infos + [Country.far] { _ = second.take(message) }
            // (The onset that is needed has its time rounded to a millisecond.)
            for message in messages[..<stop] where message.time > needed - 1e-3 { _ = second.take(message) }
            second.isMuted = false
            said += messages[stop...].flatMap { second.take($0) } + second.finish()
            let same = said == whole
            #expect(
                same,
                "at \(stop): \(zip(said, whole).first { $0 != $1 }.map { "\($0.message.eventID) \($0.message.version) at \($0.time), not \($1.message.eventID) \($1.message.version) at \($1.time)" } ?? "")"
            )
        }
    }

    /// An onset that nothing came of is not needed for ever, also where no other one follows.
    @Test func whatIsOldIsNotNeeded() {
        var detector = NetworkDetector(isEarly: true)
        _ = detector.take(Country.far)
        _ = detector.take(Country.onset("far", Country.start))
        #expect(detector.oldestNeeded == Int64(Country.start * 1e9))
        _ = detector.pass(clock: Int64((Country.start + 100) * 1e9))
        #expect(detector.oldestNeeded == Int64(Country.start * 1e9))
        _ = detector.pass(clock: Int64((Country.start + 200) * 1e9))
        #expect(detector.oldestNeeded == nil)
    }

    @Test func early() {
        // The first warning comes with the onset that decides, not when the watermark has passed it.
        var detector = NetworkDetector(isEarly: true)
        for message in Self.months.infos { _ = detector.take(message) }
        var first: [String: Double] = [:]
        var before = -Double.infinity
        for message in Self.months.messages {
            for one in detector.take(message) where one.message.kind == .onset {
                first[one.message.eventID] = Double(one.time) / 1e9
                // Where stations beside it are waited for, the next message of the region brings it.
                #expect(Double(one.time) / 1e9 > before - 1e-3 && Double(one.time) / 1e9 < message.time + 1e-3)
            }
            before = message.time
        }
        #expect(first.count == 4)
        for (id, time) in first {
            let settled = detected(Self.months.infos + Self.months.messages).first { $0.message.eventID == id }
            #expect(abs(time - Double(settled?.time ?? 0) / 1e9) < 0.001, "\(id)")
        }
    }

    /// At the edge of a small network a false onset and some true ones have a far source in common as well: an event went
    /// 250 km away. Two of five stations with a false onset in the same minute can pull the first versions some tens of
    /// kilometres, and nothing once twenty stations are there.
    @Test(arguments: 1...4) func falseOnsetsMoveNothingFarAway(seed: UInt64) {
        var country = Country(stations: 60, side: 110, seed: seed)
        let source = SIMD2(38.0, -40.0)
        let shaken = country.earthquake(source, depth: 13, at: 60)
        let messages = (country.noise(25, seconds: 30...90) + shaken).sorted { $0.time < $1.time }
        let place = Place(offset: source, from: Place(latitude: 35, longitude: -117.5))
        let published = detected(country.infos + messages, isEarly: true).map(\.message)
        let last = Dictionary(grouping: published, by: \.eventID).compactMapValues(\.last)
            .values.filter { $0.mergedInto == nil && !$0.isWithdrawn }
        #expect(last.count == 1)
        for one in published where one.stations.count >= 10 {
            let found = Place(latitude: one.latitude, longitude: one.longitude)
            #expect(found.distance(to: place) < (one.stations.count < 20 ? 40 : 5), "version \(one.version)")
        }
    }

    @Test func aLorryIsNoEarthquake() {
        var country = Country(stations: 30, side: 60, seed: 3)
        let lorry = (0..<8).map { Country.onset("S4", Country.start + 100 + 5 * Double($0), pga: 0.5) }
        #expect(detected(country.infos + lorry).isEmpty)
        // Nor is one that passes three houses of a street at its own speed, one after the other.
        let noise = country.noise(3, seconds: 0...300)
        #expect(detected(country.infos + (noise + lorry).sorted { $0.time < $1.time }).isEmpty)
    }

    @Test(arguments: [40.0, 120, 300]) func falseOnsetsMakeNothing(side: Double) {
        // 100 an hour on 30 stations, two hours.
        var country = Country(stations: 30, side: side, seed: UInt64(side))
        let noise = country.noise(200, seconds: 0...7200).sorted { $0.time < $1.time }
        #expect(detected(country.infos + noise).isEmpty)
    }

    @Test func threeNearEachOtherAreEnoughWhereThereAreNoOthers() {
        var country = Country(stations: 0, side: 1)
        let centre = Place(latitude: 35, longitude: -117.5)
        let offsets: [SIMD2<Double>] = [[0, 0], [15, 0], [5, 14]]
        country.places = offsets.enumerated().map { ("S\($0)", Place(offset: $1, from: centre)) }
        country.dice = SplitMix64(state: 5)
        var shaken: [Country.Message] = []
        while shaken.count < 3 { shaken = country.earthquake([7, 5], at: 50) }
        let published = detected(country.infos + shaken.sorted { $0.time < $1.time })
        #expect(published.first?.message.stations.count == 3)
        #expect(published.first?.message.magnitude == nil)
        // A fourth station beside them that is silent speaks against it, until it is known to be offline.
        country.places.append(("S3", Place(offset: [-6, 7], from: centre)))
        #expect(detected(country.infos + shaken.sorted { $0.time < $1.time }).isEmpty)
        let offline = Country.Message(station: "S3", topic: "state/online", payload: "offline", time: Country.start)
        #expect(!detected(country.infos + [offline] + shaken.sorted { $0.time < $1.time }).isEmpty)
    }

    @Test func regionsDoNotWaitForEachOther() {
        var far = Country(stations: 60, side: 150, seed: 11)
        far.places = far.places.map {
            ("F" + $0.name, Place(latitude: $0.place.latitude, longitude: $0.place.longitude + 60))
        }
        let other = far.places.map { Country.onset($0.name, Country.start + 500) }
        var near = Country(stations: 60, side: 150, seed: 12)
        let shaken = near.earthquake([0, 0], at: 50).sorted { $0.time < $1.time }
        // A region that is ahead by minutes makes nothing late in another one.
        var detector = NetworkDetector()
        for message in near.infos + far.infos + other.prefix(1) + shaken { _ = detector.take(message) }
        #expect(detector.late == 0)
        #expect(detector.finish().contains { $0.message.stations.count > 20 })
    }
}
