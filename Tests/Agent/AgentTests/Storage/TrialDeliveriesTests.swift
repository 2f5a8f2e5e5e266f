import MQTT
import Testing

@testable import Agent

/// Which ends of messages count that a broker on trial has told.
@Suite struct TrialDeliveriesTests {
    @Test func theyCountWhenTheChangeIsConfirmed() {
        var trial = TrialDeliveries()
        #expect(trial.change(trial: 3, confirmed: 0) == nil)
        #expect(trial.take(4, .delivered, trial: 3) == .waits)
        #expect(trial.take(8, .refused(135), trial: 3) == .waits)
        #expect(trial.change(trial: 3, confirmed: 0) == nil)
        let counting = trial.change(trial: 0, confirmed: 3)
        #expect(counting == [.init(key: 4, outcome: .delivered), .init(key: 8, outcome: .refused(135))])
        // One that was on its way to us.
        #expect(trial.take(12, .delivered, trial: 3) == .counts(.delivered))
    }

    @Test func theyAreVoidWhenItIsTakenBack() {
        var trial = TrialDeliveries()
        _ = trial.change(trial: 3, confirmed: 0)
        _ = trial.take(4, .delivered, trial: 3)
        #expect(trial.change(trial: 0, confirmed: 0) == [])
        #expect(trial.take(8, .delivered, trial: 3) == .isVoid)
    }

    @Test func oneTrialKnowsNothingOfAnother() {
        var trial = TrialDeliveries()
        _ = trial.change(trial: 3, confirmed: 0)
        _ = trial.take(4, .delivered, trial: 3)
        // The first is confirmed, and the second on trial, before anybody has looked.
        #expect(trial.change(trial: 4, confirmed: 3) == [.init(key: 4, outcome: .delivered)])
        #expect(trial.take(8, .delivered, trial: 4) == .waits)
        #expect(trial.take(12, .delivered, trial: 3) == .counts(.delivered))
        #expect(trial.change(trial: 5, confirmed: 3) == [])
    }

    @Test func memoryIsBounded() {
        var trial = TrialDeliveries()
        _ = trial.change(trial: 1, confirmed: 0)
        for key in 0..<10_000 { #expect(trial.take(Int64(key), .delivered, trial: 1) == .waits) }
        #expect(trial.isFull)
        #expect(trial.change(trial: 0, confirmed: 1)?.count == TrialDeliveries.limit)
    }
}
