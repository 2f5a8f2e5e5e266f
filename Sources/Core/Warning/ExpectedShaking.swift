import Messages
import Propagation

/// Shaking that a station has to expect of an earthquake that its network has located.
struct ExpectedShaking: Sendable, Equatable {
    /// Where an earthquake was: epicentre, its depth and uncertainty in km.
    struct Source: Sendable, Equatable {
        var epicentre: Place
        var depth, uncertainty: Double

        /// Nil where one of them is missing.
        init?(_ event: NetworkEventReading) {
            guard let latitude = event.latitude, let longitude = event.longitude, let depth = event.depth,
                let uncertainty = event.semiMajor
            else { return nil }
            epicentre = Place(latitude: latitude, longitude: longitude)
            (self.depth, self.uncertainty) = (depth, uncertainty)
        }
    }

    /// From the epicentre, km.
    var distance: Double
    /// Seconds from the time of origin to the S wave.
    var travel: Double
    /// Mercalli.
    var intensity: Double
    /// With 68 %: the relation's scatter, with those of the magnitude and of the place.
    var range: ClosedRange<Double>

    init(of source: Source, magnitude: NetworkEventReading.Magnitude, at place: Place) {
        let depth = source.depth
        distance = source.epicentre.distance(to: place)
        travel = TravelTimes.seconds(.s, distance: distance, depth: depth)
        func intensity(_ magnitude: Double, _ distance: Double) -> Double {
            IntensityPrediction.intensity(
                magnitude: magnitude, distance: (distance * distance + depth * depth).squareRoot())
        }
        let (size, off, spread) = (magnitude.value, source.uncertainty, magnitude.sigma ?? 0)
        let middle = intensity(size, distance)
        let bySize = (intensity(size + spread, distance) - intensity(size - spread, distance)) / 2
        let byPlace = (intensity(size, max(0, distance - off)) - intensity(size, distance + off)) / 2
        let sigma =
            (IntensityPrediction.sigma * IntensityPrediction.sigma + bySize * bySize + byPlace * byPlace).squareRoot()
        self.intensity = middle
        range = max(1, middle - sigma)...min(10, middle + sigma)
    }
}
