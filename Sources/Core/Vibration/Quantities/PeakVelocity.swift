/// Peak particle velocity of one axis in an interval: the largest |v|, its time, and its frequency, 1/(2 Δt) of the zero
/// crossings around it, which are interpolated (DIN 45669-1, ISO 4866). Nil where there is none on one side.
///
/// It runs ``PeakInterpolation/reach`` samples behind, because a peak between two samples needs those after it; and the
/// crossing after a peak may come when its interval is over.
struct PeakVelocity: Sendable {
    struct Result: Sendable, Equatable {
        /// mm/s.
        var value = 0.0
        /// Nanoseconds of UTC.
        var time: Int64 = 0
        /// Hz.
        var frequency: Double?
    }

    /// A peak, with the crossing before it as samples since the last gap.
    private struct Peak: Sendable {
        var result = Result()
        var before: Double?
        var isWaiting = false

        mutating func cross(at place: Double, rate: Double) {
            guard isWaiting else { return }
            isWaiting = false
            if let before { result.frequency = rate / (2 * (place - before)) }
        }
    }

    private let rate: Double
    private let interpolation: PeakInterpolation
    private var present = Peak()
    private var closed = Peak()
    private var crossing: Double?
    /// Samples since the last gap.
    private var place = 0.0

    init(rate: Double, interpolation: PeakInterpolation) { (self.rate, self.interpolation) = (rate, interpolation) }

    /// The next sample does not follow the last.
    mutating func reset() {
        (crossing, place) = (nil, 0)
        present.isWaiting = false
        closed.isWaiting = false
    }

    /// Follows the crossings of a sample that counts in no peak.
    mutating func pass(_ velocity: UnsafePointer<Double>, from i: Int) {
        let v = velocity + (i - PeakInterpolation.reach)
        place += 1
        if (v[0] < 0) != (v[-1] < 0) { crossing = place - v[0] / (v[0] - v[-1]) }
    }

    /// Takes the samples that lie ``PeakInterpolation/reach`` before those from `start` on.
    /// - Parameters:
    ///   - velocity: of the axis, at the chunk's first sample.
    ///   - times: of the chunk, nanoseconds of UTC.
    mutating func process(
        _ velocity: UnsafePointer<Double>, _ times: UnsafePointer<Int64>, from start: Int, count: Int
    ) {
        var (place, gate) = (place, 0.7 * present.result.value)
        for i in start..<start + count {
            let v = velocity + (i - PeakInterpolation.reach)
            let (value, last) = (v[0], v[-1])
            place += 1
            if (value < 0) != (last < 0) {
                let cross = place - value / (value - last)
                crossing = cross
                present.cross(at: cross, rate: rate)
                closed.cross(at: cross, rate: rate)
            }
            let size = abs(value)
            guard size > gate else { continue }
            // The largest may stand at the end of the interval, on a slope.
            var peak = (value: size, shift: 0.0)
            if size >= abs(last), size >= abs(v[1]) { peak = interpolation.peak(v) }
            guard peak.value > present.result.value else { continue }
            let shift = (peak.shift - Double(PeakInterpolation.reach)) * 1e9 / rate
            present = Peak(
                result: Result(value: peak.value, time: times[i] + Int64(shift.rounded())), before: crossing,
                isWaiting: true)
            gate = 0.7 * peak.value
        }
        self.place = place
    }

    /// The interval is over; its frequency may still be found.
    mutating func close() { (closed, present) = (present, Peak()) }

    /// Of the interval that is over.
    var result: Result { closed.result }
}
