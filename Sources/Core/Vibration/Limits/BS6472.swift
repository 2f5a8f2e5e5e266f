extension LimitTable {
    /// Complaints of people in dwellings: the dose of a day of 16 h or a night of 8 h, from which on adverse comment has a low
    /// probability, is possible, or is probable. With the weightings Wb (vertical) and Wd (horizontal).
    static let bs6472 = LimitTable(
        name: "bs6472-1", standard: "BS 6472-1", edition: "2008", table: "1",
        ends: "a dose of all frequencies, by the weightings Wb and Wd", title: "Adverse comment in dwellings",
        confidence: 0.95, measure: .vdv, nightFactor: 0.5,
        rows: [("low", 0.2), ("possible", 0.4), ("probable", 0.8)].map {
            Row(line: "dwellings", place: $0.0, curve: .flat($0.1))
        })
}
