extension FrequencyWeighting {
    /// Vertical, of people who sit, stand or lie: ISO 2631-1:1997, table A.1.
    public static let wk = FrequencyWeighting(
        name: "wk", title: "Wk", f1: 0.4, f2: 100, quality1: 0.71, f3: 12.5, f4: 12.5, quality4: 0.63,
        step: .init(f5: 2.37, quality5: 0.91, f6: 3.35, quality6: 0.91, gain: 1), source: "ISO 2631-1:1997, table A.1")
}
