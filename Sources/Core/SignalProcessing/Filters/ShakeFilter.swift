/// The filters of the app Shake (Joalah Designs, 2012) by name.
///
/// Shake has coefficients for 60 Hz only; here each name is a design for any rate. All start from zero, as there. Seven
/// are in its article: `pass`, `lp5-simple`, `hp5-simple`, `lp5`, `hp5`, `bp1-3` and `bp2.5-5`; the others are templates
/// of its source that no menu shows. The name says what the filter does: corners in Hz, and the order where it is not 2.
///
/// - The article's sixth filter is said to pass 1 to 3 Hz, but its coefficients are those of 0.5 to 3 Hz (the
///   template's own name says so): `bp1-3` is what the article promises, `bp0.5-3` what the app runs.
/// - Shake's band passes are up to 1 % higher, because their gain was made 1 in the middle between the corners; ours
///   is 1 where a Butterworth band pass has its maximum. Templates 10 (`bp0.5-4`) and 14 (`bp4-8-o3`) have slips in
///   their input coefficients; ours are right.
public enum ShakeFilter: String, Sendable, CaseIterable {
    case pass
    case lp5Simple = "lp5-simple"
    case hp5Simple = "hp5-simple"
    case lp5, hp5
    case bp1to3 = "bp1-3"
    case bp2p5to5 = "bp2.5-5"
    case bp0p5to3 = "bp0.5-3"
    case bp0p5to4 = "bp0.5-4"
    case bp4to8 = "bp4-8"
    case bp0p5to3o3 = "bp0.5-3-o3"
    case bp2p5to5o3 = "bp2.5-5-o3"
    case bp0p5to4o3 = "bp0.5-4-o3"
    case bp2to6o3 = "bp2-6-o3"
    case bp4to8o3 = "bp4-8-o3"

    /// Specification that the name stands for.
    public var specification: FilterSpecification {
        switch self {
        case .pass: .none
        case .lp5Simple: .simple(.init(band: .lowpass, corner: 5))
        case .hp5Simple: .simple(.init(band: .highpass, corner: 5))
        case .lp5: .butterworth(.init(band: .lowpass, corners: [5], order: 2))
        case .hp5: .butterworth(.init(band: .highpass, corners: [5], order: 2))
        case .bp1to3: Self.band(1, 3, 2)
        case .bp2p5to5: Self.band(2.5, 5, 2)
        case .bp0p5to3: Self.band(0.5, 3, 2)
        case .bp0p5to4: Self.band(0.5, 4, 2)
        case .bp4to8: Self.band(4, 8, 2)
        case .bp0p5to3o3: Self.band(0.5, 3, 3)
        case .bp2p5to5o3: Self.band(2.5, 5, 3)
        case .bp0p5to4o3: Self.band(0.5, 4, 3)
        case .bp2to6o3: Self.band(2, 6, 3)
        case .bp4to8o3: Self.band(4, 8, 3)
        }
    }

    /// The corner in Hz that half of the sample rate must be above; 0 for `pass`.
    public var highestCorner: Double { specification.facts?.frequencies.last?.frequency ?? 0 }

    private static func band(_ low: Double, _ high: Double, _ order: Int) -> FilterSpecification {
        .butterworth(.init(band: .bandpass, corners: [low, high], order: order))
    }
}
