import Glibc

/// The Mercalli intensity that an earthquake is expected to have somewhere, on average ground: Allen, Wald and Worden
/// (2012), "Intensity attenuation for active crustal regions", Journal of Seismology 16, the form with the hypocentral
/// distance. Made of magnitudes 5 to 7.9 up to 300 km; its standard deviation is 0.8 to 1.2.
public enum ExpectedIntensity {
    /// - Parameters:
    ///   - magnitude: of moment.
    ///   - distance: from the hypocentre, km.
    /// - Returns: 1 or more; near a source it grows to 8 or 9 at most.
    public static func of(magnitude: Double, distance: Double) -> Double {
        let radius = -0.209 + 2.042 * exp(magnitude - 5)
        var intensity = 2.085 + 1.428 * magnitude - 1.402 * log((distance * distance + radius * radius).squareRoot())
        if distance > 50 { intensity += 0.078 * log(distance / 50) }
        return max(intensity, 1)
    }

    /// Great circle between two places (degrees) on a sphere, km.
    public static func distance(
        _ a: (latitude: Double, longitude: Double), _ b: (latitude: Double, longitude: Double)
    ) -> Double {
        let radians = Double.pi / 180
        let (north, east) = ((b.latitude - a.latitude) * radians / 2, (b.longitude - a.longitude) * radians / 2)
        let h =
            sin(north) * sin(north) + cos(a.latitude * radians) * cos(b.latitude * radians) * sin(east) * sin(east)
        return 2 * 6371 * asin(min(1, h.squareRoot()))
    }
}
