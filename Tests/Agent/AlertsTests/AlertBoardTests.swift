import MQTT
import Messages
import Settings
import Testing

@testable import Alerts

@Suite struct AlertBoardTests {
    static let missing = AlertFault("not there")

    @Test func anAlertIsRaisedOnceAndClearedOnce() {
        var board = AlertBoard()
        let raised = board.update(SensorMissing.declaration, now: 5, fault: Self.missing)
        #expect(
            raised
                == .raise(
                    AlertMessage(code: "sensor_missing", severity: .error, since: 5, message: "not there")))
        #expect(board.update(SensorMissing.declaration, now: 6, fault: Self.missing) == nil)
        #expect(board.codes == ["sensor_missing"])
        #expect(board.update(SensorMissing.declaration, now: 7, fault: nil) == .clear("sensor_missing"))
        #expect(board.update(SensorMissing.declaration, now: 8, fault: nil) == nil)
        #expect(board.codes == [])
    }

    @Test func newWordsAreNewsButTheTimeStays() {
        var board = AlertBoard()
        _ = board.update(SensorFault.declaration, now: 5, fault: AlertFault("first"))
        guard case .raise(let alert) = board.update(SensorFault.declaration, now: 9, fault: AlertFault("second")) else {
            Issue.record("no news")
            return
        }
        #expect(alert.since == 5)
        #expect(alert.message == "second")
    }

    /// A defect: 26 empty messages went out with each connection of a station that was well.
    @Test func onlyWhatARunBeforeMayHaveLeftIsEmptied() {
        var board = AlertBoard(left: ["sensor_missing", "of the future"])
        #expect(!board.isEmptied)
        let changes = AlertDeclaration.all.compactMap { board.update($0, now: 1, fault: nil) }
        #expect(changes == [.empty("sensor_missing")] && board.isEmptied)
    }

    /// What the run before this one raised may still be with the broker, whatever of it there is on the disk: each code
    /// is emptied once, when its absence is known.
    @Test func whatIsNotThereIsEmptiedOnce() {
        var board = AlertBoard()
        for one in AlertDeclaration.all {
            #expect(board.update(one, now: 1, fault: nil, isKnown: false) == nil)
            #expect(board.update(one, now: 2, fault: nil) == .empty(one.code))
            #expect(board.update(one, now: 3, fault: nil) == nil)
            guard case .raise = board.update(one, now: 4, fault: Self.missing) else {
                Issue.record("\(one.code) is not raised")
                continue
            }
            #expect(board.update(one, now: 5, fault: nil, isKnown: false) == .clear(one.code))
            #expect(board.update(one, now: 6, fault: nil) == nil)
        }
    }

    @Test func theAbsenceOfAFaultIsKnownWhenItWouldHaveBeenFound() {
        let minute = AlertBoard.searchTime
        for one in AlertDeclaration.all {
            #expect(!one.isAbsenceKnown(nil, now: 10 * minute), "nobody knows of the sensor yet")
            #expect(one.isAbsenceKnown(minute, now: 2 * minute))
        }
        #expect(SensorMissing.declaration.isAbsenceKnown(5, now: 5))
        #expect(!SensorStuck.declaration.isAbsenceKnown(5, now: 5))
    }

    /// Each alert is asked, in the order of the chapters, and keeps what it remembers from look to look.
    @Test func aLookAsksEachAlertAndRaisesWhatIsThere() {
        var board = AlertBoard()
        var facts = AlertFacts(now: 0, mqtt: Configuration().mqtt, link: LinkStatistics())
        facts.link.tooLarge = 1
        facts.alarmProblem = "x"
        facts.clock = TimeQuality(synced: true, source: .ntp)
        #expect(board.look(facts, wall: 7).count == 2)
        #expect(board.codes == ["alarm_line", "mqtt_too_large"] && board.active.allSatisfy { $0.since == 7 })
        facts.now = AlertBoard.searchTime
        #expect(board.look(facts, wall: 8) == [.clear("mqtt_too_large")])
        facts.sensorKnown = 0
        let emptied = board.look(facts, wall: 9)
        #expect(emptied.count == AlertDeclaration.all.count - 2 && !emptied.contains(.empty("alarm_line")))
    }

    @Test func codesAreLevelsOfTopicsAndDiffer() {
        let codes = AlertDeclaration.all.map(\.code)
        #expect(Set(codes).count == codes.count && codes.allSatisfy { Topics.problem(inID: $0) == nil })
        for one in AlertDeclaration.all {
            #expect(!one.title.isEmpty && one.meaning.hasSuffix(".") && !one.remedy.hasSuffix("."), "\(one.code)")
        }
    }
}
