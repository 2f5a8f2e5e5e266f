import Glibc

/// A point of the Earth's surface, taken as a sphere of 6371 km (at most 0.3 % of a distance off).
public struct Place: Sendable, Equatable {
    static let earthRadius = 6371.0

    /// Degrees north, -90 to 90.
    public var latitude: Double
    /// Degrees east, -180 to 180.
    public var longitude: Double
    /// Kilometres above the sea.
    public var elevation: Double
    /// Unit vector from the Earth's centre.
    package let direction: SIMD3<Double>

    public init(latitude: Double, longitude: Double, elevation: Double = 0) {
        (self.latitude, self.longitude, self.elevation) = (latitude, longitude, elevation)
        let (phi, lambda) = (latitude * .pi / 180, longitude * .pi / 180)
        direction = SIMD3(cos(phi) * cos(lambda), cos(phi) * sin(lambda), sin(phi))
    }

    /// Kilometres along the surface.
    public func distance(to other: Place) -> Double {
        let gap = direction - other.direction
        let chord = (gap * gap).sum().squareRoot()
        return 2 * Self.earthRadius * asin(min(1, chord / 2))
    }

    /// Kilometres east and north of a centre in the azimuthal equidistant projection: up to 300 km from the centre,
    /// distances between two points are less than 0.04 % off.
    package func projected(around centre: Place) -> SIMD2<Double> {
        let (phi, lambda) = (centre.latitude * .pi / 180, centre.longitude * .pi / 180)
        let east = SIMD3(-sin(lambda), cos(lambda), 0)
        let north = SIMD3(-sin(phi) * cos(lambda), -sin(phi) * sin(lambda), cos(phi))
        let (x, y) = ((direction * east).sum(), (direction * north).sum())
        let sine = (x * x + y * y).squareRoot()
        guard sine > 0 else { return SIMD2(0, 0) }
        let distance = distance(to: centre)
        return SIMD2(x / sine * distance, y / sine * distance)
    }

    /// The point that lies so many kilometres east and north of a centre; the reverse of `projected`.
    public init(offset: SIMD2<Double>, from centre: Place) {
        let distance = (offset * offset).sum().squareRoot()
        guard distance > 0 else {
            self.init(latitude: centre.latitude, longitude: centre.longitude)
            return
        }
        let arc = distance / Self.earthRadius
        let (phi, azimuth) = (centre.latitude * .pi / 180, atan2(offset.x, offset.y))
        let sine = max(-1, min(1, sin(phi) * cos(arc) + cos(phi) * sin(arc) * cos(azimuth)))
        let lambda = atan2(sin(azimuth) * sin(arc) * cos(phi), cos(arc) - sin(phi) * sine)
        var longitude = centre.longitude + lambda * 180 / .pi
        if longitude > 180 { longitude -= 360 }
        if longitude < -180 { longitude += 360 }
        self.init(latitude: asin(sine) * 180 / .pi, longitude: longitude)
    }

    /// The point in the middle of others.
    package static func middle(of places: [Place]) -> Place {
        let sum = places.reduce(SIMD3<Double>(repeating: 0)) { $0 + $1.direction }
        let length = (sum * sum).sum().squareRoot()
        guard length > 1e-9 else { return places.first ?? Place(latitude: 0, longitude: 0) }
        let latitude = asin(max(-1, min(1, sum.z / length))) * 180 / .pi
        return Place(latitude: latitude, longitude: atan2(sum.y, sum.x) * 180 / .pi)
    }
}

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
