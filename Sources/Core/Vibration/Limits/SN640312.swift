extension LimitTable {
    /// Effects of vibration on buildings, Switzerland: the vector, by how often it is reached.
    static let sn640312: LimitTable = {
        let often: [(String, Double, Double, Double)] = [
            ("rare", 15, 20, 30), ("frequent", 6, 8, 12), ("permanent", 3, 4, 6),
        ]
        return LimitTable(
            name: "sn640312a", standard: "SN 640 312a", edition: "1992", table: "2",
            ends: "below 8 Hz the value of 8 Hz; above 150 Hz that of 150 Hz (the standard leaves both to experts)",
            title: "Effects on buildings",
            confidence: 0.8, measure: .pvs,
            rows: [(3, 1.0), (2, 2.0), (1, 3.0)].flatMap { (number: Int, factor: Double) in
                often.map { line, low, middle, high in
                    Row(
                        line: "class\(number)", place: line,
                        curve: LimitCurve.over([
                            (8, 30, .line(low, low)), (30, 60, .line(middle, middle)), (60, 150, .line(high, high)),
                        ]).times(factor))
                }
            })
    }()
}
