extension FrequencyWeighting {
    /// Vertical, of people in buildings and on rails: BS 6841:1987, BS 6472-1:2008. The gain far above its step is 1.024, so
    /// that it is K = 0.4 far below it, as the standard writes it: 1.024 · (2.5/4)² = 0.4.
    public static let wb = FrequencyWeighting(
        name: "wb", title: "Wb", f1: 0.4, f2: 100, quality1: 0.71, f3: 16, f4: 16, quality4: 0.55,
        step: .init(f5: 2.5, quality5: 0.9, f6: 4, quality6: 0.95, gain: 1.024), source: "BS 6841:1987, table 3")
}
