import SignalProcessing

/// Quantities, band and interval of a measurement.
public struct VibrationMeasurement: Sendable, Equatable {
    public var band = VibrationBand.din
    /// Weightings of x, y and z.
    public var weightings: [FrequencyWeighting] = [.wd, .wd, .wk]
    /// Seconds; divides an hour.
    public var interval = 60

    public init() {}
}

/// Measures vibration from acceleration, interval by interval, aligned to UTC. The acceleration may have an offset, such as
/// gravity: all filters begin as if the first sample had always been there. Pure and streaming: the same bits for any size
/// of block; no allocation a sample.
///
/// Signals of each axis: acceleration → low pass of the band → high pass (acceleration in the band) or high pass with
/// integral (velocity) → the same once more (displacement); velocity → 5.6 Hz (felt); acceleration → weighting.
public struct VibrationMeter: Sendable {
    /// The intervals that the last call of ``process(_:stride:times:count:)`` has completed, with the sample of the chunk at
    /// which each was, in order.
    public private(set) var completed: [(interval: VibrationInterval, sample: Int)] = []

    private let rate: Double
    private let length: Int
    private let settle: Int
    /// Samples after the end of an interval until the crossing after its last peak must have come.
    private let wait: Int
    private var lowpass: AxisFilter
    private var highpass: AxisFilter
    private var integral: AxisFilter
    private var second: AxisFilter
    private var felt: AxisFilter
    private var weighting: AxisFilter
    /// Five signals of three planes, before each plane its history; two planes of the vector sum, of which the last has one
    /// sample more than a chunk.
    private var memory = [Double](repeating: 0, count: Self.planes)
    private static let planes = 17 * Self.stride + 1
    private static let stride = VibrationSignals.capacity + VibrationSignals.history

    private var cycles: [HalfCycles]
    private var levels: [MotionLevels]
    private var strengths: [FeltStrength]
    private var doses: [VibrationDose]

    /// Samples of the stretch until filters have settled.
    private var unsettled: Int
    /// Error that the first sample leaves in the velocity.
    private var transient: StartTransient
    /// Begin and end of the present interval, ns of UTC; nil before the first sample.
    private var present: (start: Int64, end: Int64)?
    private var samples = 0
    private var gaps = 0
    private var interruptions: VibrationInterval.Interruptions = []
    /// Reason why filters are settling: of the interval that has the first sample after that.
    private var settling: VibrationInterval.Interruptions = .start
    /// The last interval that is over. (Always the same one, so that it needs no memory each time.)
    private var last = VibrationInterval()
    /// Whether it waits for its last peaks, and samples since its end.
    private var isClosing = false
    private var sinceEnd = 0

    /// - Parameter rate: samples per second.
    public init(_ measurement: VibrationMeasurement, rate: Double) throws(VibrationError) {
        guard measurement.interval >= 10, 3600 % measurement.interval == 0 else {
            throw .interval(measurement.interval)
        }
        let band = try measurement.band.design(rate: rate)
        // An interval must be over before the next one is, with what waits for its end.
        guard measurement.band.lower >= 0.5 else { throw .corners(measurement.band.lower, measurement.band.upper) }
        self.rate = rate
        length = measurement.interval
        // As if the first sample had always been there: what is left of an offset is no step.
        func three(_ sections: [Section]) -> FilterSpecification.Design { .init(sections, start: .steady) }
        func alike(_ section: Section) -> AxisFilter {
            AxisFilter(three([section]), three([section]), three([section]))
        }
        (lowpass, highpass, integral) = (alike(band.lowpass), alike(band.highpass), alike(band.integral))
        second = integral
        do throws(FilterDesignError) {
            let first = ButterworthSpecification(band: .highpass, corners: [FeltStrength.corner], order: 1)
            let design = FilterSpecification.Design(try first.sections(rate: rate), start: .zero)
            felt = AxisFilter(design, design, design)
        } catch { throw .rate(rate) }
        let w = measurement.weightings
        let (x, y, z) = (
            try w[0].sections(rate: rate), try w[1].sections(rate: rate), try w[2].sections(rate: rate)
        )
        weighting = AxisFilter(three(x), three(y), three(z))
        let slowest = ([band.integral] + x + y + z).map(\.decayPerSample).min() ?? 1
        // Six time constants: 0.25 %.
        settle = Int((6 / slowest).rounded(.up))
        unsettled = settle
        transient = StartTransient(integral, rate: rate)
        wait = PeakInterpolation.reach + Int((rate / measurement.band.lower).rounded(.up))
        let interpolation = PeakInterpolation()
        cycles = (0..<3).map { HalfCycles(axis: $0, rate: rate, interpolation: interpolation) }
        levels = Array(repeating: MotionLevels(interpolation: interpolation), count: 3)
        strengths = Array(repeating: FeltStrength(rate: rate), count: 3)
        doses = Array(repeating: VibrationDose(rate: rate, interpolation: interpolation), count: 3)
    }

    /// Says why it begins, where that is no start.
    public mutating func begin(_ reason: VibrationInterval.Interruptions) { settling = reason }

    /// The next sample does not follow the last. The present interval goes on, without what is missing of it.
    /// - Parameter reason: why it does not; of the first one, why measuring began stands.
    public mutating func reset(_ reason: VibrationInterval.Interruptions = .gap) {
        lowpass.reset()
        highpass.reset()
        integral.reset()
        second.reset()
        felt.reset()
        weighting.reset()
        transient = StartTransient(of: transient)
        interrupt(reason)
    }

    /// Samples are missing, and the filters are given estimates of them by ``bridge(_:stride:count:)``, or the level that was
    /// there before. The present interval goes on, without what is missing of it.
    /// - Parameter reason: why they are missing; of the first one, why measuring began stands.
    public mutating func interrupt(_ reason: VibrationInterval.Interruptions = .gap) {
        for i in memory.indices { memory[i] = 0 }
        for k in 0..<3 {
            cycles[k].reset()
            strengths[k].reset()
        }
        if samples > 0 {
            gaps += 1
            interruptions.formUnion(reason)
        }
        if settling.isEmpty { settling = reason }
        unsettled = settle
    }

    /// Gives the filters at most 128 samples that are not measured, before the next one that is.
    /// - Parameter acceleration: m/s², three planes a stride apart.
    public mutating func bridge(_ acceleration: UnsafePointer<Double>, stride: Int, count: Int) {
        guard count > 0 else { return }
        transient.known()
        var memory: [Double] = []
        swap(&memory, &self.memory)
        let times = [Int64](repeating: 0, count: count)
        memory.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            _ = times.withUnsafeBufferPointer { times in
                times.baseAddress.map { filter(acceleration, stride, base, $0, count) }
            }
        }
        swap(&memory, &self.memory)
    }

    /// Takes a chunk of at most 128 samples; ``completed`` then has what is complete.
    /// - Parameters:
    ///   - acceleration: m/s², three planes a stride apart.
    ///   - times: of its samples, ns of UTC.
    public mutating func process(
        _ acceleration: UnsafePointer<Double>, stride: Int, times: UnsafePointer<Int64>, count: Int
    ) {
        completed.removeAll(keepingCapacity: true)
        guard count > 0 else { return }
        var memory: [Double] = []
        swap(&memory, &self.memory)
        memory.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            let signals = filter(acceleration, stride, base, times, count)
            measure(signals, acceleration, stride, count)
            // The next chunk looks back to these samples.
            for number in 0..<15 {
                let plane = base + number * Self.stride
                plane.update(from: plane + count, count: VibrationSignals.history)
            }
        }
        swap(&memory, &self.memory)
    }

    /// Ends the present interval at once, such as at the end of a recording.
    /// - Parameter reason: why.
    /// - Returns: the intervals that were not complete.
    public mutating func finish(_ reason: VibrationInterval.Interruptions = .stop) -> [VibrationInterval] {
        var rest: [VibrationInterval] = []
        if let last = takeClosing() { rest.append(last) }
        guard let present, samples > 0 else { return rest }
        interruptions.formUnion(reason)
        close(start: present.start)
        self.present = nil
        if let last = takeClosing() { rest.append(last) }
        return rest
    }

    // MARK: Signals

    private mutating func filter(
        _ acceleration: UnsafePointer<Double>, _ stride: Int, _ base: UnsafeMutablePointer<Double>,
        _ times: UnsafePointer<Int64>, _ count: Int
    ) -> VibrationSignals {
        let s = Self.stride
        let first = base + VibrationSignals.history
        let (a, v, d, k, w) = (first, first + 3 * s, first + 6 * s, first + 9 * s, first + 12 * s)
        let (sums, leads) = (first + 15 * s, first + 16 * s)
        precondition(count <= VibrationSignals.capacity && leads + count < base + Self.planes, "a plane is too short")
        for axis in 0..<3 {
            (a + axis * s).update(from: acceleration + axis * stride, count: count)
            (w + axis * s).update(from: acceleration + axis * stride, count: count)
        }
        weighting.process(w, w + s, w + 2 * s, count: count)
        lowpass.process(a, a + s, a + 2 * s, count: count)
        for axis in 0..<3 {
            // mm/s from here on.
            let (from, to) = (a + axis * s, v + axis * s)
            for i in 0..<count { to[i] = 1000 * from[i] }
        }
        highpass.process(a, a + s, a + 2 * s, count: count)
        integral.process(v, v + s, v + 2 * s, count: count)
        for axis in 0..<3 {
            (d + axis * s).update(from: v + axis * s, count: count)
            (k + axis * s).update(from: v + axis * s, count: count)
        }
        second.process(d, d + s, d + 2 * s, count: count)
        felt.process(k, k + s, k + 2 * s, count: count)
        let late = v - PeakInterpolation.reach
        for i in -1...count {
            let (x, y, z) = (late[i] * late[i], late[s + i] * late[s + i], late[2 * s + i] * late[2 * s + i])
            sums[i] = x + y + z
            leads[i] = x >= max(y, z) ? 0 : y >= z ? 1 : 2
        }
        return VibrationSignals(
            stride: s, acceleration: a, velocity: v, displacement: d, felt: k, weighted: w, sums: sums, leads: leads,
            times: times)
    }

    // MARK: Intervals

    private mutating func measure(
        _ signals: VibrationSignals, _ acceleration: UnsafePointer<Double>, _ stride: Int, _ count: Int
    ) {
        var i = 0
        while i < count {
            let time = signals.times[i]
            if unsettled > 0 {
                // Until the filters have settled, and what the first sample left in them is small beside the motion.
                let isOver = transient.take(acceleration + i, stride: stride, signals.velocity + i, signals.stride)
                unsettled = max(isOver ? 0 : 1, unsettled - 1)
                for axis in 0..<3 { cycles[axis].pass(signals.velocity + axis * signals.stride, from: i) }
                i += 1
                continue
            }
            if let present, time >= present.end || time < present.start - 1_000_000_000 {
                // A clock that was set may end two at once.
                if let last = takeClosing() { completed.append((last, i)) }
                close(start: present.start)
                self.present = nil
            }
            let (start, end) = present ?? Self.interval(of: time, length)
            present = (start, end)
            var n = count - i
            if signals.times[count - 1] >= end {
                var k = i + 1
                while k < count, signals.times[k] < end { k += 1 }
                n = k - i
            }
            // Up to where the last peak of the interval before is known, and its frequency.
            if isClosing {
                n = min(n, sinceEnd < PeakInterpolation.reach ? PeakInterpolation.reach - sinceEnd : wait - sinceEnd)
            }
            take(signals, i, n, start)
            i += n
            guard isClosing else { continue }
            sinceEnd += n
            if sinceEnd == PeakInterpolation.reach { closePeaks() }
            if sinceEnd == wait, let last = takeClosing() { completed.append((last, i - 1)) }
        }
    }

    private mutating func take(_ signals: VibrationSignals, _ i: Int, _ n: Int, _ start: Int64) {
        for axis in 0..<3 {
            let plane = axis * signals.stride
            cycles[axis].process(signals, from: i, count: n)
            levels[axis].process(signals, axis: axis, from: i, count: n)
            strengths[axis].process(signals.felt + plane, signals.times, interval: start, from: i, count: n)
            doses[axis].process(signals.weighted + plane, from: i, count: n)
        }
        samples += n
        guard !settling.isEmpty else { return }
        (interruptions, settling) = (interruptions.union(settling), [])
    }

    /// The interval's begin and end around a time.
    private static func interval(of time: Int64, _ length: Int) -> (start: Int64, end: Int64) {
        let step = Int64(length) * 1_000_000_000
        let rest = ((time % step) + step) % step
        return (time - rest, time - rest + step)
    }

    /// The interval is over but for its last peaks.
    private mutating func close(start: Int64) {
        (last.start, last.length, last.samples, last.gaps) = (start, length, samples, gaps)
        last.seconds = Double(samples) / rate
        last.interruptions = interruptions
        for axis in 0..<3 {
            let strength = strengths[axis].close()
            last.axes[axis].rms = levels[axis].close(samples: samples)
            (last.axes[axis].kbFmax, last.axes[axis].kbFTm) = (strength.largest, strength.takts)
            last.axes[axis].weightedRMS = doses[axis].close(samples: samples)
        }
        (samples, gaps, sinceEnd, interruptions) = (0, 0, 0, [])
        isClosing = true
    }

    private mutating func closePeaks() {
        for axis in 0..<3 {
            cycles[axis].close()
            let (level, fourth) = (levels[axis].closePeaks(), doses[axis].closeDose())
            (last.axes[axis].displacement, last.axes[axis].acceleration) = (level.displacement, level.acceleration)
            (last.axes[axis].dose, last.axes[axis].doseFourth) = (fourth.squareRoot().squareRoot(), fourth)
        }
    }

    /// The interval that is over, with what is known of its peaks now.
    private mutating func takeClosing() -> VibrationInterval? {
        guard isClosing else { return nil }
        if sinceEnd < PeakInterpolation.reach { closePeaks() }
        isClosing = false
        for axis in 0..<3 {
            cycles[axis].finish(isLow: sinceEnd >= wait)
            let peak = cycles[axis].result.peak
            (last.axes[axis].ppv, last.axes[axis].ppvTime) = (peak.value, peak.time)
            last.axes[axis].frequency = peak.frequency
        }
        let strongest = (0..<3).max { cycles[$0].result.vectorPeak.value < cycles[$1].result.vectorPeak.value } ?? 0
        let vector = cycles[strongest].result.vectorPeak
        (last.pvs, last.pvsTime) = (vector.value, vector.time)
        last.halfCycles.removeAll(keepingCapacity: true)
        for lane in 0..<LimitCurves.most { add(lane, isVector: false) }
        if vector.value > 0 {
            last.halfCycles.append(
                .init(axis: nil, value: vector.value, time: vector.time, frequency: vector.frequency))
        }
        for lane in 0..<LimitCurves.most { add(lane, isVector: true) }
        return last
    }

    /// Adds the half cycle that is nearest to a curve, if nothing else has it.
    private mutating func add(_ lane: Int, isVector: Bool) {
        func nearest(_ axis: Int) -> HalfCycles.Nearest {
            isVector ? cycles[axis].result.vectorNearest : cycles[axis].result.nearest
        }
        let axis = (0..<3).max { nearest($0).shares[lane] < nearest($1).shares[lane] } ?? 0
        let found = nearest(axis)
        guard found.shares[lane] > 0 else { return }
        let (value, time, frequency) = (found.values[lane], found.times[lane], found.frequencies[lane])
        let cycle = VibrationInterval.HalfCycle(
            axis: isVector ? nil : axis, value: value, time: time, frequency: frequency > 0 ? frequency : nil)
        let isPeak = !isVector && value == last.axes[axis].ppv && time == last.axes[axis].ppvTime
        if !isPeak, !last.halfCycles.contains(cycle) { last.halfCycles.append(cycle) }
    }
}
