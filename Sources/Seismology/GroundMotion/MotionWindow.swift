/// RMS and peaks of the ground motion over the last whole seconds.
///
/// The window is a ring of one-second buckets, so a sample costs the same for any window, and the window at a second's
/// end holds exactly its samples.
public struct MotionWindow: Sendable {
    /// Sums and peaks of some samples.
    public struct Levels: Sendable, Equatable {
        public var samples = 0
        /// Sums of squares, m²/s⁴.
        public var squaresX = 0.0
        public var squaresY = 0.0
        public var squaresZ = 0.0
        /// Peaks of |x|, |y|, |z|, of the horizontal and of the 3-D vector, m/s².
        public var peakX = 0.0
        public var peakY = 0.0
        public var peakZ = 0.0
        public var peakH = 0.0
        public var peakV3 = 0.0
        /// The acceleration at the peak of the 3-D vector, m/s².
        public var strongest: (x: Double, y: Double, z: Double) = (0, 0, 0)
        /// Peaks of velocity, m/s.
        public var velocityX = 0.0
        public var velocityY = 0.0
        public var velocityH = 0.0

        public init() {}

        public static func == (a: Self, b: Self) -> Bool {
            a.samples == b.samples && a.squaresX == b.squaresX && a.squaresY == b.squaresY && a.squaresZ == b.squaresZ
                && a.peakX == b.peakX && a.peakY == b.peakY && a.peakZ == b.peakZ && a.peakH == b.peakH
                && a.peakV3 == b.peakV3 && a.strongest == b.strongest && a.velocityX == b.velocityX
                && a.velocityY == b.velocityY && a.velocityH == b.velocityH
        }

        mutating func add(_ s: MotionSample) {
            samples += 1
            let (xx, yy, zz) = (s.ax * s.ax, s.ay * s.ay, s.az * s.az)
            squaresX += xx
            squaresY += yy
            squaresZ += zz
            peakX = max(peakX, abs(s.ax))
            peakY = max(peakY, abs(s.ay))
            peakZ = max(peakZ, abs(s.az))
            let horizontal = xx + yy
            peakH = max(peakH, horizontal.squareRoot())
            let vector = (horizontal + zz).squareRoot()
            if vector > peakV3 {
                peakV3 = vector
                strongest = (s.ax, s.ay, s.az)
            }
            velocityX = max(velocityX, abs(s.vx))
            velocityY = max(velocityY, abs(s.vy))
            velocityH = max(velocityH, (s.vx * s.vx + s.vy * s.vy).squareRoot())
        }

        mutating func add(_ other: Levels) {
            samples += other.samples
            squaresX += other.squaresX
            squaresY += other.squaresY
            squaresZ += other.squaresZ
            peakX = max(peakX, other.peakX)
            peakY = max(peakY, other.peakY)
            peakZ = max(peakZ, other.peakZ)
            peakH = max(peakH, other.peakH)
            if other.peakV3 > peakV3 {
                peakV3 = other.peakV3
                strongest = other.strongest
            }
            velocityX = max(velocityX, other.velocityX)
            velocityY = max(velocityY, other.velocityY)
            velocityH = max(velocityH, other.velocityH)
        }

        /// √(squares / samples), 0 without samples.
        public func rms(_ squares: Double) -> Double {
            samples > 0 ? (squares / Double(samples)).squareRoot() : 0
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

    /// Takes one sample.
    public mutating func add(_ sample: MotionSample) { current.add(sample) }

    /// Ends the current second and returns the levels of the window that ends with it.
    public mutating func endSecond() -> Levels {
        buckets[position] = current
        position = (position + 1) % buckets.count
        current = Levels()
        // Oldest first, so that of equal peaks the earliest stays.
        var sum = Levels()
        for i in 0..<buckets.count { sum.add(buckets[(position + i) % buckets.count]) }
        return sum
    }
}
