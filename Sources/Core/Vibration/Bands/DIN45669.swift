extension VibrationBand {
    /// DIN 45669-1 (2010), range 1 to 80 Hz: what DIN 4150-2 and -3 are judged in.
    public static let din = VibrationBand(
        name: "din", lower: 1, upper: 80, highpass: 0.8, lowpass: 100, source: "DIN 45669-1, 1 to 80 Hz")

    /// DIN 45669-1 (2010), range 1 to 315 Hz, for blasting and fast rails.
    public static let din315 = VibrationBand(
        name: "din315", lower: 1, upper: 315, highpass: 0.8, lowpass: 400, source: "DIN 45669-1, 1 to 315 Hz")
}
