extension FrequencyWeighting {
    /// In buildings, whichever way people sit or lie: ISO 2631-2:2003, annex A.
    public static let wm = FrequencyWeighting(
        name: "wm", title: "Wm", f1: 0.7943, f2: 100, quality1: 0.71, f3: 5.684, f4: 5.684, quality4: 0.5, step: nil,
        source: "ISO 2631-2:2003, annex A")
}
