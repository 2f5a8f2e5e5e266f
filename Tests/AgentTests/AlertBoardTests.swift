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
}
