import Messages
import Propagation
import Testing
import Values

@testable import Association

/// Where stations are, by their own word and by the operator's.
struct StationPlacesTests {
    private static func place(_ latitude: Double, _ longitude: Double = 10) -> Place {
        Place(latitude: latitude, longitude: longitude)
    }

    private static func places(_ tolerance: Double = 1) -> StationPlaces {
        StationPlaces(tolerance: tolerance, limit: 10)
    }

    /// 1 km is 0.009 degrees of latitude.
    @Test func theFirstWordIsLearntAndWhatIsNearItBelieved() throws {
        var places = Self.places()
        try places.state(Self.place(45), "S1")
        try places.state(Self.place(45.008), "S1")
        #expect(places.place(of: "S1") == Self.place(45.008))
        // Not from the last word, so that nobody walks away in small steps.
        #expect(throws: RejectionReason.moved) { try places.state(Self.place(45.016), "S1") }
        #expect(places.place(of: "S1") == nil && places.isMoved("S1"))
        #expect(places.strangers.map(\.station) == ["S1"])
        #expect(abs((places.strangers.first?.kilometres ?? 0) - 1.78) < 0.01)
        // Back, it takes part again.
        try places.state(Self.place(45.001), "S1")
        #expect(places.place(of: "S1") == Self.place(45.001) && places.strangers.isEmpty)
    }

    @Test func thePlaceThatWasEnteredIsWhatCounts() throws {
        var places = Self.places()
        try places.state(Self.place(45), "S1")
        try places.enter(Self.place(46), "S1")
        #expect(places.isMoved("S1") && places.place(of: "S1") == nil)
        try places.state(Self.place(46.001), "S1")
        #expect(places.place(of: "S1") == Self.place(46.001))
        // One that states none is where it was entered, also before it has said anything.
        try places.state(nil, "S1")
        try places.enter(Self.place(47), "S2")
        #expect(places.place(of: "S1") == Self.place(46) && places.place(of: "S2") == Self.place(47))
    }

    @Test func aMoveIsConfirmedByEnteringIt() throws {
        var places = Self.places()
        try places.state(Self.place(45), "S1")
        #expect(throws: RejectionReason.moved) { try places.state(Self.place(46), "S1") }
        try places.enter(Self.place(46), "S1")
        #expect(places.place(of: "S1") == Self.place(46) && !places.isMoved("S1"))
        // Forgotten, what it states is learnt.
        try places.enter(nil, "S1")
        #expect(places.place(of: "S1") == Self.place(46))
        #expect(throws: RejectionReason.moved) { try places.state(Self.place(45), "S1") }
    }

    @Test func noWayAroundByStatingNone() throws {
        var places = Self.places()
        try places.state(Self.place(45), "S1")
        try places.state(nil, "S1")
        #expect(places.place(of: "S1") == nil && !places.isMoved("S1"))
        #expect(throws: RejectionReason.moved) { try places.state(Self.place(46), "S1") }
    }

    @Test func onlySoManyAreKept() throws {
        var places = StationPlaces(tolerance: 1, limit: 2)
        try places.state(Self.place(45), "S1")
        try places.enter(Self.place(45), "S2")
        #expect(throws: RejectionReason.stations) { try places.state(Self.place(45), "S3") }
        #expect(throws: RejectionReason.stations) { try places.enter(Self.place(45), "S3") }
        try places.state(nil, "S3")
        try places.enter(Self.place(46), "S1")
    }

    private static func info(_ latitude: Double) -> Value {
        ["station": ["id": "S1", "latitude": .double(latitude), "longitude": 10]]
    }

    /// As the detector uses it: what a station says that has moved is counted and not used, until it is confirmed.
    @Test func aStationThatHasMovedTakesNoPart() {
        var detector = NetworkDetector()
        func state(_ latitude: Double) -> Result<[DueVersion], RejectionReason> {
            detector.take(station: "S1", topic: "state/info", payload: Self.info(latitude), arrival: nil)
        }
        #expect(state(45) == .success([]))
        _ = detector.take(Country.onset("S1", Country.start))
        #expect(state(46) == .failure(.moved))
        #expect(detector.stations == 0 && detector.moved.map(\.station) == ["S1"])
        _ = detector.take(Country.onset("S1", Country.start + 60))
        #expect(detector.refused == [.moved: 2])
        let entered: Value = ["latitude": 46, "longitude": 10]
        #expect((try? detector.enterPlace(entered, of: "S1", arrival: nil).get()) != nil)
        #expect(detector.stations == 1 && detector.moved.isEmpty)
        _ = detector.take(Country.onset("S1", Country.start + 120))
        #expect(detector.refused == [.moved: 2])
    }

    /// Whatever is entered: a reason, or a place on the Earth.
    @Test(arguments: [
        Value.null, [:], ["latitude": 91, "longitude": 0], ["latitude": 1], ["latitude": "x", "longitude": 1], "x", 7,
        ["latitude": .double(.nan), "longitude": 0],
    ])
    func whatIsEnteredIsOnTheEarth(_ payload: Value) {
        var detector = NetworkDetector()
        guard case .failure(.place) = detector.enterPlace(payload, of: "S1", arrival: nil) else {
            Issue.record("taken: \(payload)")
            return
        }
        #expect(detector.refused == [.place: 1] && detector.stations == 0)
    }
}
