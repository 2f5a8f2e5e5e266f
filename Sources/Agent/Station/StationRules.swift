import Settings

/// Rules of the settings for single samples.
struct StationRules: Sendable {
    /// Samples after a start or a gap whose numbers are not to be trusted.
    let settleSamples: Int
    let traceEnabled: Bool

    init(_ configuration: Configuration, _ path: SignalPath, rate: Double) {
        let settle = configuration.conditioning.settle ?? max(1, path.settlingTime)
        // An average with a tiny share of the new never settles.
        settleSamples = max(Int(min(settle * rate, 1e15).rounded()), path.holdBack)
        traceEnabled = configuration.trace.enabled
    }
}
