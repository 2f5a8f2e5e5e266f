/// RMS, means and peaks of the ground motion over the last whole seconds.
///
/// The window is a ring of one-second buckets, so a sample costs the same for any window, and the window at a second's
/// end holds exactly its samples.
public struct MotionWindow: Sendable {
    /// Sums and peaks of some samples.
    public struct Levels: Sendable {
        public var moments = MotionMoments()
        /// Sums of |x|, |y|, |z|, of the horizontal and of the 3-D vector, m/s².
        public var sumX = 0.0
        public var sumY = 0.0
        public var sumZ = 0.0
        public var sumH = 0.0
        public var sumV3 = 0.0
        /// Peaks of the same, m/s².
        public var peakX = 0.0
        public var peakY = 0.0
        public var peakZ = 0.0
        public var peakH = 0.0
        public var peakV3 = 0.0
        /// The acceleration at the peak of the 3-D vector, m/s².
        public var strongest: (x: Double, y: Double, z: Double) = (0, 0, 0)
        /// Peaks of velocity, m/s, and of displacement, m.
        public var velocity = VelocityPeaks()
        public var displacement = HorizontalPeaks()
        /// Peak of the acceleration that Taiwan's scale takes, m/s².
        public var cwa = 0.0
        /// Values left out of the peaks of velocity and displacement.
        public var uncertain = UncertainPeaks()

        public init() {}

        @inline(__always)
        mutating func add(_ s: MotionSample) {
            moments.add(s.ax, s.ay, s.az)
            let (x, y, z) = (abs(s.ax), abs(s.ay), abs(s.az))
            let square = s.ax * s.ax + s.ay * s.ay
            let (horizontal, vector) = (square.squareRoot(), (square + s.az * s.az).squareRoot())
            sumX += x
            sumY += y
            sumZ += z
            sumH += horizontal
            sumV3 += vector
            peakX = max(peakX, x)
            peakY = max(peakY, y)
            peakZ = max(peakZ, z)
            peakH = max(peakH, horizontal)
            if vector > peakV3 {
                peakV3 = vector
                strongest = (s.ax, s.ay, s.az)
            }
            if s.velocityError == 0 {
                velocity.take(s.vx, s.vy, s.vz)
                cwa = max(cwa, s.cwa)
            } else {
                uncertain.takeVelocity(s.vx, s.vy, error: Double(abs(s.velocityError)))
            }
            if s.displacementError == 0 {
                displacement.take(s.dx, s.dy)
            } else {
                uncertain.takeDisplacement(s.dx, s.dy, error: Double(abs(s.displacementError)))
            }
            // (After a start nothing is valid before the removal of the offset has settled.)
            if s.accelerationError > 0, s.accelerationError < MotionSample.spike {
                uncertain.takeAcceleration(s.ax, s.ay, error: Double(s.accelerationError))
            }
        }

        /// Peaks of this second and the one before it may be a spike's.
        mutating func doubtPeaks(before: Levels) {
            for one in [self, before] { uncertain.doubt(max(one.peakX, one.peakY, one.peakZ)) }
        }

        mutating func add(_ other: Levels) {
            moments.add(other.moments)
            sumX += other.sumX
            sumY += other.sumY
            sumZ += other.sumZ
            sumH += other.sumH
            sumV3 += other.sumV3
            peakX = max(peakX, other.peakX)
            peakY = max(peakY, other.peakY)
            peakZ = max(peakZ, other.peakZ)
            peakH = max(peakH, other.peakH)
            if other.peakV3 > peakV3 {
                peakV3 = other.peakV3
                strongest = other.strongest
            }
            velocity.take(other.velocity)
            displacement.take(other.displacement)
            cwa = max(cwa, other.cwa)
            uncertain.take(other.uncertain)
        }
    }

    /// How far the samples of a chunk may be off: as ``MotionSample`` says it, a plane each.
    public struct Errors {
        var velocity: UnsafePointer<Double>
        var displacement: UnsafePointer<Double>
        var acceleration: UnsafePointer<Double>

        public init(
            velocity: UnsafePointer<Double>, displacement: UnsafePointer<Double>, acceleration: UnsafePointer<Double>
        ) {
            (self.velocity, self.displacement, self.acceleration) = (velocity, displacement, acceleration)
        }
    }

    private var buckets: [Levels]
    private var position = 0
    private var current = Levels()

    /// - Parameter seconds: whole seconds, at least 1.
    public init(seconds: Int) {
        buckets = [Levels](repeating: Levels(), count: max(1, seconds))
    }

    /// Forgets all samples.
    public mutating func reset() {
        for i in buckets.indices { buckets[i] = Levels() }
        current = Levels()
    }

    /// Takes `count` samples of acceleration without offset (m/s²), velocity (m/s) and displacement (m), each as planes
    /// of x, y and z `stride` apart, and one plane of what Taiwan's scale takes (m/s²).
    /// - Parameter errors: how far they may be off; nil: not at all.
    public mutating func add(
        _ count: Int, acceleration a: UnsafePointer<Double>, velocity v: UnsafePointer<Double>,
        displacement d: UnsafePointer<Double>, cwa: UnsafePointer<Double>, stride: Int,
        errors: Errors? = nil
    ) {
        var levels = current
        if let errors {
            for i in 0..<count {
                if Float(errors.acceleration[i]) == MotionSample.spike {
                    levels.doubtPeaks(before: buckets[(position + buckets.count - 1) % buckets.count])
                }
                levels.add(
                    MotionSample(
                        ax: a[i], ay: a[stride + i], az: a[2 * stride + i], vx: v[i], vy: v[stride + i],
                        vz: v[2 * stride + i], dx: d[i], dy: d[stride + i], cwa: cwa[i],
                        velocityError: Float(errors.velocity[i]), displacementError: Float(errors.displacement[i]),
                        accelerationError: Float(errors.acceleration[i])))
            }
            current = levels
            return
        }
        for i in 0..<count {
            levels.add(
                MotionSample(
                    ax: a[i], ay: a[stride + i], az: a[2 * stride + i], vx: v[i], vy: v[stride + i],
                    vz: v[2 * stride + i], dx: d[i], dy: d[stride + i], cwa: cwa[i]))
        }
        current = levels
    }

    /// Takes the largest motion that there may have been in a gap that was bridged.
    public mutating func bridge(_ peaks: UncertainPeaks) { current.uncertain.take(peaks) }

    /// Largest motion of the window so far: velocity of the vector and of the larger horizontal, m/s, and displacement of that, m.
    public struct Recent: Sendable, Equatable {
        public var vector = 0.0
        public var velocity = 0.0
        public var displacement = 0.0
    }

    /// Largest motion of the window so far.
    public var recent: Recent {
        var found = Recent()
        func take(_ one: Levels) {
            found.vector = max(found.vector, one.velocity.v3)
            found.velocity = max(found.velocity, one.velocity.horizontal.combined(.larger))
            found.displacement = max(found.displacement, one.displacement.combined(.larger))
        }
        take(current)
        for one in buckets { take(one) }
        return found
    }

    /// Ends the current second and returns the levels of the window that ends with it.
    /// - Parameter isAfterStart: whether the window begins, for velocity and displacement, with the first second in which they
    ///   are certain.
    public mutating func endSecond(isAfterStart: Bool = false) -> Levels {
        if isAfterStart { for k in buckets.indices { buckets[k].uncertain.forget(before: current.uncertain) } }
        buckets[position] = current
        position = (position + 1) % buckets.count
        current = Levels()
        // Oldest first, so that of equal peaks the earliest stays.
        var sum = Levels()
        for i in 0..<buckets.count { sum.add(buckets[(position + i) % buckets.count]) }
        return sum
    }
}
