extension LimitTable {
    /// Zones of industrial machines by their rms velocity from 10 to 1000 Hz: the boundaries of zones A/B, B/C and C/D. Group
    /// 1 is above 300 kW, group 2 from 15 to 300 kW; on a rigid or a flexible foundation.
    static let iso20816: LimitTable = {
        let lines: [(String, [Double])] = [
            ("group1-rigid", [2.3, 4.5, 7.1]), ("group1-flexible", [3.5, 7.1, 11]),
            ("group2-rigid", [1.4, 2.8, 4.5]), ("group2-flexible", [2.3, 4.5, 7.1]),
        ]
        return LimitTable(
            name: "iso20816-3", standard: "ISO 20816-3", edition: "2022", table: "A.1 and A.2",
            ends: "one value of the band from 10 to 1000 Hz",
            title: "Condition of industrial machines", confidence: 0.95, measure: .rms,
            rows: lines.flatMap { line, values in
                zip(["bc", "ab", "cd"], [values[1], values[0], values[2]]).map {
                    Row(line: line, place: $0, curve: .flat($1))
                }
            })
    }()
}
