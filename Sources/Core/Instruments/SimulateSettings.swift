import SignalProcessing

/// Settings of a simulated sensor.
public struct SimulateSettings: Sendable, Equatable {
    public enum Scenario: String, Sendable, CaseIterable {
        /// Gravity and the sensor's own noise.
        case quiet
        /// An earthquake every two minutes, the first P wave 40 s after the start.
        case quake
        /// Somebody carries the sensor: 1.9 steps a second.
        case walk
        /// A knock on the table every 10 s.
        case tableKnock = "table-knock"
        /// Shake's test signals on all three axes, bare: no gravity, no noise, 20 samples of zero first.
        case sine, step, impulse
    }

    public var scenario = Scenario.quiet
    /// RMS of the noise on each axis in m/s².
    public var noise = 0.3e-3 * standardGravity
    public var seed: UInt64 = 1
    /// Amplitude in m/s² of `sine`, `step` and `impulse`.
    public var amplitude = standardGravity
    /// Hz, of `sine`.
    public var frequency = 1.0

    public init() {}
}
