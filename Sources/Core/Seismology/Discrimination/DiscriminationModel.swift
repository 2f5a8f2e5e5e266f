/// The constants of the discriminator and of the on-site estimate: data, fitted by `deploy/benchmarks/discrimination` on 86
/// earthquakes recorded by cheap sensors and on modelled disturbances (see deploy/docs/understand/classification.md), which reads this
/// file and says how a fit to other recordings compares.
public enum DiscriminationModel {
    /// Of each feature, in the order of ``DiscriminationFeatures``: mean and scale, weight of z = (feature − mean) / scale or
    /// of its square.
    public static let features: [(name: String, mean: Double, scale: Double, weight: Double, isSquare: Bool)] = [
        ("s2", -2.083, 1.0738, 0.8522, false),
        ("s3", -1.3237, 0.846, 0.441, false),
        ("s4", -0.6971, 0.5098, 1.5769, false),
        ("lowsn", 0.5198, 1.5524, 1.4559, false),
        ("rect", 0.7499, 0.1868, -0.2654, false),
        ("recent", -0.936, 0.8684, -0.6553, true),
        ("rise", 0.9238, 0.7104, -0.7567, true),
        ("kur", 0.5125, 0.3077, -0.842, false),
        ("bw", -0.1188, 0.1632, 0.7683, false),
        ("vh", 0.0489, 0.7507, -0.3938, true),
    ]
    static let bias = 0.6012
    /// logit = (a + b u) s + c u + d − threshold, u = log₂ of the seconds since the onset.
    static let (a, b, c, d) = (0.816, 0.1869, 0.0304, -0.1026)
    static let threshold = 1.2
    /// Probabilities.
    static let likely = 0.5
    static let certain = 0.8
    /// log PGV = a log Pv + b (cm/s) after 1, 2 and 3 s.
    static let velocity = [(a: 1.364, b: 1.450), (a: 1.166, b: 1.160), (a: 0.900, b: 0.748)]
    /// Deviation of the published PGV, base-10 logarithm.
    static let range = 0.6
}
