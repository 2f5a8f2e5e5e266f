import MiniSEED
import Testing

@testable import Feed

struct CoverageTests {
    /// Sample times of a channel at 10 Hz.
    private func time(_ index: Int) -> Int64 { Int64(index) * 100_000_000 }
    private let half: Int64 = 50_000_000

    @Test func findsWhatIsInNoRecord() {
        let records = [(time(0), time(9)), (time(10), time(19)), (time(30), time(39))].map { (start: $0.0, end: $0.1) }
        #expect(
            Coverage.gaps(time(0)...time(39), records: records, rate: 10) == [
                (time(19) + half + 1)...(time(30) - half - 1)
            ])
        #expect(Coverage.gaps(time(2)...time(15), records: records, rate: 10).isEmpty)
        // Before the first and behind the last.
        #expect(Coverage.gaps(time(-20)...time(60), records: records, rate: 10).count == 3)
        #expect(Coverage.gaps(time(5)...time(8), records: [], rate: 10) == [time(5)...time(8)])
        // Records that overlap.
        let twice = [(start: time(0), end: time(30)), (start: time(5), end: time(10))]
        #expect(Coverage.gaps(time(0)...time(30), records: twice, rate: 10).isEmpty)
    }

    @Test func aGapIsFilledBySamplesOfIt() {
        let block = ChannelBlock(
            source: SourceIdentifier(network: "XX", station: "BASE", location: "00", channel: "HNZ"), start: time(0),
            rate: 10, samples: (0..<40).map { Int32($0) })
        let records = [(start: time(0), end: time(19)), (start: time(30), end: time(39))]
        for gap in Coverage.gaps(time(0)...time(39), records: records, rate: 10) {
            let part = block.cut(gap)
            #expect(part?.samples == Array(20..<30) && part?.start == time(20))
        }
        #expect(block.cut(time(50)...time(60)) == nil && block.cut(time(-9)...time(-1)) == nil)
        #expect(block.cut(time(-9)...time(90)) == block)
    }

    @Test func unitesNeighbours() {
        #expect(Coverage.united([20...30, 0...5, 25...40]) == [0...40])
        #expect(Coverage.united([2_000_000_000...3_000_000_000, 0...5]) == [0...5, 2_000_000_000...3_000_000_000])
        #expect(Coverage.united([]) == [])
    }
}
