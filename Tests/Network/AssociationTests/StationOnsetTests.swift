import Testing

@testable import Association

/// What is known of an event of a station follows its messages.
@Suite struct StationOnsetTests {
    private func onset(_ likely: StationOnset.Likely, certain: Bool = false, asOf: Int64) -> StationOnset {
        var onset = StationOnset(eventID: "a-1", station: "a", time: 0)
        (onset.likely, onset.isCertain, onset.asOf) = (likely, certain, asOf)
        return onset
    }

    /// A station may take its class back, in whatever order its messages come.
    @Test func aClassGoesBack() {
        let said = [
            onset(.unclassified, asOf: 0), onset(.earthquake, asOf: 1), onset(.earthquake, certain: true, asOf: 2),
            onset(.unclassified, asOf: 5),
        ]
        var known = said[0]
        #expect(known.update(said[1]) && known.likely == .earthquake && !known.isCertain)
        #expect(known.update(said[2]) && known.likely == .earthquake && known.isCertain)
        #expect(known.update(said[3]) && known.likely == .unclassified && !known.isCertain)
        var late = said[3]
        for one in said.reversed() { _ = late.update(one) }
        #expect(late == known)
    }

    /// Two messages of one moment have one result, whichever comes first.
    @Test func ofOneMomentWhatSaysMoreCounts() {
        let (less, more) = (onset(.unclassified, asOf: 3), onset(.earthquake, certain: true, asOf: 3))
        var (a, b) = (less, more)
        #expect(a.update(more) && !b.update(less) && a == b && a.isCertain)
    }
}
