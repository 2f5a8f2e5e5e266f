import SignalProcessing

extension IntensityScale {
    /// Central Weather Administration of Taiwan, the grades of Japan's scale. A value is a grade already; no colours.
    public static let cwa = IntensityScale("cwa", grades: japaneseGrades, colors: []) {
        gradeStep($0, halfBelow: 0)
    }
}

extension IntensityRelation {
    /// Taiwan's scale of 2020, from PGA and PGV of its own.
    public static let cwa = IntensityRelation(
        "cwa", .cwa,
        of: {
            IntensityEstimate(value: CentralWeatherAdministration.intensity(pga: $0.cwa, pgv: $0.vectorPGV))
        })
}

/// Taiwan's seismic intensity (Central Weather Administration, scale in force since 2020-01-01): by peak acceleration
/// up to grade 4, and from 80 gal on by peak velocity. Below 15 cm/s it stays 4, however large the acceleration. Both are
/// of the vector of the three components; the acceleration is of frequencies below 10 Hz, the velocity of those above
/// 0.075 Hz.
public enum CentralWeatherAdministration {
    /// The grade as a number: 0 to 4, 5 and 5.5 for 5- and 5+, 6 and 6.5 for 6- and 6+, 7.
    /// - Parameters:
    ///   - pga: of ``Acceleration``, m/s².
    ///   - pgv: of the 3-D vector of ``GroundIntegrator``, m/s.
    public static func intensity(pga: Double, pgv: Double) -> Double {
        if pga < 0.008 { return 0 }
        if pga < 0.025 { return 1 }
        if pga < 0.08 { return 2 }
        if pga < 0.25 { return 3 }
        if pga < 0.8 || pgv < 0.15 { return 4 }
        if pgv < 0.30 { return 5 }
        if pgv < 0.50 { return 5.5 }
        if pgv < 0.80 { return 6 }
        return pgv < 1.40 ? 6.5 : 7
    }

    /// Length of the 3-D vector of the acceleration after a low pass of 10 Hz (Butterworth, order 2, causal, from zero), where
    /// the rate leaves room for one.
    public struct Acceleration: Sendable {
        /// Hz.
        public static let corner = 10.0
        private var filter: AxisFilter?

        /// - Parameter rate: samples per second.
        public init(rate: Double) {
            guard
                let design = try? FilterSpecification.butterworth(
                    .init(band: .lowpass, corners: [Self.corner], order: 2, start: .zero)
                ).design(rate: rate)
            else { return }
            filter = AxisFilter(design, design, design)
        }

        /// Forgets all samples.
        public mutating func reset() { filter?.reset() }

        /// Writes the length at each of `count` samples; the three planes of acceleration without offset (m/s²) are used up.
        public mutating func process(
            _ x: UnsafeMutablePointer<Double>, _ y: UnsafeMutablePointer<Double>, _ z: UnsafeMutablePointer<Double>,
            to length: UnsafeMutablePointer<Double>, count: Int
        ) {
            filter?.process(x, y, z, count: count)
            for i in 0..<count { length[i] = (x[i] * x[i] + y[i] * y[i] + z[i] * z[i]).squareRoot() }
        }
    }
}
