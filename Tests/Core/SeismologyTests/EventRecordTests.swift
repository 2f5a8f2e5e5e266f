import Testing

@testable import Seismology

@Suite struct EventRecordTests {
    private func filled(_ count: Int, capacity: Int = 10_000, gapAt gap: Int? = nil) -> EventRecord {
        var record = EventRecord(rate: 100, capacity: capacity)
        fill(&record, count, gapAt: gap)
        return record
    }

    private func fill(_ record: inout EventRecord, _ count: Int, gapAt gap: Int? = nil) {
        for i in 0..<count {
            let late: Int64 = gap.map { i >= $0 } == true ? 50 : 0
            let index = Int64(i) + late
            record.append(Double(i), Double(-i), Double(i) / 2, time: 1_000 + index * 10_000_000, index: index)
        }
    }

    private func copy(_ record: EventRecord, axis: Int, _ range: Range<Int>) -> [Double] {
        var out = [Double](repeating: .nan, count: range.count)
        out.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            record.copy(axis: axis, range, to: base)
        }
        return out
    }

    @Test func anyRangeOfAnAxisIsCopiedAcrossPages() {
        let record = filled(9000)
        #expect(record.count == 9000)
        for range in [0..<9000, 4095..<4097, 4096..<8192, 8999..<9000, 17..<17] {
            #expect(copy(record, axis: 0, range) == range.map(Double.init))
            #expect(copy(record, axis: 1, range) == range.map { Double(-$0) })
            #expect(copy(record, axis: 2, range) == range.map { Double($0) / 2 })
        }
        #expect(record[4096] == (4096, -4096, 2048))
    }

    @Test func aGapBeginsASegmentAndIsNotFilled() {
        let record = filled(300, gapAt: 120)
        #expect(record.count == 300)
        #expect(
            record.segments == [
                .init(first: 0, time: 1_000, index: 0), .init(first: 120, time: 1_700_001_000, index: 170),
            ])
        #expect(record.time(119) == 1_190_001_000 && record.time(121) == 1_710_001_000)
    }

    @Test func whatIsBeyondTheLongestEventIsNotTaken() {
        let record = filled(5000, capacity: 4500)
        #expect(record.count == 4500 && record[4499].x == 4499)
    }

    @Test func theNextEventBeginsEmptyInTheSameMemory() {
        var record = filled(9000, gapAt: 10)
        record.markOnset()
        #expect(record.onset == 9000)
        record.removeAll()
        #expect(record.count == 0 && record.onset == 0 && record.segments.isEmpty)
        fill(&record, 20)
        #expect(record.count == 20 && copy(record, axis: 1, 0..<3) == [0, -1, -2] && record.segments.count == 1)
    }
}
