extension FrequencyWeighting {
    /// Horizontal, of people who sit, stand or lie: ISO 2631-1:1997, table A.1.
    public static let wd = FrequencyWeighting(
        name: "wd", title: "Wd", f1: 0.4, f2: 100, quality1: 0.71, f3: 2, f4: 2, quality4: 0.63, step: nil,
        source: "ISO 2631-1:1997, table A.1")
}
