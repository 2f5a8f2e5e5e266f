extension VibrationBand {
    /// ISO 20816-1 and -3: velocity of machines from 10 to 1000 Hz, for those that turn faster than 600 a minute.
    public static let machine = VibrationBand(
        name: "machine", lower: 10, upper: 1000, highpass: 8, lowpass: 1250, source: "ISO 20816-3, 10 to 1000 Hz")
}
