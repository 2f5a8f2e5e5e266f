extension IntensityScale {
    /// Central Weather Administration of Taiwan, the grades of Japan's scale. A value is a grade already; no colours.
    public static let cwa = IntensityScale("cwa", grades: japaneseGrades, colors: []) {
        gradeStep($0, halfBelow: 0)
    }
}

extension IntensityRelation {
    /// Taiwan's scale of 2020, from PGA and PGV.
    public static let cwa = IntensityRelation("cwa", .cwa) { pga, pgv in
        IntensityEstimate(value: CentralWeatherAdministration.intensity(pga: pga, pgv: pgv))
    }
}

/// Taiwan's seismic intensity (Central Weather Administration, scale in force since 2020-01-01): by peak acceleration
/// up to grade 4, and from 80 gal on by peak velocity. Below 15 cm/s it stays 4, however large the acceleration.
public enum CentralWeatherAdministration {
    /// The grade as a number: 0 to 4, 5 and 5.5 for 5- and 5+, 6 and 6.5 for 6- and 6+, 7.
    /// - Parameters:
    ///   - pga: m/s².
    ///   - pgv: m/s.
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
}
