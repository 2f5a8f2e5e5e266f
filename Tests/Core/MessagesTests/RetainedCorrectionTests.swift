import Messages
import Testing

@Suite struct RetainedCorrectionTests {
    private static let second: UInt64 = 1_000_000_000

    /// When corrections follow, in seconds, while another client writes ten times a second.
    private static func corrections(until end: UInt64, isPresence: Bool = false) -> [Double] {
        var (correction, times) = (RetainedCorrection(), [Double]())
        for now in stride(from: UInt64(0), to: end, by: Int(second) / 10) {
            correction.heard(isOwn: false, now: now)
            if correction.takeDue(now: now, isPresence: isPresence) { times.append(Double(now) / 1e9) }
        }
        return times
    }

    @Test func pausesDoubleToFiveMinutes() {
        let times = Self.corrections(until: 3600 * Self.second)
        let pauses = zip(times.dropFirst(), times).map { ($0 - $1).rounded() }
        #expect(times.first == 0.3 && Array(pauses.prefix(10)) == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300])
        #expect(pauses.dropFirst(10).allSatisfy { $0 == 300 })
    }

    @Test func presenceIsAnsweredOnceASecond() {
        #expect(Self.corrections(until: 10 * Self.second, isPresence: true).count == 10)
    }

    @Test func theOwnValueThatComesBackEndsIt() {
        var correction = RetainedCorrection()
        correction.heard(isOwn: false, now: 0)
        let isEarly = correction.takeDue(now: RetainedCorrection.moment - 1)
        #expect(correction.due == RetainedCorrection.moment && !isEarly)
        correction.heard(isOwn: true, now: 1)
        let isAgain = correction.takeDue(now: Self.second)
        #expect(correction.due == nil && !isAgain)
        correction.heard(isOwn: false, now: Self.second)
        correction.disconnected()
        let isLate = correction.takeDue(now: 9 * Self.second)
        #expect(!isLate && correction.isOver(now: 9 * Self.second))
    }

    /// What has been quiet for ten minutes begins with the shortest pause.
    @Test func correctionsAreForgotten() {
        var correction = RetainedCorrection()
        for second in 0..<100 {
            correction.heard(isOwn: false, now: UInt64(second) * Self.second)
            _ = correction.takeDue(now: UInt64(second) * Self.second)
        }
        correction.heard(isOwn: true, now: 100 * Self.second)
        #expect(!correction.isOver(now: 600 * Self.second) && correction.isOver(now: 700 * Self.second))
        correction.heard(isOwn: false, now: 700 * Self.second)
        let isTaken = correction.takeDue(now: 701 * Self.second)
        #expect(isTaken)
        correction.heard(isOwn: false, now: 701 * Self.second)
        #expect(correction.due == 702 * Self.second)
    }
}
