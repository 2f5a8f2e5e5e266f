import Messages
import Testing

@testable import Agent

@Suite struct AlertBoardTests {
    static let missing = (message: "not there", details: Value.object([]))

    @Test func anAlertIsRaisedOnceAndClearedOnce() {
        var board = AlertBoard()
        let raised = board.update(.sensorMissing, .error, now: 5, fault: Self.missing)
        #expect(
            raised
                == .raise(
                    AlertMessage(code: "sensor_missing", severity: .error, since: 5, message: "not there")))
        #expect(board.update(.sensorMissing, .error, now: 6, fault: Self.missing) == nil)
        #expect(board.codes == ["sensor_missing"])
        #expect(board.update(.sensorMissing, .error, now: 7, fault: nil) == .clear("sensor_missing"))
        #expect(board.update(.sensorMissing, .error, now: 8, fault: nil) == nil)
        #expect(board.codes == [])
    }

    @Test func newWordsAreNewsButTheTimeStays() {
        var board = AlertBoard()
        _ = board.update(.sensorFault, .error, now: 5, fault: ("first", .object([])))
        guard case .raise(let alert) = board.update(.sensorFault, .error, now: 9, fault: ("second", .object([]))) else {
            Issue.record("no news")
            return
        }
        #expect(alert.since == 5)
        #expect(alert.message == "second")
    }

    /// A defect: 26 empty messages went out with each connection of a station that was well.
    @Test func onlyWhatARunBeforeMayHaveLeftIsEmptied() {
        var board = AlertBoard(left: [.sensorMissing])
        #expect(!board.isEmptied)
        let changes = AlertBoard.Code.allCases.compactMap { board.update($0, .error, now: 1, fault: nil) }
        #expect(changes == [.empty("sensor_missing")] && board.isEmptied)
    }

    /// What the run before this one raised may still be with the broker, whatever of it there is on the disk: each code
    /// is emptied once, when its absence is known.
    @Test func whatIsNotThereIsEmptiedOnce() {
        var board = AlertBoard()
        for code in AlertBoard.Code.allCases {
            #expect(board.update(code, .error, now: 1, fault: nil, isKnown: false) == nil)
            #expect(board.update(code, .error, now: 2, fault: nil) == .empty(code.rawValue))
            #expect(board.update(code, .error, now: 3, fault: nil) == nil)
            guard case .raise = board.update(code, .error, now: 4, fault: Self.missing) else {
                Issue.record("\(code) is not raised")
                continue
            }
            #expect(board.update(code, .error, now: 5, fault: nil, isKnown: false) == .clear(code.rawValue))
            #expect(board.update(code, .error, now: 6, fault: nil) == nil)
        }
    }

    @Test func theAbsenceOfAFaultIsKnownWhenItWouldHaveBeenFound() {
        let minute = AlertBoard.Code.searchTime
        for code in AlertBoard.Code.allCases {
            #expect(!code.isKnown(nil, now: 10 * minute), "nobody knows of the sensor yet")
            #expect(code.isKnown(minute, now: 2 * minute))
        }
        #expect(AlertBoard.Code.sensorMissing.isKnown(5, now: 5))
        #expect(!AlertBoard.Code.sensorStuck.isKnown(5, now: 5))
    }
}
