import Testing

@testable import Seismology

@Suite struct EventMachineTests {
    /// Feeds one digit a sample, how many detectors are on, and writes what comes: b egin, e nd, r eopen.
    private func play(_ text: String, _ settings: EventMachine.Settings) -> String {
        var machine = EventMachine(settings)
        var out = ""
        for (i, digit) in text.enumerated() {
            switch machine.step(on: digit.wholeNumberValue ?? 0, index: Int64(i)) {
            case .none: out += "."
            case .begin: out += "b"
            case .end: out += "e"
            case .endAndBegin: out += "r"
            }
        }
        return out
    }

    @Test func endsWhenAllHaveBeenOffForThePostEventTime() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 3, maximum: 100, deadTime: 0)
        #expect(play("001100100000", settings) == "..b......e..")
        #expect(play("0010000", settings) == "..b..e.")
    }

    @Test func isSilentForTheDeadTimeAfterAnEnd() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 1, maximum: 100, deadTime: 4)
        #expect(play("1011111111", settings) == "be...b....")
    }

    @Test func needsAllVotesToBeginButOneToGoOn() {
        let settings = EventMachine.Settings(votes: 2, postEvent: 2, maximum: 100, deadTime: 0)
        #expect(play("11211100", settings) == "..b....e")
    }

    @Test func closesAtTheMaximumAndOpensAnewOnlyWhileShaking() {
        let settings = EventMachine.Settings(votes: 1, postEvent: 5, maximum: 4, deadTime: 2)
        #expect(play("1111111111", settings) == "b...r...r.")
        #expect(play("1000000011", settings) == "b...e...b.")
    }

    @Test func closingEndsAnOpenEventOnce() {
        var machine = EventMachine(.init(votes: 1, postEvent: 5, maximum: 50, deadTime: 2))
        #expect(machine.close() == .none)
        #expect(machine.step(on: 1, index: 0) == .begin)
        #expect(machine.isActive)
        #expect(machine.close() == .end)
        #expect(machine.close() == .none)
    }

    @Test func aGapCountsAsTheTimeItTook() {
        var machine = EventMachine(.init(votes: 1, postEvent: 10, maximum: 500, deadTime: 0))
        #expect(machine.step(on: 1, index: 0) == .begin)
        #expect(machine.step(on: 0, index: 200) == .end)
    }

    /// At each length of a gap: an event that has ended within it has ended when it would have without samples that are on.
    @Test func anEventEndsInAGap() {
        for next in Int64(4)...40 {
            for maximum in [8, 500] {
                var machine = EventMachine(.init(votes: 1, postEvent: 10, maximum: maximum, deadTime: 5))
                let begun = [1, 0, 1].enumerated().map { machine.step(on: $1, index: Int64($0)) }
                #expect(begun == [.begin, .none, .none])
                let end = Int64(maximum == 8 ? 8 : 12)
                let found = machine.miss(until: next)
                #expect(found == (next > end ? end : nil), "\(next)")
                guard found != nil else { continue }
                #expect(!machine.isActive)
                let after = machine.step(on: 1, index: next)
                #expect(after == (next < end + 5 ? .none : .begin), "\(next)")
            }
        }
    }
}

@Suite struct LevelDetectorTests {
    private func states(_ rms: [Double], threshold: Double, hold: Int) -> [UInt8] {
        var detector = LevelDetector(threshold: threshold, hold: hold)
        var out = [UInt8](repeating: 9, count: rms.count)
        detector.process(rms, &out, count: rms.count)
        return out
    }

    @Test func onAtTheSampleThatCompletesTheCountAndOffAtTheFirstBelow() {
        #expect(states([2, 2, 0, 2, 2, 2, 2, 0, 2], threshold: 1, hold: 3) == [0, 0, 0, 0, 0, 1, 1, 0, 0])
        #expect(states([0, 2, 0], threshold: 1, hold: 0) == [0, 1, 0])
    }

    @Test func theThresholdItselfIsNotAbove() {
        #expect(states([1, 1.0000000000000002], threshold: 1, hold: 1) == [0, 1])
        #expect(states([.nan, .infinity], threshold: 1, hold: 1) == [0, 1])
    }
}
