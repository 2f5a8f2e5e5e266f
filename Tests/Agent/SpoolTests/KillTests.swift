import Foundation
import Messages
import TestSupport
import Testing

@testable import Spool

/// The files as they are between two calls are what a killed process leaves behind.
@Suite struct SpoolKillTests {
    /// Whenever it ends: what was committed is there, complete and in order, and nothing else is.
    @Test(arguments: [1, 2, 3]) func everythingCommittedSurvives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var spool = try folder.open()
        var waiting: [Int64: [UInt8]] = [:]
        var committed = waiting
        var facts = 0
        var committedFacts = 0
        for step in 0..<400 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let priority = Priority.allCases[Int.random(in: 0..<3, using: &random)]
                let length = [0, 50, 900, 4000, 20_000][Int.random(in: 0..<5, using: &random)]
                let payload = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
                let event = priority == .essential && Bool.random(using: &random) ? "e" : nil
                waiting[try spool.put(.of(priority, event: event), payload)] = payload
            case 5..<7:
                guard let key = waiting.keys.sorted().first else { continue }
                try spool.settle(key, Bool.random(using: &random) ? .delivered : .refused(reason: 151))
                waiting[key] = nil
            case 7:
                facts += 1
                try spool.setFact("n", Array("\(facts)".utf8))
            case 8: try spool.appendSegment(start: newYear + Int64(step) * second)
            case 9:
                try spool.trim(now: newYear)
                try spool.commit()
                (committed, committedFacts) = (waiting, facts)
            case 10:
                try spool.makeDurable()
                (committed, committedFacts) = (waiting, facts)
                if step % 3 == 0 { try spool.checkpoint() }
            default:
                try spool.commit()
                (committed, committedFacts) = (waiting, facts)
            }
            guard step % 5 == 0 else { continue }
            let copy = try folder.killed()
            var again = try copy.open()
            #expect(again.setAside == nil)
            let found = try again.next(.essential) + again.next(.rest)
            #expect(found.map(\.key).sorted() == committed.keys.sorted(), "step \(step)")
            #expect(found.allSatisfy { committed[$0.key] == $0.payload }, "step \(step)")
            let number = try again.fact("n")
            #expect(number == (committedFacts == 0 ? nil : Array("\(committedFacts)".utf8)))
        }
    }
}
