import Seismology

/// Working memory for one chunk of samples: made once, used for every chunk, carries nothing from one to the next.
struct Planes: ~Copyable {
    /// Samples of a chunk at most: enough to amortise the work per call, small enough to stay in the first cache.
    static let capacity = 128

    let raw: UnsafeMutablePointer<Double>
    let offsetRemoved: UnsafeMutablePointer<Double>
    let filtered: UnsafeMutablePointer<Double>
    let rms: UnsafeMutablePointer<Double>
    let velocity: UnsafeMutablePointer<Double>
    let displacement: UnsafeMutablePointer<Double>
    let triggered: UnsafeMutablePointer<UInt8>
    /// STA/LTA: of x, y and z, or of one signal in the first third.
    let ratio: UnsafeMutablePointer<Double>
    /// Squares of what STA/LTA sees, m²/s⁴.
    let power: UnsafeMutablePointer<Double>
    /// Axes that STA/LTA is on for, as bits 0, 1, 2 of each sample.
    let ratioOn: UnsafeMutablePointer<UInt8>
    /// Nanoseconds of UTC of each sample.
    let times: UnsafeMutablePointer<Int64>

    private let memory: UnsafeMutablePointer<Double>

    init() {
        let plane = 3 * Self.capacity
        memory = .allocate(capacity: 8 * plane)
        memory.initialize(repeating: 0, count: 8 * plane)
        raw = memory
        offsetRemoved = memory + plane
        filtered = memory + 2 * plane
        rms = memory + 3 * plane
        velocity = memory + 4 * plane
        ratio = memory + 5 * plane
        power = memory + 7 * plane
        displacement = memory + 6 * plane
        triggered = .allocate(capacity: plane + Self.capacity)
        triggered.initialize(repeating: 0, count: plane + Self.capacity)
        ratioOn = triggered + plane
        times = .allocate(capacity: Self.capacity)
        times.initialize(repeating: 0, count: Self.capacity)
    }

    deinit {
        memory.deallocate()
        triggered.deallocate()
        times.deallocate()
    }

    /// The motion at a sample of the chunk.
    @inline(__always)
    func motion(_ i: Int) -> MotionSample {
        let (a, v, d) = (offsetRemoved + i, velocity + i, displacement + i)
        let (y, z) = (Self.capacity, 2 * Self.capacity)
        return MotionSample(ax: a[0], ay: a[y], az: a[z], vx: v[0], vy: v[y], vz: v[z], dx: d[0], dy: d[y])
    }

    /// For when STA/LTA is switched off.
    borrowing func clearRatios() {
        ratio.update(repeating: 0, count: 3 * Self.capacity)
        ratioOn.update(repeating: 0, count: Self.capacity)
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
    /// STA/LTA of the signals in ``StationPipeline/ratioSignals``, one after the other; nil when it is off.
    public let ratio: UnsafePointer<Double>?

    /// Nanoseconds of UTC of sample i of the chunk.
    public func time(_ i: Int) -> Int64 { clock.time(firstIndex + i) }
}
