import Messages
import Settings
import SignalProcessing

/// Decimates the signals that the settings ask for and collects them into blocks.
struct TraceBuilder: Sendable {
    private let factor: Int
    private let delay: Int
    /// Shift of a block's time, nanoseconds: a recursive filter's delay is not a whole number of samples.
    private let shift: Int64
    private let onlyInEvents: Bool
    private let wantsTriggers: Bool
    /// Raw, filtered, RMS as far as they are wanted: x, y, z of each are lanes of the decimator.
    private let signals: [TraceBlock.Signal]
    private var decimator: Decimator
    /// Output of the decimator for the present chunk, and how much of it is in blocks.
    private var outputs: [Double]
    private var used = 0
    /// Trigger flags of the samples that outputs still have to look at; where the next go.
    private var flags: [UInt8]
    private var flagPlace = 0
    private var block: TraceBlock
    private var pushed = 0
    /// How many samples come before the next output.
    private var wait: Int
    private var blockStart = 0
    /// Number in the present stretch of the first sample pushed.
    private var first = 0
    private var eventInBlock = false
    private var gapPending = false

    init(_ configuration: TraceConfiguration, rate: Double) {
        factor = configuration.factor(at: rate)
        onlyInEvents = configuration.onlyInEvents
        var wanted: TraceSignals = []
        for signal in configuration.signals {
            switch signal {
            case .raw: wanted.insert(.raw)
            case .filtered: wanted.insert(.filtered)
            case .rms: wanted.insert(.rms)
            case .triggered: wanted.insert(.triggered)
            }
        }
        var signals: [TraceBlock.Signal] = []
        if wanted.contains(.raw) { signals.append(.raw) }
        if wanted.contains(.filtered) { signals.append(.filtered) }
        if wanted.contains(.rms) { signals.append(.rms) }
        self.signals = signals
        wantsTriggers = wanted.contains(.triggered)
        let filter = DecimationFilter(factor: factor, phase: configuration.filter)
        delay = filter.delay
        shift = Int64((-filter.fraction / rate * 1e9).rounded())
        wait = delay
        decimator = Decimator(filter: filter, lanes: 3 * signals.count, chunk: Planes.capacity)
        outputs = [Double](repeating: 0, count: Planes.capacity * decimator.stride)
        flags = [UInt8](repeating: 0, count: delay + factor + Planes.capacity)
        let outputRate = rate / Double(factor)
        block = TraceBlock(
            capacity: WindowLength.seconds(configuration.block).samples(at: outputRate), rate: outputRate,
            signals: wanted)
    }

    /// Decimates a chunk of all signals; ``push(inEvent:)`` for each of its samples then puts the outputs into blocks.
    mutating func take(_ planes: borrowing Planes, count: Int) {
        let capacity = Planes.capacity
        for (k, signal) in signals.enumerated() {
            let plane =
                switch signal {
                case .raw: planes.raw
                case .filtered: planes.filtered
                case .rms: planes.rms
                }
            for axis in 0..<3 { decimator.load(plane + axis * capacity, lane: 3 * k + axis, count: count) }
        }
        _ = decimator.run(count, into: &outputs)
        used = 0
        guard wantsTriggers else { return }
        let triggered = planes.triggered
        for i in 0..<count {
            flags[flagPlace] = triggered[i] | triggered[capacity + i] << 1 | triggered[2 * capacity + i] << 2
            flagPlace = flagPlace + 1 == flags.count ? 0 : flagPlace + 1
        }
    }

    /// The next sample of the chunk. Returns true when a block is complete.
    mutating func push(inEvent: Bool) -> Bool {
        if inEvent { eventInBlock = true }
        pushed += 1
        guard wait == 0 else {
            wait -= 1
            return false
        }
        wait = factor - 1
        append(pushed - 1 - delay)
        return block.isFull
    }

    /// How many samples complete no block.
    var left: Int { wait + (block.capacity - block.count - 1) * factor }

    /// As many samples as complete no block, all of them outside of an event.
    mutating func advance(_ count: Int) {
        var rest = count
        while rest > wait {
            rest -= wait + 1
            pushed += wait + 1
            wait = factor - 1
            append(pushed - 1 - delay)
        }
        wait -= rest
        pushed += rest
    }

    /// Puts the next output, which lies at sample `centre`, into the block.
    private mutating func append(_ centre: Int) {
        if block.count == 0 {
            blockStart = centre
            block.gap = gapPending
            gapPending = false
        }
        var bits: UInt8 = 0
        if wantsTriggers {
            var place = max(0, centre - factor + 1) % flags.count
            for _ in max(0, centre - factor + 1)...centre {
                bits |= flags[place]
                place = place + 1 == flags.count ? 0 : place + 1
            }
        }
        outputs.withUnsafeBufferPointer { outputs in
            guard let frame = outputs.baseAddress.map({ $0 + used * decimator.stride }) else { return }
            block.append(signals, frame, triggered: bits)
        }
        used += 1
    }

    /// Sends the block as it is, unless it is empty or not wanted, and begins the next.
    /// - Returns: whether there was something to send.
    @discardableResult
    mutating func send(
        _ messenger: inout Messenger, as stream: Messages.Stream = .trace, clock: SampleClock, quality: TimeQuality,
        to sink: PublicationSink
    ) -> Bool {
        let isWanted = block.count > 0 && (!onlyInEvents || eventInBlock)
        if isWanted {
            messenger.send(
                block, as: stream, time: clock.time(first + blockStart) + shift, quality: quality, to: sink)
        }
        block.removeAll()
        eventInBlock = false
        return isWanted
    }

    /// Lets out what the filters still hold: outputs up to the last sample, continued by its value. Calls `send` for
    /// every block that this fills; the last one stays to be sent by the caller.
    mutating func drain(_ send: (inout TraceBuilder) -> Void) {
        guard pushed > 0 else { return }
        for _ in 0..<delay {
            let complete = decimator.repeatLast(1, into: &outputs) > 0
            used = 0
            if complete { append(pushed - delay) }
            pushed += 1
            if block.isFull { send(&self) }
        }
    }

    /// Begins in the middle of a stretch, with the sample of this number; the first block says so by a gap.
    mutating func begin(at index: Int) {
        first = index
        gapPending = true
    }

    /// Forgets all samples; the next block says that there was a gap.
    mutating func reset(gap: Bool) {
        first = 0
        decimator.reset()
        block.removeAll()
        pushed = 0
        flagPlace = 0
        wait = delay
        gapPending = gap
    }
}

/// Brings the acceleration, without offset and gravity, to OpenEEW's rate and sends 32 values of each axis at a time, at
/// times that are the same for all stations. (An object: most stations have none.)
final class OpenEEWSender {
    private var message: OpenEEWMessage
    private var resampler: Resampler
    /// Nanoseconds from one sample to the next, and from the last to the one around which all is known.
    private let (period, lead): (Double, Int64)
    private var grid: TimeGrid?
    /// The next place of the grid.
    private var place = 0
    private var values = [Float](repeating: 0, count: 3 * OpenEEWMessage.count)
    private var count = 0

    /// Nil where it is not wanted.
    /// - Parameter rate: of the sensor (Hz).
    init?(_ configuration: Configuration, rate: Double) {
        let wanted = configuration.mqtt.openEEW
        guard wanted.enabled else { return nil }
        message = OpenEEWMessage(
            topic: wanted.topic, country: wanted.country, device: configuration.station.id)
        resampler = Resampler(ratio: rate / OpenEEWMessage.rate, chunk: 1)
        period = 1e9 / rate
        lead = Int64((Double(resampler.reach) * period).rounded())
    }

    /// Forgets all samples: what follows does not continue them.
    func reset() {
        resampler.reset()
        (grid, count) = (nil, 0)
    }

    /// Takes samples of the chunk.
    func take(_ planes: borrowing Planes, from start: Int, count samples: Int, to sink: PublicationSink) {
        let (signal, capacity) = (planes.offsetRemoved, Planes.capacity)
        for i in start..<start + samples {
            resampler.push(signal[i], signal[capacity + i], signal[2 * capacity + i])
            let centre = resampler.count - 1 - resampler.reach
            guard centre > 0 else { continue }
            let time = planes.times[i] - lead
            // (From a multiple of four seconds, which hold a whole number of values, so that all stations have one grid.)
            let grid = grid ?? TimeGrid(near: time - time % 4_000_000_000, rate: OpenEEWMessage.rate)
            if self.grid == nil { (self.grid, place) = (grid, grid.index(from: time)) }
            while grid.time(place) <= time {
                let back = min(1, Double(time - grid.time(place)) / period)
                add(resampler.value(at: centre - 1, 1 - back), grid.time(place), to: sink)
                place += 1
            }
        }
    }

    private func add(_ value: (x: Double, y: Double, z: Double), _ time: Int64, to sink: PublicationSink) {
        let most = OpenEEWMessage.count
        (values[count], values[most + count], values[2 * most + count]) = (
            Float(value.x), Float(value.y), Float(value.z)
        )
        count += 1
        guard count == most else { return }
        count = 0
        message.send(values, time: time, to: sink)
    }
}
