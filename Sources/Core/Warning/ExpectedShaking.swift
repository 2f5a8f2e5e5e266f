import Propagation

/// Shaking that a station has to expect of an earthquake that its network has located.
struct ExpectedShaking: Sendable, Equatable {
    /// From the epicentre, km.
    var distance: Double
    /// Seconds from the time of origin to the S wave.
    var travel: Double
    /// Mercalli.
    var intensity: Double
    /// With 68 %: the relation's scatter, with those of the magnitude and of the place.
    var range: ClosedRange<Double>

    init(of report: NetworkReport, magnitude: NetworkReport.Magnitude, at place: Place) {
        let source = Place(latitude: report.latitude, longitude: report.longitude)
        let depth = report.depth
        distance = source.distance(to: place)
        travel = TravelTimes.seconds(.s, distance: distance, depth: depth)
        func intensity(_ magnitude: Double, _ distance: Double) -> Double {
            IntensityPrediction.intensity(
                magnitude: magnitude, distance: (distance * distance + depth * depth).squareRoot())
        }
        let (size, off) = (magnitude.value, report.uncertainty)
        let middle = intensity(size, distance)
        let bySize = (intensity(size + magnitude.sigma, distance) - intensity(size - magnitude.sigma, distance)) / 2
        let byPlace = (intensity(size, max(0, distance - off)) - intensity(size, distance + off)) / 2
        let sigma =
            (IntensityPrediction.sigma * IntensityPrediction.sigma + bySize * bySize + byPlace * byPlace).squareRoot()
        self.intensity = middle
        range = max(1, middle - sigma)...min(10, middle + sigma)
    }
}
