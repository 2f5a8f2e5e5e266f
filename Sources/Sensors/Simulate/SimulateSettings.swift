import SignalProcessing

/// What a simulated sensor shows; the agent makes it from its configuration.
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
    /// Samples per second.
    public var rate = 100.0
    /// Full scale in m/s²: values beyond are cut off there.
    public var range = 2 * standardGravity
    /// RMS of the noise on each axis in m/s².
    public var noise = 0.3e-3 * standardGravity
    public var seed: UInt64 = 1
    /// Amplitude in m/s² of `sine`, `step` and `impulse`.
    public var amplitude = standardGravity
    /// Hz, of `sine`.
    public var frequency = 1.0
    /// Largest horizontal acceleration of `quake` in m/s².
    public var peak = 0.5
    /// Distance of the earthquake's source in km: sets the time from P to S.
    public var distance = 30.0
    /// Smallest step in m/s² to which values are rounded; nil: not rounded.
    public var resolution: Double?
    /// Times real time; 0 is as fast as possible.
    public var speed = 1.0

    public init() {}
}
