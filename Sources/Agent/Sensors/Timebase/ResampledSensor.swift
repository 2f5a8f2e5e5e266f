import Instruments
import SignalProcessing

/// Puts the samples of another sensor on a grid of UTC: so many to a second, the first of each at the second itself.
///
/// It knows the samples' times from that sensor's blocks and the true rate from its condition. A gap stays a gap: up to
/// it goes on what there is, after it the grid begins with the first moment that has samples. It holds back the reach
/// of the filter (``Resampler``), 16 samples; the times of the blocks are those of the grid.
struct ResampledSensor: SensorDriver {
    private var sensor: any SensorDriver
    private let rate: Double
    private var description: SensorDescription?
    private var stage: ResampledStretch?
    private var input = SampleBlock(capacity: 1)
    /// A block of the next stretch is in `input` and waits until all of the present one has gone out.
    private var isHeld = false
    private var hasEnded = false
    /// The last moment that went out.
    private var last: Int64?
    /// The next stretch begins with a gap in which samples were lost.
    private var lostBefore = 0

    /// - Parameter rate: samples per second of the grid.
    init(_ sensor: any SensorDriver, rate: Double) {
        self.sensor = sensor
        self.rate = rate
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        close()
        var description = try sensor.open()
        guard description.rate / rate <= Resampler.largestRatio else {
            sensor.close()
            throw SensorError(
                .unsupported,
                "\(description.chip): \(description.rate) Hz cannot be resampled to \(rate) Hz: the ratio must be at most 64 to 1"
            )
        }
        self.description = description
        description.rate = rate
        return description
    }

    mutating func close() {
        sensor.close()
        (stage, description, last) = (nil, nil, nil)
        (isHeld, hasEnded) = (false, false)
    }

    var condition: SensorCondition {
        var condition = sensor.condition
        if let description, description.rate != rate {
            condition.notes.append("resampled to \(rate) Hz from \(description.rate) Hz")
        }
        return condition
    }

    mutating func selfTest() throws(SensorError) -> SelfTestReport { try sensor.selfTest() }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard let description else { throw SensorError(.fault, "the sensor is not open") }
        while true {
            emit(into: &block, all: isHeld || hasEnded)
            if block.count == block.capacity { return .samples }
            if isHeld || hasEnded {
                // The stretch is over.
                if block.count > 0 { return .samples }
                if isHeld { begin(description) } else { return .end }
                continue
            }
            // A live sensor must not keep its reader longer than it has to.
            if block.count > 0, description.clock == .host { return .samples }
            try readOn(description, block.capacity)
        }
    }

    /// Reads the next block of the sensor and adds it to the stretch, or holds it when it does not follow.
    private mutating func readOn(_ description: SensorDescription, _ capacity: Int) throws(SensorError) {
        if stage == nil {
            input = SampleBlock(capacity: max(1, Int((Double(capacity) * description.rate / rate).rounded())))
        }
        if try sensor.read(into: &input) == .end {
            hasEnded = true
            return
        }
        if stage == nil { return begin(description) }
        let interval = 1e9 / (sensor.condition.rate?.rate ?? description.rate)
        if input.gapBefore || stage?.append(input, interval: interval) == false { isHeld = true }
    }

    /// Begins a stretch with the block that was read last.
    private mutating func begin(_ description: SensorDescription) {
        let measured = sensor.condition.rate?.rate ?? description.rate
        let resampler = stage?.resampler ?? Resampler(ratio: description.rate / rate, chunk: input.capacity)
        lostBefore = input.lostBefore
        stage = ResampledStretch(resampler, input, interval: 1e9 / measured, rate: rate)
        isHeld = false
    }

    private mutating func emit(into block: inout SampleBlock, all: Bool) {
        guard stage != nil else { return }
        let isFirst = stage?.isNew ?? false
        stage?.emit(into: &block, all: all)
        guard block.count > 0 else { return }
        if isFirst {
            block.gapBefore = true
            if let last, lostBefore > 0 {
                block.lostBefore = max(0, Int((Double(block.time - last) * rate / 1e9).rounded()) - 1)
            }
        }
        last = block.time + Int64((Double(block.count - 1) * 1e9 / rate).rounded())
    }
}

/// One unbroken stretch of samples and how much of it is on the grid.
struct ResampledStretch: Sendable {
    private(set) var resampler: Resampler
    private var line: SampleLine
    private let grid: TimeGrid
    /// Next place of the grid.
    private var next: Int
    /// True until the first block has gone out.
    private(set) var isNew = true

    init(_ resampler: Resampler, _ block: SampleBlock, interval: Double, rate: Double) {
        self.resampler = resampler
        self.resampler.reset()
        let time = Self.bounded(block.time)
        line = SampleLine(time: time, interval: interval)
        grid = TimeGrid(near: time, rate: rate)
        next = grid.index(from: time)
        push(block)
    }

    /// Adds a block that follows; false, and nothing is added, when its time says that it does not.
    mutating func append(_ block: SampleBlock, interval: Double) -> Bool {
        guard line.advance(to: resampler.count, time: Self.bounded(block.time), interval: interval, count: block.count)
        else {
            return false
        }
        push(block)
        return true
    }

    /// A time that can be reckoned with; what a recording says may be anything.
    private static func bounded(_ time: Int64) -> Int64 {
        min(max(time, -4_500_000_000_000_000_000), 4_500_000_000_000_000_000)
    }

    private mutating func push(_ block: SampleBlock) {
        for i in 0..<block.count { resampler.push(block[0, i], block[1, i], block[2, i]) }
    }

    /// Appends what is known to a block, up to its capacity.
    /// - Parameter all: up to the last sample, since no more will come.
    mutating func emit(into block: inout SampleBlock, all: Bool) {
        while block.count < block.capacity {
            let time = grid.time(next)
            let place = line.place(of: time)
            let needed = all ? place.index + (place.fraction > 0 ? 1 : 0) : place.index + resampler.reach
            guard needed < resampler.count else { return }
            if block.count == 0 { block.time = time }
            let value = resampler.value(at: place.index, place.fraction)
            block.append(value.x, value.y, value.z)
            next += 1
            isNew = false
        }
    }
}
