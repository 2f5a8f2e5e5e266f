extension LimitTable {
    /// Damage to buildings by short vibration, such as blasts and piles.
    static let din4150ShortTerm: LimitTable = {
        func foundation(_ line: String, _ low: Double, _ middle: Double, _ high: Double) -> Row {
            Row(
                line: line, place: "foundation",
                curve: .over([
                    (1, 10, .line(low, low)), (10, 50, .line(low, middle)), (50, 100, .line(middle, high)),
                ]))
        }
        func others(_ line: String, top: Double) -> [Row] {
            [
                Row(line: line, place: "top-floor", axes: .horizontal, curve: .flat(top)),
                Row(line: line, place: "ceiling", axes: .vertical, curve: .flat(20)),
            ]
        }
        return LimitTable(
            name: "din4150-3", standard: "DIN 4150-3", edition: "1999-02, kept in 2016-12", table: "1",
            ends: "below 1 Hz the value of 1 Hz; above 100 Hz that of 100 Hz (footnote of the table, both editions)",
            title: "Damage to buildings, short-term vibration", confidence: 0.95, measure: .ppv,
            rows: [foundation("commercial", 20, 40, 50)] + others("commercial", top: 40)
                + [foundation("dwellings", 5, 15, 20)] + others("dwellings", top: 15)
                + [foundation("sensitive", 3, 8, 10)] + others("sensitive", top: 8))
    }()

    /// Damage to buildings by lasting vibration, such as machines and vibrating rollers.
    static let din4150LongTerm: LimitTable = {
        func rows(_ line: String, _ top: Double) -> [Row] {
            [
                Row(line: line, place: "top-floor", axes: .horizontal, curve: .flat(top)),
                Row(line: line, place: "ceiling", axes: .vertical, curve: .flat(10)),
            ]
        }
        return LimitTable(
            name: "din4150-3-long", standard: "DIN 4150-3", edition: "1999-02, kept in 2016-12", table: "3 (2016: 4)",
            ends: "one value for all frequencies",
            title: "Damage to buildings, long-term vibration", confidence: 0.95, measure: .ppv,
            rows: rows("commercial", 10) + rows("dwellings", 5) + rows("sensitive", 2.5))
    }()
}
