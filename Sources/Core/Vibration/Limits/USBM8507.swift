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
