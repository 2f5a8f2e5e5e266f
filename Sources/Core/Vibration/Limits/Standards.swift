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

extension LimitTable {
    /// Safe levels of blasting vibration for houses: displacements of 0.030 and 0.008 inch, velocities of 0.75 (or 0.5) and
    /// 2 inch a second.
    static let usbm: LimitTable = {
        func row(_ line: String, _ plateau: Double) -> Row {
            let (low, high, top) = (0.762, 0.2032, 50.8)
            func frequency(_ velocity: Double, _ displacement: Double) -> Double {
                velocity / (2 * Double.pi * displacement)
            }
            let (a, b, c) = (frequency(plateau, low), frequency(plateau, high), frequency(top, high))
            return Row(
                line: line, place: "ground",
                curve: .over([
                    (1, a, .displacement(low)), (a, b, .line(plateau, plateau)), (b, c, .displacement(high)),
                    (c, 100, .line(top, top)),
                ]))
        }
        return LimitTable(
            name: "usbm-ri8507", standard: "USBM RI 8507", edition: "1980", table: "appendix B, figure B-1",
            ends: "below 1 Hz the displacement of 0.030 inch goes on; above 100 Hz 2 inch a second",
            title: "Safe levels of blasting vibration for houses", confidence: 0.9, measure: .ppv,
            rows: [row("drywall", 19.05), row("plaster", 12.7)])
    }()
}

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
