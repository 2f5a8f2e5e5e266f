import Testing

@testable import Notify

@Suite struct ExpectedIntensityTests {
    /// Computed by hand from the coefficients of the paper, for a distance below and above 50 km.
    @Test(arguments: [(7.0, 10.0, 8.0344), (7, 100, 5.6632), (5, 20, 5.0182), (6, 50, 5.1604)])
    func asPublished(_ magnitude: Double, _ distance: Double, _ intensity: Double) {
        #expect(abs(ExpectedIntensity.of(magnitude: magnitude, distance: distance) - intensity) < 0.001)
    }

    @Test func staysOnTheScale() {
        #expect(ExpectedIntensity.of(magnitude: -2, distance: 20_000) == 1)
        #expect((8..<9).contains(ExpectedIntensity.of(magnitude: 10, distance: 0)))
    }

    /// A degree of latitude, of longitude at 60 degrees, and half of the Earth.
    @Test func distances() {
        let degree = 111.195
        #expect(abs(ExpectedIntensity.distance((46, 7), (47, 7)) - degree) < 0.01)
        #expect(abs(ExpectedIntensity.distance((60, 10), (60, 11)) - degree / 2) < 0.01)
        #expect(abs(ExpectedIntensity.distance((0, 179.5), (0, -179.5)) - degree) < 0.01)
        #expect(abs(ExpectedIntensity.distance((0, 0), (0, 180)) - 20_015.1) < 0.1)
    }
}
