extension LimitTable {
    /// Cosmetic damage to buildings by transient vibration. Linear between the points; below 4 Hz a displacement.
    static let bs7385 = LimitTable(
        name: "bs7385-2", standard: "BS 7385-2", edition: "1993", table: "1",
        ends:
            "below 4 Hz the displacement (note of the table), also below 1 Hz; above 250 Hz the last value (\"and above\")",
        title: "Cosmetic damage to buildings",
        confidence: 0.95, measure: .ppv,
        rows: [
            Row(
                line: "framed", place: "base",
                curve: .over([(1, 4, .displacement(0.6)), (4, 250, .line(50, 50))])),
            Row(
                line: "dwellings", place: "base",
                curve: .over([
                    (1, 4, .displacement(0.6)), (4, 15, .line(15, 20)), (15, 40, .line(20, 50)),
                    (40, 250, .line(50, 50)),
                ])),
        ])
}
