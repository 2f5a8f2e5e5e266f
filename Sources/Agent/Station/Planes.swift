import Seismology
import Settings
import SignalProcessing

/// Working memory for one chunk of samples: made once, used for every chunk, carries nothing from one to the next.
/// (Usable from inline: who destroys a pipeline in another module asks for this type's metadata, which Swift 6.0.3 otherwise
/// leaves out in release, and arm64 does not link.)
@usableFromInline
struct Planes: ~Copyable {
    /// Samples of a chunk at most: enough to amortise the work per call, small enough to stay in the first cache.
    static let capacity = 128

    let raw: UnsafeMutablePointer<Double>
    let offsetRemoved: UnsafeMutablePointer<Double>
    let filtered: UnsafeMutablePointer<Double>
    let rms: UnsafeMutablePointer<Double>
    let velocity: UnsafeMutablePointer<Double>
    let displacement: UnsafeMutablePointer<Double>
    /// One plane: of what Taiwan's scale takes, 0 where nobody asks for it.
    let cwa: UnsafeMutablePointer<Double>
    let triggered: UnsafeMutablePointer<UInt8>
    /// One plane each: how far velocity and displacement may be off where they count in no maximum, else 0; and how far the
    /// acceleration without offset may be off, below 0 where that is of a start.
    let velocityError: UnsafeMutablePointer<Double>
    let displacementError: UnsafeMutablePointer<Double>
    let accelerationError: UnsafeMutablePointer<Double>
    /// At the sample after each spike its height, m/s², else 0; only where ``hasSpikes``.
    let spikes: UnsafeMutablePointer<Double>
    /// One plane: at the sample at which a spike is known to be lone its height, m/s², else 0; only where ``hasLoneSpikes``.
    let loneSpikes: UnsafeMutablePointer<Double>
    /// For whatever the detector at work wants to write down.
    let scratch: UnsafeMutablePointer<Double>
    /// Findings of the detectors, and readings of each that is on at the present sample.
    let detectors: DetectorMemory
    let readings: UnsafeMutablePointer<DetectorReading>
    /// Nanoseconds of UTC of each sample.
    let times: UnsafeMutablePointer<Int64>

    /// Whether one of these errors is not 0.
    let isUncertain: UnsafeMutablePointer<Bool>
    /// Whether the chunk has a spike, and whether one is known to be lone.
    let hasSpikes: UnsafeMutablePointer<Bool>
    let hasLoneSpikes: UnsafeMutablePointer<Bool>

    private let memory: UnsafeMutablePointer<Double>

    init() {
        let (plane, detectors) = (3 * Self.capacity, DetectorBank.count)
        memory = .allocate(capacity: (8 + detectors) * plane + 5 * Self.capacity)
        memory.initialize(repeating: 0, count: (8 + detectors) * plane + 5 * Self.capacity)
        raw = memory
        offsetRemoved = memory + plane
        filtered = memory + 2 * plane
        rms = memory + 3 * plane
        velocity = memory + 4 * plane
        displacement = memory + 5 * plane
        scratch = memory + 6 * plane
        spikes = memory + (7 + detectors) * plane
        cwa = memory + (8 + detectors) * plane
        velocityError = cwa + Self.capacity
        displacementError = velocityError + Self.capacity
        accelerationError = displacementError + Self.capacity
        loneSpikes = accelerationError + Self.capacity
        let bytes = plane + (1 + detectors) * Self.capacity
        triggered = .allocate(capacity: bytes)
        triggered.initialize(repeating: 0, count: bytes)
        self.detectors = DetectorMemory(
            on: triggered + plane, axes: triggered + plane + Self.capacity, values: memory + 7 * plane,
            stride: Self.capacity)
        readings = .allocate(capacity: detectors)
        readings.initialize(repeating: DetectorReading(axes: 0, value: 0, threshold: 0), count: detectors)
        times = .allocate(capacity: Self.capacity)
        times.initialize(repeating: 0, count: Self.capacity)
        isUncertain = .allocate(capacity: 3)
        isUncertain.initialize(repeating: false, count: 3)
        hasSpikes = isUncertain + 1
        hasLoneSpikes = isUncertain + 2
    }

    deinit {
        memory.deallocate()
        triggered.deallocate()
        readings.deallocate()
        times.deallocate()
        isUncertain.deallocate()
    }

    /// The motion at a sample of the chunk.
    @inline(__always)
    func motion(_ i: Int) -> MotionSample {
        let (a, v, d) = (offsetRemoved + i, velocity + i, displacement + i)
        let (y, z) = (Self.capacity, 2 * Self.capacity)
        return MotionSample(
            ax: a[0], ay: a[y], az: a[z], vx: v[0], vy: v[y], vz: v[z], dx: d[0], dy: d[y], cwa: cwa[i],
            velocityError: Float(velocityError[i]), displacementError: Float(displacementError[i]),
            accelerationError: Float(accelerationError[i]))
    }

    /// The errors of the chunk's motion from sample `i` on; nil: there is none.
    func errors(_ i: Int) -> MotionWindow.Errors? {
        guard isUncertain.pointee else { return nil }
        return MotionWindow.Errors(
            velocity: velocityError + i, displacement: displacementError + i, acceleration: accelerationError + i)
    }

    /// The largest motion of the chunk, all of which is uncertain by so much (m/s and m).
    func uncertainPeaks(count: Int, velocity: Double, displacement: Double) -> UncertainPeaks {
        var peaks = UncertainPeaks()
        for i in 0..<count {
            peaks.takeVelocity(self.velocity[i], self.velocity[Self.capacity + i], error: velocity)
            peaks.takeDisplacement(self.displacement[i], self.displacement[Self.capacity + i], error: displacement)
        }
        return peaks
    }

    /// A chunk as detectors see it.
    /// - Parameters:
    ///   - validFrom: the first of its samples whose numbers are to be trusted.
    ///   - axisValidFrom: the first that counts for the level of each axis.
    borrowing func detectorChunk(count: Int, validFrom: Int, axisValidFrom: PerAxis<Int>) -> DetectorChunk {
        DetectorChunk(
            count: count, stride: Self.capacity, raw: raw, offsetRemoved: offsetRemoved, filtered: filtered, rms: rms,
            triggered: triggered, spikes: hasSpikes.pointee ? UnsafePointer(spikes) : nil, scratch: scratch,
            validFrom: validFrom,
            axisValidFrom: (axisValidFrom.x, axisValidFrom.y, axisValidFrom.z))
    }

    /// A detector's ratios at a sample of the chunk.
    @inline(__always)
    borrowing func ratios(of detector: Int, at i: Int) -> Ratios {
        let plane = detectors.values + 3 * detector * Self.capacity + i
        return (plane[0], plane[Self.capacity], plane[2 * Self.capacity])
    }

    /// Copies the three axes of one signal over another.
    static func copy(_ from: UnsafeMutablePointer<Double>, _ to: UnsafeMutablePointer<Double>, count: Int) {
        for axis in 0..<3 { (to + axis * capacity).update(from: from + axis * capacity, count: count) }
    }
}

/// A chunk of all signals for somebody who writes them down; pointers are only valid during the call.
/// The value of an axis (0, 1, 2) at index i lies at `axis × stride + i`.
public struct SeriesChunk {
    public let count: Int
    public let stride: Int
    /// Time of the first sample, nanoseconds of UTC, and of sample i after it: see ``time(_:)``.
    let clock: SampleClock
    /// Number of the chunk's first sample in its stretch without a gap: 0 after a start and after a gap.
    public let firstIndex: Int
    /// m/s².
    public let raw: UnsafePointer<Double>
    public let offsetRemoved: UnsafePointer<Double>
    public let filtered: UnsafePointer<Double>
    public let rms: UnsafePointer<Double>
    /// 0 or 1.
    public let triggered: UnsafePointer<UInt8>
    let ratios: UnsafePointer<Double>

    /// The ratios of a column of ``StationPipeline/ratioColumns``.
    public func ratio(_ column: RatioColumn) -> UnsafePointer<Double> { ratios + column.plane * stride }

    /// Nanoseconds of UTC of sample i of the chunk.
    public func time(_ i: Int) -> Int64 { clock.time(firstIndex + i) }
}

/// One signal of a detector that compares ratios.
public struct RatioColumn: Sendable, Equatable {
    /// Such as `v3_sta_lta`.
    public let name: String
    let plane: Int
}
