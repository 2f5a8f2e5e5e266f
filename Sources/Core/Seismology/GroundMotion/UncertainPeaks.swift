/// Largest velocity and displacement that the ground may have had while both were too uncertain for a maximum (see
/// ``TransientBound``): of the larger horizontal, with the error that they may have had. Likewise the acceleration while it
/// may have been off.
public struct UncertainPeaks: Sendable, Equatable {
    /// m/s.
    public private(set) var velocity = 0.0
    /// m.
    public private(set) var displacement = 0.0
    /// m/s².
    public private(set) var acceleration = 0.0

    public init() {}

    /// Takes an acceleration that may be off.
    @inline(__always)
    mutating func takeAcceleration(_ x: Double, _ y: Double, error: Double) {
        acceleration = max(acceleration, max(abs(x), abs(y)) + error)
    }

    /// Takes a peak that a spike may have made: only a larger one is certain.
    mutating func doubt(_ peak: Double) {
        let larger = (1 + 2 * TransientBound.accelerationShare) * peak + 2 * TransientBound.leastAcceleration
        acceleration = max(acceleration, larger)
    }

    /// Takes a velocity that did not count.
    @inline(__always)
    public mutating func takeVelocity(_ x: Double, _ y: Double, error: Double) {
        velocity = max(velocity, max(abs(x), abs(y)) + error)
    }

    /// Takes a displacement that did not count.
    @inline(__always)
    public mutating func takeDisplacement(_ x: Double, _ y: Double, error: Double) {
        displacement = max(displacement, max(abs(x), abs(y)) + error)
    }

    /// Forgets what another part, which comes later, is certain of.
    mutating func forget(before later: UncertainPeaks) {
        if later.velocity == 0 { velocity = 0 }
        if later.displacement == 0 { displacement = 0 }
    }

    mutating func take(_ other: UncertainPeaks) {
        velocity = max(velocity, other.velocity)
        displacement = max(displacement, other.displacement)
        acceleration = max(acceleration, other.acceleration)
    }

    /// Whether the largest acceleration of a horizontal, m/s², is right to 2 %.
    public func allow(acceleration peak: Double) -> Bool {
        acceleration <= (1 + TransientBound.accelerationShare) * peak + TransientBound.leastAcceleration
    }

    /// Whether the peak that counted stands for the whole: no velocity that did not count can have been larger by more than a
    /// tenth, or by more than what matters.
    public func allow(velocity peak: HorizontalPeaks) -> Bool {
        velocity <= (1 + TransientBound.share) * peak.combined(.larger) + TransientBound.leastVelocity
    }

    /// The same of the displacement.
    public func allow(displacement peak: HorizontalPeaks) -> Bool {
        displacement <= (1 + TransientBound.share) * peak.combined(.larger) + TransientBound.leastDisplacement
    }
}
