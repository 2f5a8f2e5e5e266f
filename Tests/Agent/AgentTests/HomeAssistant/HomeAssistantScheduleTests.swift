import Messages
import TestSupport
import Testing

@testable import Agent

@Suite struct HomeAssistantScheduleTests {
    static let second: Int64 = 1_000_000_000

    static func place(_ prefix: String = "ha", _ id: String = "a", _ form: HomeAssistantPlace.Form = .device)
        -> HomeAssistantPlace
    {
        HomeAssistantPlace(prefix: prefix, id: id, form: form)
    }

    static func station(_ model: String = "") -> HomeAssistantStation {
        HomeAssistantStation(name: "A", model: model, version: "1", relations: [.jma], locked: [])
    }

    static func begun(_ remembered: [HomeAssistantPlace] = []) -> HomeAssistantSchedule {
        var schedule = HomeAssistantSchedule(remembered: remembered)
        schedule.want(station(), at: place(), base: "s/a", now: 0)
        return schedule
    }

    /// Told once, begun and calm again.
    static func settled() -> HomeAssistantSchedule {
        var schedule = begun()
        _ = schedule.due(now: 5 * second, isConnected: true)
        return schedule
    }

    /// The sensor is found soon after the start: both are told in one.
    @Test func itIsToldOnceAfterTheStart() {
        var schedule = Self.begun()
        #expect(schedule.due(now: 0, isConnected: false) == [.remember([Self.place()])])
        schedule.want(Self.station("ADXL355"), at: Self.place(), base: "s/a", now: Self.second / 2)
        #expect(schedule.due(now: Self.second, isConnected: true) == [])
        #expect(
            schedule.due(now: 2 * Self.second, isConnected: true) == [.announce(Self.station("ADXL355"), Self.place())])
        #expect(schedule.due(now: 100 * Self.second, isConnected: true) == [])
    }

    @Test func nothingIsToldTwiceWithoutAReason() {
        var schedule = Self.settled()
        schedule.want(Self.station(), at: Self.place(), base: "s/a", now: 6 * Self.second)
        #expect(schedule.due(now: 60 * Self.second, isConnected: true) == [])
    }

    @Test func anotherRootIsTold() {
        var schedule = Self.settled()
        schedule.want(Self.station(), at: Self.place(), base: "t/a", now: 6 * Self.second)
        #expect(schedule.due(now: 8 * Self.second, isConnected: true) == [.announce(Self.station(), Self.place())])
    }

    @Test func aBirthIsAnsweredLaterAndWithTheStates() {
        var schedule = Self.settled()
        schedule.born(now: 10 * Self.second, random: .max / 2)
        let at = 10 * Self.second + (HomeAssistantSchedule.shortest + HomeAssistantSchedule.longest) / 2
        #expect(schedule.due(now: at - Self.second, isConnected: true) == [])
        #expect(schedule.due(now: at + 1, isConnected: true) == [.announce(Self.station(), Self.place())])
        #expect(schedule.due(now: at + 3 * Self.second, isConnected: true) == [.repeatStates])
        // Where the broker keeps nothing, one that needs longer to subscribe had no values for a minute.
        #expect(schedule.due(now: at + 19 * Self.second, isConnected: true) == [])
        #expect(schedule.due(now: at + 21 * Self.second, isConnected: true) == [.repeatStates])
        #expect(schedule.due(now: at + 100 * Self.second, isConnected: true) == [])
    }

    /// Somebody who says it again and again does not make us send everything each time.
    @Test func manyBirthsAreAnsweredRarely() {
        var schedule = Self.settled()
        var answers = 0
        for tenth in 100..<700 {
            let now = Int64(tenth) * Self.second / 10
            schedule.born(now: now, random: 0)
            answers += schedule.due(now: now, isConnected: true).count { $0 == .repeatStates }
        }
        #expect((4...6).contains(answers), "\(answers)")
    }

    @Test func aRefusedChangeRepeatsTheConfigurationOnceASecondAtMost() {
        var schedule = Self.settled()
        var repetitions = 0
        for hundredth in 1000..<1500 {
            let now = Int64(hundredth) * Self.second / 100
            schedule.refused(now: now)
            repetitions += schedule.due(now: now, isConnected: true).count { $0 == .repeatConfiguration }
        }
        #expect(repetitions == 5)
    }

    @Test func switchedOffItIsTakenAwayAndNothingElseHappens() {
        var schedule = Self.settled()
        schedule.want(Self.station(), at: nil, base: "s/a", now: 6 * Self.second)
        #expect(
            schedule.due(now: 6 * Self.second, isConnected: true) == [
                .retract(Self.place()), .remember([Self.place()]),
            ])
        schedule.born(now: 7 * Self.second, random: 0)
        schedule.refused(now: 7 * Self.second)
        #expect(schedule.due(now: 20 * Self.second, isConnected: true) == [])
        // The broker has it by now: there is nothing to take away after a restart.
        #expect(schedule.due(now: 60 * Self.second, isConnected: true) == [.remember([])])
    }

    /// A connection that does not last delivers nothing for sure.
    @Test func whatWasTakenAwayIsRememberedUntilItIsDelivered() {
        var schedule = Self.settled()
        schedule.want(Self.station(), at: nil, base: "s/a", now: 6 * Self.second)
        _ = schedule.due(now: 6 * Self.second, isConnected: true)
        #expect(schedule.due(now: 30 * Self.second, isConnected: false) == [])
        #expect(schedule.due(now: 40 * Self.second, isConnected: true) == [])
        #expect(schedule.due(now: 69 * Self.second, isConnected: true) == [])
        #expect(schedule.due(now: 71 * Self.second, isConnected: true) == [.remember([])])
    }

    @Test(arguments: [("house", "a", HomeAssistantPlace.Form.device), ("ha", "a", .components), ("ha", "b", .device)])
    func elsewhereTheOldOneGoesFirst(_ prefix: String, _ id: String, _ form: HomeAssistantPlace.Form) {
        let other = Self.place(prefix, id, form)
        var schedule = Self.settled()
        schedule.want(Self.station(), at: other, base: "s/\(id)", now: 6 * Self.second)
        #expect(
            schedule.due(now: 6 * Self.second, isConnected: true) == [
                .retract(Self.place()), .remember([Self.place(), other]),
            ])
        #expect(schedule.due(now: 7 * Self.second, isConnected: true) == [])
        #expect(schedule.due(now: 8 * Self.second, isConnected: true) == [.announce(Self.station(), other)])
        #expect(schedule.due(now: 60 * Self.second, isConnected: true) == [.remember([other])])
    }

    /// The settings file was changed while nothing ran.
    @Test func aRunBeforeThisOneIsTakenAway() {
        let old = Self.place("ha", "before", .components)
        var schedule = Self.begun([old, Self.place()])
        #expect(schedule.due(now: 0, isConnected: false) == [.retract(old), .remember([old, Self.place()])])
        #expect(schedule.due(now: 3 * Self.second, isConnected: true) == [.announce(Self.station(), Self.place())])
        #expect(schedule.due(now: 40 * Self.second, isConnected: true) == [.remember([Self.place()])])
    }

    @Test func switchedOffBeforeTheStartItIsTakenAwayToo() {
        var schedule = HomeAssistantSchedule(remembered: [Self.place()])
        schedule.want(Self.station(), at: nil, base: "s/a", now: 0)
        #expect(schedule.due(now: 0, isConnected: false) == [.retract(Self.place()), .remember([Self.place()])])
        #expect(schedule.due(now: 5 * Self.second, isConnected: true) == [])
        #expect(schedule.due(now: 40 * Self.second, isConnected: true) == [.remember([])])
    }

    @Test func thereAndBackEndsThere() {
        let other = Self.place("house")
        var schedule = Self.settled()
        schedule.want(Self.station(), at: other, base: "s/a", now: 6 * Self.second)
        schedule.want(Self.station(), at: Self.place(), base: "s/a", now: 7 * Self.second)
        let actions = schedule.due(now: 20 * Self.second, isConnected: true)
        #expect(actions.last == .announce(Self.station(), Self.place()))
        #expect(actions.contains(.retract(other)))
        #expect(schedule.due(now: 60 * Self.second, isConnected: true) == [.remember([Self.place()])])
    }
}

@Suite struct HomeAssistantMemoryTests {
    @Test func placesOutliveTheProcess() throws {
        let folder = try TemporaryFolder()
        let places = [
            HomeAssistantScheduleTests.place(), HomeAssistantScheduleTests.place("house/ha", "b-2", .components),
        ]
        var memory = HomeAssistantMemory(directory: folder.url.path)
        #expect(memory.read() == [])
        #expect(memory.keep(places)?() == nil)
        var next = HomeAssistantMemory(directory: folder.url.path)
        #expect(next.read() == places)
        #expect(next.keep([])?() == nil)
        #expect(next.read() == [])
    }

    @Test func aFolderWithoutPlacesStaysWithoutAFile() throws {
        let folder = try TemporaryFolder()
        var memory = HomeAssistantMemory(directory: folder.url.path)
        #expect(memory.keep([]) == nil)
        #expect(memory.read() == [])
    }

    @Test(arguments: [
        "", "{", "{}", "{\"places\":3}", "{\"places\":[{}]}",
        "{\"places\":[{\"prefix\":\"a/#\",\"id\":\"b\",\"form\":\"device\"}]}",
        "{\"places\":[{\"prefix\":\"a\",\"id\":\"b/c\",\"form\":\"device\"}]}",
        "{\"places\":[{\"prefix\":\"a\",\"id\":\"b\",\"form\":\"other\"}]}",
    ])
    func aFileThatIsNotOursSaysNothing(_ text: String) throws {
        let folder = try TemporaryFolder()
        try folder.write(HomeAssistantMemory.fileName, text)
        var memory = HomeAssistantMemory(directory: folder.url.path)
        #expect(memory.read() == [])
    }

    @Test func whatCannotBeKeptIsSaid() throws {
        let folder = try TemporaryFolder()
        try folder.write("file", "")
        var memory = HomeAssistantMemory(directory: folder.path("file"))
        #expect(memory.keep([HomeAssistantScheduleTests.place()])?()?.contains("file") == true)
    }
}
