import Commands
import Foundation
import Instruments
import Messages
import Sensors
import Settings
import SignalProcessing
import TestSupport
import Testing

@testable import Agent

/// What commands ask of the sampling thread.
@Suite(.timeLimit(.minutes(10))) struct SamplingOrdersTests {
    private func rates(_ thread: GatedThread) -> [Double] {
        thread.collected.messages("data/trace").compactMap { $0["rate_hz"] as? Double }
    }

    // MARK: Other settings

    @Test func otherSettingsAreInForceWithTheNextBlockAndNoSampleIsLost() throws {
        let thread = try GatedThread { $0.trace.rate = 20 }
        #expect(thread.blocks(20))
        var other = thread.configuration
        other.trace.rate = 50
        let number = thread.change(other, revision: 7)
        #expect(thread.blocks(20))
        #expect(thread.outcome(number)?.done == .object([]))
        #expect(thread.samples == 640 && thread.gaps == 0)
        // Sample 320 is the first of the block after the order: 3.2 s of 20 Hz, then 50 Hz.
        let blocks = thread.collected.messages("data/trace")
        let old = blocks.filter { $0["rate_hz"] as? Double == 20 }.compactMap { $0["n"] as? Int }.reduce(0, +)
        #expect(old == 64)
        #expect(rates(thread).last == 50)
        #expect(blocks.compactMap { $0["seq"] as? Int } == Array(0..<blocks.count))
    }

    @Test func settingsThatCannotWorkAreRefusedAndNothingHasChanged() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(10))
        var other = thread.configuration
        other.axes.y.filter = .butterworth(.init(band: .lowpass, corners: [70], order: 2))
        let error = thread.carryOut(.prepare(other, revision: 7, reopens: false))?.error
        #expect(error?.code == .crossField && error?.message.contains("/axes/y/filter") == true)
        #expect(thread.blocks(10))
        #expect(thread.gaps == 0 && thread.status.now.problem == nil)
    }

    @Test func anotherRateOfTheSensorOpensItAnewWithAGap() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(20))
        var other = thread.configuration
        (other.sensor.rate, other.trace.rate) = (200, 40)
        let sensor = thread.carryOut(.prepare(other, revision: 2, reopens: true))?.done?["sensor"]
        #expect(thread.outcome(thread.put(.commit(nil)))?.done != nil)
        #expect(sensor?["rate_hz"] == .double(200))
        #expect(thread.status.now.sensor?.rate == 200)
        #expect(thread.blocks(40))
        // The block that the order waited for belongs to the old settings.
        #expect(thread.samples == 61 * 16 && thread.gaps == 1)
        let blocks = thread.collected.messages("data/trace")
        #expect(blocks.compactMap { $0["seq"] as? Int } == Array(0..<blocks.count))
        #expect(rates(thread).first == 20 && rates(thread).last == 40)
    }

    @Test func whatCannotWorkWithTheNewSensorGoesBackToTheOldOne() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        thread.gate.change { $0.odd = (range: 40, rate: 15) }
        var other = thread.configuration
        other.sensor.range = 40
        let number = thread.put(.prepare(other, revision: 2, reopens: true))
        thread.gate.give(1)
        #expect(thread.outcome(number)?.error?.code == .crossField)
        #expect(thread.blocks(5))
        #expect(thread.status.now.sensor?.rate == 100 && thread.status.now.problem == nil)
        #expect(thread.samples == 11 * 16 && thread.gaps == 1)
    }

    @Test func aSensorThatDoesNotOpenDoesNotTakeTheSettingsBack() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        thread.gate.missing.store(2, ordering: .relaxed)
        var other = thread.configuration
        other.sensor.rate = 125
        let outcome = thread.carryOut(.prepare(other, revision: 2, reopens: true))
        #expect(thread.outcome(thread.put(.commit(nil)))?.done != nil)
        #expect(outcome?.done?["problem"] == .string("no such sensor"))
        #expect(thread.blocks(5))
        #expect(thread.status.now.sensor?.rate == 125 && thread.gaps == 1)
    }

    @Test func withoutASensorSettingsAreTakenForTheNextOneAndTheRestIsRefused() throws {
        let thread = try GatedThread(gate: { $0.missing.store(1000, ordering: .relaxed) })
        #expect(eventually { thread.status.now.problem != nil })
        for order in [.testEvent, .selfTest, .calibrate(seconds: 2), .resetExtremes] as [SamplingOrder] {
            #expect(thread.outcome(thread.put(order))?.error?.code == .unavailable)
        }
        var other = thread.configuration
        (other.sensor.rate, other.trace.rate) = (125, 25)
        #expect(thread.outcome(thread.change(other, revision: 2, reopens: true))?.done != nil)
        thread.gate.missing.store(0, ordering: .relaxed)
        #expect(thread.blocks(20))
        #expect(thread.status.now.sensor?.rate == 125 && rates(thread).last == 25)
    }

    @Test func otherSettingsEndTheWaitForThoseThatCannotWork() throws {
        let thread = try GatedThread {
            $0.axes.x.filter = .butterworth(.init(band: .lowpass, corners: [70], order: 2))
        }
        #expect(eventually { if case .settings = thread.status.now.problem { true } else { false } })
        var other = thread.configuration
        other.trace.rate = 10
        let refused = thread.outcome(thread.put(.prepare(other, revision: 2, reopens: false)))
        #expect(refused?.error?.code == .crossField)
        other.axes.x.filter = .none
        #expect(thread.outcome(thread.change(other, revision: 3))?.done != nil)
        #expect(thread.blocks(30))
        #expect(thread.status.now.problem == nil && rates(thread).last == 10)
    }

    @Test func afterTheEndOfARecordingAnotherSensorGoesOn() throws {
        let thread = try GatedThread(gate: { $0.change { $0.blocksToTheEnd = 10 } })
        #expect(thread.blocks(10))
        thread.gate.give(1)
        #expect(eventually { thread.status.now.finished && thread.status.now.ended })
        #expect(thread.outcome(thread.put(.calibrate(seconds: 2)))?.error?.code == .unavailable)
        thread.gate.change { $0.blocksToTheEnd = nil }
        var other = thread.configuration
        other.sensor.range = 40
        #expect(thread.outcome(thread.change(other, revision: 2, reopens: true))?.done != nil)
        #expect(thread.blocks(10))
        #expect(!thread.status.now.ended && !thread.status.now.finished && thread.gaps == 1)
        let blocks = thread.collected.messages("data/trace")
        #expect(blocks.compactMap { $0["seq"] as? Int } == Array(0..<blocks.count))
    }

    /// Preparing has no effect: what is abandoned leaves the stream of samples as it was.
    @Test func whatIsAbandonedHasNoEffect() throws {
        let thread = try GatedThread { $0.trace.rate = 20 }
        #expect(thread.blocks(10))
        var other = thread.configuration
        other.trace.rate = 50
        #expect(thread.carryOut(.prepare(other, revision: 7, reopens: false))?.done != nil)
        #expect(thread.carryOut(.abandon)?.done != nil)
        #expect(thread.carryOut(.commit(nil))?.error?.code == .internal)
        #expect(thread.blocks(20))
        #expect(Set(rates(thread)) == [20] && thread.gaps == 0)
    }

    /// Only the opened sensor shows what it can do; abandoned, it is opened as before, with one gap in all.
    @Test func anAbandonedSensorIsOpenedAsBefore() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        var other = thread.configuration
        other.sensor.rate = 200
        let prepared = thread.carryOut(.prepare(other, revision: 2, reopens: true))?.done?["sensor"]
        #expect(prepared?["rate_hz"] == .double(200))
        #expect(thread.outcome(thread.put(.abandon))?.done != nil)
        #expect(thread.blocks(5))
        #expect(thread.status.now.sensor?.rate == 100 && thread.gaps == 1 && thread.samples == 11 * 16)
    }

    /// Prepared for a sensor that was lost before the word came: made again for the one that is there.
    @Test func whatWasPreparedForAnotherSensorIsMadeAgain() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        var other = thread.configuration
        other.trace.rate = 50
        #expect(thread.carryOut(.prepare(other, revision: 2, reopens: false))?.done != nil)
        var traces = Configuration().trace
        traces.rate = 100
        let stream = thread.put(.stream(traces, seconds: 3))
        thread.gate.give(1)
        #expect(thread.outcome(stream)?.began != nil)
        #expect(thread.carryOut(.commit(nil))?.done != nil)
        #expect(thread.blocks(20))
        #expect(rates(thread).last == 50 && !thread.collected.messages("data/stream").isEmpty)
    }

    // MARK: The others

    @Test func extremesBeginAnew() throws {
        let thread = try GatedThread()
        thread.gate.shake()
        #expect(thread.blocks(10))
        thread.gate.shake(false)
        #expect(thread.blocks(5))
        let since = thread.carryOut(.resetExtremes)?.done?["since"]
        #expect(since == .string("2023-11-14T22:13:22.400000000Z"))
        #expect(thread.blocks(20))
        let extremes = thread.collected.messages("state/summary").last?["extremes"] as? [String: Any]
        let x = extremes?["x"] as? [String: Any]
        #expect((x?["max"] as? Double ?? 9) < 0.2)
        #expect(x?["since"] as? String == "2023-11-14T22:13:22.400000000Z")
    }

    @Test func aTestEventIsToldByItsOnset() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(20))
        let outcome = thread.carryOut(.testEvent)
        let onset = try #require(thread.collected.messages("event/trigger").first)
        #expect(outcome?.done?["event_id"] == .string(onset["event_id"] as? String ?? ""))
        #expect(onset["test"] as? Bool == true)
        #expect(thread.carryOut(.testEvent)?.error?.code == .busy)
        #expect(thread.blocks(60))
        #expect(thread.collected.messages("event/last").count == 1)
    }

    @Test func whatDisturbsAnEventIsRefusedWhileOneIsOpen() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(20))
        thread.gate.shake()
        #expect(thread.blocks(20))
        #expect(!thread.collected.messages("event/trigger").isEmpty)
        #expect(thread.carryOut(.testEvent)?.error?.code == .busy)
        #expect(thread.carryOut(.selfTest)?.error?.code == .busy)
        #expect(thread.gaps == 0)
    }

    @Test func aTestEventWaitsForFilters() throws {
        let thread = try GatedThread { $0.conditioning.settle = 10 }
        #expect(thread.blocks(2))
        #expect(thread.carryOut(.testEvent)?.error?.code == .unavailable)
    }

    @Test func atRestTheOffsetIsFound() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(2))
        let number = thread.put(.calibrate(seconds: 3))
        thread.gate.give(1)
        #expect(thread.outcome(number)?.began?["seconds"] == .double(3))
        #expect(thread.carryOut(.calibrate(seconds: 3))?.error?.code == .busy)
        #expect(thread.blocks(20))
        let result = try #require(thread.outcome(number)?.done)
        guard case .array(let offset)? = result["offset"], case .double(let x)? = offset.first else {
            Issue.record("no offset: \(result)")
            return
        }
        #expect(abs(x - 0.1) < 1e-3 && offset.count == 3)
        #expect(result["noise"] == result["noise_rms"] && result["noise"] != nil && result["magnitude"] != nil)
        #expect(thread.gaps == 0)
    }

    @Test func aShakenSensorIsNotCalibrated() throws {
        let thread = try GatedThread()
        thread.gate.shake()
        let number = thread.put(.calibrate(seconds: 2))
        #expect(thread.blocks(20))
        #expect(thread.outcome(number)?.began != nil)
        let error = thread.outcome(number)?.error
        #expect(error?.code == .unavailable && error?.message.contains("not at rest") == true)
    }

    @Test func theSelfTestMakesAGapAndIsTold() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        #expect(thread.carryOut(.selfTest)?.error?.message == "this chip has no self-test")
        #expect(thread.blocks(5))
        #expect(thread.gaps == 0)
        let axis = SelfTestReport.Axis(change: 5, minimum: 1, maximum: 9)
        let report = SelfTestReport(x: axis, y: axis, z: axis, unit: "m/s^2", source: "test")
        thread.gate.change { $0.selfTest = report }
        #expect(thread.carryOut(.selfTest)?.done?["passed"] == .bool(true))
        #expect(thread.blocks(5))
        #expect(thread.gaps == 1 && thread.samples == 17 * 16)
        #expect(thread.status.now.selfTest?.report == report)
    }

    @Test func aStreamEndsByItselfOrByOrder() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        var traces = Configuration().trace
        (traces.rate, traces.signals) = (100, [.raw])
        let number = thread.put(.stream(traces, seconds: 3))
        thread.gate.give(1)
        let began = thread.outcome(number)?.began
        #expect(began?["topic"] == .string("seismote/test/data/stream"))
        #expect(began?["until"] == .string("2023-11-14T22:13:23.800000000Z"))
        #expect(thread.carryOut(.stream(traces, seconds: 3))?.error?.code == .busy)
        #expect(thread.blocks(20))
        #expect(thread.outcome(number)?.done?["blocks"] == .int(4))
        let blocks = thread.collected.messages("data/stream")
        // 3 s, and what is left of the block in which they end.
        #expect(blocks.compactMap { $0["n"] as? Int } == [100, 100, 100, 4])
        let second = thread.put(.stream(traces, seconds: 3000))
        thread.gate.give(1)
        #expect(thread.outcome(second)?.began != nil)
        #expect(thread.carryOut(.endStream)?.done?["blocks"] == .int(1))
        #expect(thread.outcome(second)?.done?["blocks"] == .int(1))
    }

    @Test func theNewestSamplesOfTheRingComeWhenAskedFor() throws {
        let thread = try GatedThread()
        #expect(thread.blocks(5))
        #expect(thread.ring.takeAll().isEmpty)
        thread.ring.requestFlush()
        #expect(thread.blocks(1))
        #expect(thread.ring.takeAll().map(\.segment.samples) == [96] && !thread.ring.awaitsFlush)
    }

    @Test func noOrderIsLeftWithoutAnAnswer() throws {
        let thread = try GatedThread()
        let calibration = thread.put(.calibrate(seconds: 100))
        let stream = thread.put(.stream(Configuration().trace, seconds: 100))
        thread.gate.give(1)
        #expect(thread.outcome(calibration)?.began != nil && thread.outcome(stream)?.began != nil)
        let late = thread.put(.resetExtremes)
        thread.status.requestStop()
        thread.gate.open()
        #expect(thread.outcome(calibration)?.error?.code == .unavailable)
        #expect(thread.outcome(stream)?.done != nil)
        #expect(thread.outcome(late) != nil)
    }
}
