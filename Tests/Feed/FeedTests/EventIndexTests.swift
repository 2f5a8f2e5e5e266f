import Testing

@testable import Feed

struct EventIndexTests {
    private func index(_ entries: [EventIndex.Entry]) -> EventIndex {
        var index = EventIndex()
        _ = index.number(of: "network")
        _ = index.number(of: "base")
        for entry in entries { index.insert(entry) }
        return index
    }

    private func rows(_ index: EventIndex, _ change: (inout EventIndex.Question) -> Void) -> [Int64] {
        var question = EventIndex.Question()
        change(&question)
        return index.rows(question, place: { $0 == "base" ? (10, 20) : nil }, serves: { _ in true })
    }

    private let four: [EventIndex.Entry] = [
        .init(row: 1, time: 100, latitude: 35, longitude: 10, depth: 8, magnitude: 4.5, updated: 7),
        .init(row: 2, time: 300, latitude: -35, longitude: 179.5, depth: 80, magnitude: 6.1, updated: 8),
        .init(row: 3, time: 200, owner: 1),
        .init(row: 4, time: 300, latitude: 35.1, longitude: -179.5, magnitude: 4.5, updated: 9),
    ]

    @Test func answersInTheOrderThatIsAskedFor() {
        let index = index(four)
        #expect(rows(index) { _ in } == [4, 2, 3, 1])
        #expect(rows(index) { $0.order = .timeAscending } == [1, 3, 2, 4])
        #expect(rows(index) { $0.order = .magnitude } == [2, 4, 1, 3])
        #expect(rows(index) { $0.order = .magnitudeAscending } == [4, 1, 2, 3])
    }

    @Test func bothEndsOfATimeAreIncludedAndAReversedOneHasNothing() {
        let index = index(four)
        #expect(rows(index) { ($0.from, $0.to) = (200, 300) } == [4, 2, 3])
        #expect(rows(index) { ($0.from, $0.to) = (101, 299) } == [3])
        #expect(rows(index) { ($0.from, $0.to) = (300, 200) } == [])
        #expect(rows(index) { $0.to = .max } == [4, 2, 3, 1])
    }

    @Test func filtersBeforeItLimits() {
        let index = index(four)
        #expect(rows(index) { ($0.limit, $0.magnitude) = (1, 4...5) } == [4])
        #expect(rows(index) { ($0.limit, $0.offset, $0.magnitude) = (1, 1, 4...5) } == [1])
        #expect(rows(index) { ($0.limit, $0.depth) = (1, 0...10) } == [1])
        #expect(rows(index) { ($0.limit, $0.among) = (1, [3]) } == [3])
        #expect(rows(index) { ($0.limit, $0.order, $0.depth) = (1, .magnitude, 0...10) } == [1])
        #expect(rows(index) { ($0.limit, $0.updatedAfter) = (5, 8) } == [4])
        var question = EventIndex.Question()
        question.limit = 1
        #expect(index.rows(question, place: { _ in nil }, serves: { $0 == "base" }) == [3])
    }

    @Test func whatAnEventDoesNotHaveIsWithinNoLimits() {
        let index = index(four)
        #expect(rows(index) { $0.magnitude = -.infinity ... .infinity } == [4, 2, 1])
        #expect(rows(index) { $0.depth = -.infinity ... .infinity } == [2, 1])
    }

    @Test func areasOfTheEarth() {
        let index = index(four)
        var box = GeoBox()
        (box.south, box.north) = (0, 90)
        // An event of a station is where the station is.
        #expect(rows(index) { $0.box = box } == [4, 3, 1])
        // Over the date line.
        box = GeoBox()
        (box.west, box.east) = (179, -179)
        #expect(rows(index) { $0.box = box } == [4, 2])
        let circle = GeoCircle(latitude: -35, longitude: -179.9, radius: 0...1)
        #expect(rows(index) { $0.circle = circle } == [2])
        #expect(rows(index) { $0.circle = GeoCircle(latitude: 35, longitude: 10, radius: 0.1...180) } == [4, 2, 3])
        // A quarter of a great circle.
        let quarter = GeoCircle(latitude: 0, longitude: 0, radius: 89.999...90.001)
        #expect(quarter.contains(0, 90) && quarter.contains(90, 0) && !quarter.contains(0, 91))
        let nowhere = GeoCircle(latitude: 0, longitude: 0, radius: 0...180)
        #expect(!nowhere.contains(.nan, 0) && !GeoBox().contains(.nan, .nan))
    }

    @Test func removesWhatItIsTold() {
        var index = index(four)
        index.remove(row: 2, time: 300)
        index.remove(row: 9, time: 300)
        #expect(rows(index) { _ in } == [4, 3, 1])
        index.remove(before: 200)
        #expect(rows(index) { _ in } == [4, 3])
        index.remove(before: .max)
        #expect(index.count == 0 && rows(index) { _ in } == [])
    }

    @Test func theSameAsALookAtAll() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            let entries = (0..<200).map { row in
                EventIndex.Entry(
                    row: Int64(row), time: Int64.random(in: 0..<50, using: &random),
                    magnitude: Bool.random(using: &random) ? .nan : Double(Int.random(in: 0..<8, using: &random)))
            }
            let index = index(entries.shuffled(using: &random))
            let (from, to) = (Int64.random(in: 0..<50, using: &random), Int64.random(in: 0..<50, using: &random))
            let wanted = entries.filter { $0.time >= from && $0.time <= to && $0.magnitude >= 3 }
                .sorted { ($0.time, $0.row) > ($1.time, $1.row) }.map(\.row).dropFirst(2).prefix(5)
            let found = rows(index) {
                ($0.from, $0.to, $0.magnitude, $0.offset, $0.limit) = (from, to, 3...9, 2, 5)
            }
            #expect(found == Array(wanted))
        }
    }
}
