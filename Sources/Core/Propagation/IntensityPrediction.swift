import Glibc

/// The Mercalli intensity that an earthquake is expected to have at a distance: Atkinson, Worden and Wald (2014),
/// "Intensity Prediction Equations for North America", Bulletin of the Seismological Society of America 104, 3084–3093, the
/// form for California, which is made of what people have felt in earthquakes of magnitude 2 to 8.
///
/// The one relation of the product: the station's alarm, messages on the phone and the page (`deploy/dashboard/src/pure/ground.js`)
/// expect the same. The network's detector has its magnitudes from another one, of accelerations.
public enum IntensityPrediction {
    /// Standard deviation of an intensity.
    public static let sigma = 0.5
    /// Kilometres from the source up to which it is used.
    public static let reach = 500.0

    /// - Parameters:
    ///   - magnitude: of moment.
    ///   - distance: from the hypocentre, km.
    /// - Returns: 1 to 10.
    public static func intensity(magnitude: Double, distance: Double) -> Double {
        let r = (distance * distance + 14 * 14).squareRoot()
        let far = max(0, log10(r / 50))
        let value =
            0.309 + 1.864 * magnitude - 1.672 * log10(r) - 0.00219 * r + 1.77 * far - 0.383 * magnitude * log10(r)
        return max(1, min(10, value))
    }
}
