import Testing

@testable import Association

/// What is known of an event of a station follows its messages.
@Suite struct StationOnsetTests {
    private func onset(
        _ likely: StationOnset.Likely, _ probability: Double, isFinal: Bool = false, asOf: Int64
    ) -> StationOnset {
        var onset = StationOnset(eventID: "a-1", station: "a", time: 0)
        onset.asOf = asOf
        onset.judgement = .init(likely, probability: probability, isFinal: isFinal, asOf: asOf)
        return onset
    }

    /// A station may take its class back, until it has said its last word.
    @Test func aClassGoesBack() {
        var known = StationOnset(eventID: "a-1", station: "a", time: 0)
        #expect(known.likely == .unclassified && known.weight == 1 && !known.isDismissed)
        #expect(known.update(onset(.earthquake, 0.9, asOf: 2)) && known.likely == .earthquake && known.weight == 1)
        #expect(
            known.update(onset(.unclassified, 0.3, asOf: 5)) && known.likely == .unclassified && known.weight == 0.3)
        #expect(known.update(onset(.disturbance, 0.02, asOf: 6)) && known.weight == 0.02 && !known.isDismissed)
        #expect(known.update(onset(.disturbance, 0.02, isFinal: true, asOf: 7)) && known.isDismissed)
        #expect(known.update(onset(.earthquake, 0.9, asOf: 9)) && known.isDismissed)
    }

    /// Whatever order messages of one event come in, and however often, the same judgement holds.
    @Test func judgementsHaveOneOrder() {
        let first = StationOnset(eventID: "a-1", station: "a", time: 0)
        let said = [
            first, onset(.earthquake, 0.9, asOf: 1), onset(.unclassified, 0.4, asOf: 3),
            onset(.unclassified, 0.2, asOf: 3),
            onset(.disturbance, 0.05, isFinal: true, asOf: 2),
        ]
        for (count, likely, weight) in [
            (2, StationOnset.Likely.earthquake, 1.0), (4, .unclassified, 0.4), (5, .disturbance, 0.05),
        ] {
            for turn in 0..<20 {
                var given = Array(said.prefix(count))
                for i in given.indices { given.swapAt(i, (i * 7 + turn) % given.count) }
                var known = first
                for later in given + given { _ = known.update(later) }
                #expect(known.likely == likely && known.weight == weight)
            }
        }
    }

    /// Two messages of one moment have one result, whichever comes first.
    @Test func ofOneMomentWhatSaysMoreCounts() {
        let (less, more) = (onset(.unclassified, 0.9, asOf: 3), onset(.earthquake, 0.8, asOf: 3))
        var (a, b) = (less, more)
        #expect(a.update(more) && !b.update(less) && a == b && a.likely == .earthquake)
    }
}
