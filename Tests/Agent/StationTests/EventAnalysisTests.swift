import Foundation
import Seismology
import Settings
import Testing

@testable import Station

@Suite struct EventAnalysisTests {
    /// A sine of 5 Hz on x that is 7 Hz from sample `change` on.
    private func record(_ count: Int, change: Int, gapAt gap: Int? = nil) -> EventRecord {
        var record = EventRecord(rate: 1000, capacity: count)
        for i in 0..<count {
            let index = Int64(i) + (gap.map { i >= $0 } == true ? 100 : 0)
            let x = sin(2 * .pi * (i < change ? 5 : 7) * Double(i) / 1000)
            record.append(x, 0, 0, time: index * 1_000_000, index: index)
        }
        return record
    }

    private func analysed(_ record: EventRecord) -> EventAnalysis {
        var analysis = EventAnalysis(testConfiguration { $0.intensity.scales = [.worden12, .jma] }, of: record)
        var parts = 0
        while !analysis.step(record) { parts += 1 }
        #expect(parts < 40)
        return analysis
    }

    @Test func aVeryLongStretchHasItsFrequencyFromItsBeginningAndNoIntensityOfItsOwn() throws {
        let long = analysed(record(70_000, change: 66_000))
        #expect(long.jma == nil)
        #expect(abs(try #require(long.dominant) - 5) < 0.01)
        let short = analysed(record(20_000, change: 5000))
        #expect(short.jma != nil)
        #expect(abs(try #require(short.dominant) - 7) < 0.02)
    }

    /// 11 000 has a factor of 11: the intensity is that of the last 10 935 (3⁷ · 5) samples.
    @Test func aLongRecordIsCutToALengthForTheTransform() {
        let whole = record(11_000, change: 6000)
        var last = EventRecord(rate: 1000, capacity: 11_000)
        for i in 65..<11_000 { last.append(whole[i].x, 0, 0, time: Int64(i), index: Int64(i)) }
        let intensity = analysed(whole).jma
        #expect(intensity != nil && intensity == analysed(last).jma)
    }

    @Test func theLongestStretchCounts() throws {
        let analysis = analysed(record(12_000, change: 4000, gapAt: 4000))
        #expect(abs(try #require(analysis.dominant) - 7) < 0.02)
    }
}
