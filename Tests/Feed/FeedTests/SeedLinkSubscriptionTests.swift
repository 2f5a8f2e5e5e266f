import Testing

@testable import Feed

struct SeedLinkSubscriptionTests {
    /// Packets 1001 to 1100, two seconds each.
    private let archive: MemoryArchive = {
        var archive = MemoryArchive()
        archive.add("BASE", packets: 100, first: 1001)
        return archive
    }()

    private func first(
        _ start: SeedLinkSubscription.Start, isFetch: Bool = false, begin: Int64? = nil, isNew: Bool = false,
        isVersion4: Bool = true
    ) -> UInt64 {
        var one = SeedLinkSubscription.all
        (one.start, one.isFetch, one.begin) = (start, isFetch, begin)
        return one.first(of: archive.stations[0], at: 0, isNew: isNew, isVersion4: isVersion4, archive)
    }

    @Test func beginsWithTheNextTheOldestOrANumber() {
        #expect(first(.next) == 1101)
        #expect(first(.next, isFetch: true) == 1001)
        // A station that comes while packets are being sent is new from its first packet on.
        #expect(first(.next, isNew: true) == 1001)
        #expect(first(.earliest) == 1001)
        for (number, expected) in [(1050, 1050), (1101, 1101), (7, 1001), (5000, 1101)] as [(UInt64, UInt64)] {
            #expect(first(.sequence(number)) == expected)
        }
        // Of 24 bits a number that is ahead is one of long ago.
        #expect(first(.sequence(5000), isVersion4: false) == 1001)
        #expect(first(.sequence(1050), isVersion4: false) == 1050)
    }

    @Test func aNumberSaysBetterThanATimeWhereToGoOn() {
        let middle = MemoryArchive.time(40)
        #expect(first(.next, begin: middle) == archive.sequence(of: 0, reaching: middle))
        #expect(first(.sequence(1080), begin: middle) == 1080)
        #expect(first(.sequence(7), begin: middle) == archive.sequence(of: 0, reaching: middle))
        #expect(first(.next, begin: MemoryArchive.time(1000)) == 1101)
    }

    @Test func isOverWhenAllItsChannelsHaveGoneBeyond() {
        var one = SeedLinkSubscription.all
        #expect(!one.isOver(archive.stations[0]))
        one.end = MemoryArchive.time(99)
        #expect(one.isOver(archive.stations[0]))
        one.end = MemoryArchive.time(100)
        #expect(!one.isOver(archive.stations[0]))
    }
}
