import Testing

@testable import Agent

/// Which messages on disk have yet to be offered to the link.
@Suite struct BackfillTests {
    @Test func whatWasWrittenDownLiveIsNotOfferedAgain() {
        var backfill = Backfill()
        backfill.took(4, bytes: 100)
        #expect(backfill.isInMemory(4))
        #expect(!backfill.isInMemory(8))
        #expect(backfill.bytes == 100)
        backfill.settled(4, isDisplaced: false)
        #expect(backfill.count == 0)
        #expect(backfill.bytes == 0)
    }

    @Test func theCursorGoesOnWithEachOffer() {
        var backfill = Backfill()
        backfill.offered(4, .essential, bytes: 10)
        backfill.offered(8, .essential, bytes: 10)
        backfill.offered(6, .rest, bytes: 10)
        #expect(backfill.cursor(.essential) == 8)
        #expect(backfill.cursor(.rest) == 6)
        for key in [4, 8, 6] as [Int64] { backfill.settled(key, isDisplaced: false) }
        #expect(backfill.count == 0)
        #expect(backfill.cursor(.essential) == 8)
    }

    @Test func whatMemoryLetGoIsOfferedAgainAndWhatCameAfterItIsNotTwice() {
        var backfill = Backfill()
        backfill.took(4, bytes: 1)
        backfill.took(8, bytes: 1)
        backfill.passed(4, .essential)
        backfill.passed(8, .essential)
        backfill.settled(4, isDisplaced: true)
        #expect(backfill.cursor(.essential) < 4)
        #expect(!backfill.isInMemory(4))
        #expect(backfill.isInMemory(8))
    }
}
