import Testing

@testable import Agent

@Suite struct AlarmSignalTests {
    private let second: Int64 = 1_000_000_000

    /// What the line is at each tenth of a second.
    private func play(_ signal: inout AlarmSignal, from start: Double, to end: Double) -> String {
        stride(from: Int(start * 10), to: Int(end * 10), by: 1).map { tenth in
            signal.advance(now: Int64(tenth) * second / 10).isOn ? "1" : "0"
        }.joined()
    }

    @Test func anAlarmLastsItsTime() {
        var signal = AlarmSignal(duration: second)
        let before = play(&signal, from: 0, to: 0.5)
        #expect(before == "00000")
        signal.raise(now: second / 2)
        let due = signal.advance(now: second / 2).due
        #expect(due == second * 3 / 2)
        let line1 = play(&signal, from: 0.5, to: 2)
        #expect(line1 == "111111111100000")
    }

    @Test func anotherOneMakesItLonger() {
        var signal = AlarmSignal(duration: second)
        signal.raise(now: 0)
        signal.raise(now: second / 2)
        let line2 = play(&signal, from: 0.9, to: 1.7)
        #expect(line2 == "11111100")
    }

    @Test func isSilencedUntilTheNext() {
        var signal = AlarmSignal(duration: second)
        var was = [signal.silence()]
        signal.raise(now: 0)
        was.append(signal.silence())
        #expect(was == [false, true])
        let line3 = play(&signal, from: 0, to: 1)
        #expect(line3 == "0000000000")
        signal.raise(now: second)
        let line4 = play(&signal, from: 1, to: 1.2)
        #expect(line4 == "11")
    }

    @Test func aTestPlaysItsPattern() {
        var signal = AlarmSignal(duration: second)
        let begun = [
            signal.begin([true, false, true, true, false], step: second / 5, now: 0),
            signal.begin([true], step: second, now: 0),
        ]
        #expect(begun == [true, false])
        let line5 = play(&signal, from: 0, to: 1)
        #expect(line5 == "1100111100")
        let ends = [signal.advance(now: second).ended, signal.advance(now: second).ended]
        #expect(ends == [true, false])
    }

    @Test func anAlarmTakesThePlaceOfATest() {
        var signal = AlarmSignal(duration: second)
        _ = signal.begin([false, false], step: second, now: 0)
        signal.raise(now: second / 2)
        let isTaken = signal.begin([true], step: second, now: second)
        #expect(!isTaken)
        let line6 = play(&signal, from: 0.5, to: 2)
        #expect(line6 == "111111111100000")
    }

    /// Late by a whole step or more, as where the machine stood still.
    @Test func aStepThatWasMissedIsLeftOut() {
        var signal = AlarmSignal(duration: second)
        _ = signal.begin([true, false, true], step: second, now: 0)
        let (isOn, due, ended) = signal.advance(now: second * 5 / 2)
        #expect(isOn && due == second * 3 && !ended)
        let end = signal.advance(now: second * 9).ended
        #expect(end)
    }

    @Test func aWarningGoesOnAndOffUntilItHasPassed() {
        var signal = AlarmSignal(duration: second)
        _ = signal.begin([true], step: 10 * second, now: 0)
        signal.warn(1, until: 3 * second, now: 0)
        #expect(signal.isWarning && signal.test == nil)
        let due = signal.advance(now: 0).due
        #expect(due == second / 2)
        let line = play(&signal, from: 0, to: 3.5)
        #expect(line == "11111000001111100000111110000000000")
        #expect(!signal.isBusy)
    }

    @Test func anUpdateMovesTheEndAndKeepsTheBeat() {
        var signal = AlarmSignal(duration: second)
        signal.warn(1, until: 10 * second, now: 0)
        let before = play(&signal, from: 0, to: 0.7)
        signal.warn(1, until: 2 * second, now: second * 7 / 10)
        let after = play(&signal, from: 0.7, to: 2.2)
        #expect(before + after == "1111100000111110000000")
        signal.warn(1, until: second, now: 3 * second)
        #expect(!signal.isBusy)
    }

    @Test func anAlarmIsHeardThroughAWarning() {
        var signal = AlarmSignal(duration: second)
        signal.warn(1, until: 4 * second, now: 0)
        signal.raise(now: second / 2)
        #expect(!signal.isWarning)
        let during = play(&signal, from: 0.5, to: 1.5)
        let after = play(&signal, from: 1.5, to: 2.5)
        #expect(during == "1111111111" && after == "0000011111")
        signal.endWarning()
        #expect(!signal.isBusy)
    }

    @Test func aSilencedWarningStaysSoUntilAnotherEvent() {
        var signal = AlarmSignal(duration: second)
        signal.warn(1, until: 9 * second, now: 0)
        let was = signal.silence()
        #expect(was)
        signal.warn(1, until: 12 * second, now: second)
        #expect(!signal.isBusy)
        // An alarm of the station's own differs.
        signal.raise(now: 2 * second)
        #expect(signal.isBusy)
        _ = signal.silence()
        signal.warn(2, until: 12 * second, now: 3 * second)
        #expect(signal.isWarning)
    }

    @Test func silencingAnAlarmSilencesNoWarningToCome() {
        var signal = AlarmSignal(duration: second)
        signal.raise(now: 0)
        _ = signal.silence()
        signal.warn(1, until: 9 * second, now: second)
        #expect(signal.isWarning)
    }
}
