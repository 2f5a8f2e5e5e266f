import Propagation
import Testing

/// Numbers computed from the published coefficients by hand (Python).
@Suite struct IntensityPredictionTests {
    @Test(arguments: [
        (6.0, 51.0, 4.5786), (7.0, 20.0, 7.2632), (4.5, 10.0, 4.4637), (5.0, 200.0, 1.9999), (8.0, 300.0, 4.2076),
    ])
    func isAsPublished(magnitude: Double, distance: Double, intensity: Double) {
        #expect(
            abs(IntensityPrediction.intensity(magnitude: magnitude, distance: distance) - intensity) < 1e-4,
            "\(IntensityPrediction.intensity(magnitude: magnitude, distance: distance))")
    }

    @Test func staysWithinTheScale() {
        #expect(IntensityPrediction.intensity(magnitude: 1, distance: 500) == 1)
        #expect(IntensityPrediction.intensity(magnitude: 9.5, distance: 0) == 10)
    }
}
