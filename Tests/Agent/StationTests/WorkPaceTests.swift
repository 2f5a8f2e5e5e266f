import Testing

@testable import Station

/// Work beside the samples must not keep a sampler from a sensor whose buffer is short.
@Suite struct WorkPaceTests {
    private func samplesWithWork(rate: Double, of count: Int) -> [Int] {
        var pace = WorkPace(rate: rate)
        return (0..<count).filter { _ in pace.isDue() }
    }

    @Test func slowRatesWorkAtEachSample() {
        #expect(samplesWithWork(rate: 100, of: 5) == [0, 1, 2, 3, 4])
        #expect(WorkPace(rate: 31.25).parts == 2)
        #expect(WorkPace(rate: 1).parts == 50)
    }

    @Test func fastRatesLeaveTimeBetweenTheParts() {
        #expect(samplesWithWork(rate: 400, of: 12) == [0, 5, 10])
        #expect(samplesWithWork(rate: 1000, of: 70) == [0, 31, 62])
        // Sixteen parts end well within the second.
        for rate in [400.0, 1000, 1600, 4000, 25_600] {
            let spacing = Double(WorkPace(rate: rate).spacing)
            #expect(16 * spacing <= 0.6 * rate)
        }
    }

    @Test func samplesAtWhichNothingIsDueCanBeTakenAtOnce() {
        var (one, many) = (WorkPace(rate: 1000), WorkPace(rate: 1000))
        _ = (one.isDue(), many.isDue())
        #expect((0..<30).allSatisfy { _ in !one.isDue() })
        many.skip(20)
        many.skip(10)
        #expect(one == many)
        let due = one.isDue()
        #expect(due)
    }
}
