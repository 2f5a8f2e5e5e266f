import TestSupport
import Testing

@testable import Association

/// (A macro cannot change a value.)
private final class Watcher {
    var watch = SequenceWatch()
    var missing: Int { watch.missing }
    var lost: Int { watch.lost }

    func note(_ station: String, boot: String, number: Int, made: Int64? = nil, at time: Double) -> Bool {
        watch.note(station, boot: boot, number: number, made: made, at: time)
    }

    func due(at time: Double) -> [SequenceWatch.Gap] { watch.due(at: time) }
}

@Suite struct SequenceWatchTests {
    @Test func aMissingMessageIsAskedForUntilItComes() {
        let watch = Watcher()
        // Nothing is missing of a station that is new.
        #expect(watch.note("a", boot: "1", number: 7, at: 0))
        #expect(watch.due(at: 0) == [])
        #expect(watch.note("a", boot: "1", number: 11, at: 1))
        #expect(watch.missing == 3)
        #expect(watch.due(at: 1) == [.init(station: "a", boot: "1", from: 8, to: 10)])
        #expect(watch.due(at: 5.9) == [])
        // One has come; the others are asked for again.
        #expect(watch.note("a", boot: "1", number: 9, at: 2))
        #expect(!watch.note("a", boot: "1", number: 9, at: 2))
        #expect(watch.due(at: 6) == [.init(station: "a", boot: "1", from: 8, to: 10)])
        #expect(watch.note("a", boot: "1", number: 8, at: 7))
        #expect(watch.note("a", boot: "1", number: 10, at: 7))
        #expect(watch.missing == 0)
        #expect(watch.due(at: 100) == [])
        #expect(watch.lost == 0)
    }

    /// A station may send any number: the one behind the largest is not computed, nor asked for after a restart.
    @Test func theLargestNumberIsNone() {
        let watch = Watcher()
        #expect(!watch.note("a", boot: "1", number: .max, at: 0))
        watch.watch.restore("a", .init(boot: "1", number: .max))
        #expect(watch.note("a", boot: "1", number: 5, at: 0))
        #expect(watch.watch.mark(of: "a") == .init(boot: "1", number: 5))
        #expect(watch.note("a", boot: "1", number: 1 << 53 - 1, at: 0))
        #expect(!watch.note("a", boot: "1", number: 6, at: 0) && watch.missing == SequenceWatch.most)
    }

    @Test func ofANewRunAllIsMissingThatCameBefore() {
        let watch = Watcher()
        watch.watch.restore("a", .init(boot: "1", number: 40))
        #expect(watch.note("a", boot: "2", number: 2, at: 0))
        #expect(watch.due(at: 0) == [.init(station: "a", boot: "2", from: 0, to: 1)])
        #expect(watch.watch.mark(of: "a") == .init(boot: "2", number: 2))
    }

    /// A defect: what a station had kept of a run that nobody remembered was taken for the end of a new one, and all of
    /// that run was asked for.
    @Test func ofAFormerRunThatNobodyRemembersNothingIsMissing() {
        let watch = Watcher()
        watch.watch.restore("a", .init(boot: "now", number: 4, made: 100))
        #expect(watch.note("a", boot: "before", number: 40, made: 50, at: 0))
        #expect(watch.missing == 0)
        // Within it a gap is one all the same, and a new run is still known by its time.
        #expect(watch.note("a", boot: "before", number: 42, made: 51, at: 0))
        #expect(watch.due(at: 0) == [.init(station: "a", boot: "before", from: 41, to: 41)])
        #expect(watch.note("a", boot: "next", number: 2, made: 101, at: 1))
        #expect(watch.due(at: 1) == [.init(station: "a", boot: "next", from: 0, to: 1)])
    }

    @Test func allRunsGoOnWhereAnotherHasEnded() {
        let (first, second) = (Watcher(), Watcher())
        for (boot, number) in [("1", 3), ("2", 0), ("1", 4)] { _ = first.note("a", boot: boot, number: number, at: 0) }
        for mark in first.watch.marks(of: "a") { second.watch.restore("a", mark) }
        #expect(second.watch.marks(of: "a").map(\.boot) == ["2", "1"])
        #expect(second.note("a", boot: "2", number: 1, at: 0) && !second.note("a", boot: "1", number: 4, at: 0))
        #expect(second.missing == 0)
    }

    @Test func whatNobodyHasIsGivenUp() {
        let watch = Watcher()
        _ = watch.note("a", boot: "1", number: 0, at: 0)
        _ = watch.note("a", boot: "1", number: 3, at: 0)
        let questions = stride(from: 0.0, to: 2000, by: 1).reduce(0) { $0 + watch.due(at: $1).count }
        #expect(questions == SequenceWatch.pauses.count)
        #expect(watch.lost == 2 && watch.missing == 0)
        // It is no reason to ask for more than is of use.
        _ = watch.note("a", boot: "1", number: 1_000_000_000, at: 3000)
        #expect(watch.missing == SequenceWatch.most)
        #expect(!watch.note("a", boot: "", number: 5, at: 3000))
        #expect(!watch.note("a", boot: "1", number: -1, at: 3000))
    }

    /// Defect: with one mark a station, what a former run had left opened a gap with each change between the two.
    @Test(arguments: 0..<100 as Range<UInt64>, [false, true])
    func runsThatComeAmidEachOtherOpenNoGapAndHideNone(seed: UInt64, loses: Bool) {
        var random = SplitMix64(state: seed)
        let watch = Watcher()
        var left = (0..<Int.random(in: 2...8, using: &random)).map { (boot: "run \($0)", next: 0, end: 0) }
        for k in left.indices { left[k].end = Int.random(in: 2...40, using: &random) }
        var lost: [String: Set<Int>] = [:]
        while !left.isEmpty {
            let k = Int.random(in: left.indices, using: &random)
            let (boot, number, end) = left[k]
            if loses, number > 0, number < end - 1, Int.random(in: 0..<5, using: &random) == 0 {
                lost[boot, default: []].insert(number)
            } else {
                #expect(watch.note("a", boot: boot, number: number, at: 0))
            }
            left[k].next += 1
            if left[k].next == end { left.remove(at: k) }
        }
        #expect(watch.missing == lost.values.reduce(0) { $0 + $1.count })
        let asked = watch.due(at: 0)
        for (boot, numbers) in lost {
            for number in numbers {
                #expect(asked.contains { $0.boot == boot && $0.from <= number && number <= $0.to })
            }
        }
        #expect(lost.isEmpty == asked.isEmpty)
    }
}
