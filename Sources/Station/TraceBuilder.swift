import Messages
import Settings
import SignalProcessing

/// Decimates the signals that the settings ask for and collects them into blocks.
struct TraceBuilder: Sendable {
    private let factor: Int
    private let delay: Int
    private let signals: TraceSignals
    private let onlyInEvents: Bool
    /// Raw, filtered, RMS of x, y, z; empty where a signal is not wanted.
    private var decimators: [Decimator]
    /// Trigger flags of the samples that outputs still have to look at.
    private var flags: [UInt8]
    private var block: TraceBlock
    private var pushed = 0
    /// Where the next flags go, and how many samples come before the next output.
    private var flagPlace = 0
    private var wait: Int
    private var blockStart = 0
    private var eventInBlock = false
    private var gapPending = false

    init(_ configuration: TraceConfiguration, rate: Double) {
        factor = max(1, Int((rate / configuration.rate).rounded()))
        onlyInEvents = configuration.onlyInEvents
        var signals: TraceSignals = []
        for signal in configuration.signals {
            switch signal {
            case .raw: signals.insert(.raw)
            case .filtered: signals.insert(.filtered)
            case .rms: signals.insert(.rms)
            case .triggered: signals.insert(.triggered)
            }
        }
        self.signals = signals
        let filter = DecimationFilter(factor: factor)
        delay = filter.halfLength
        wait = delay
        decimators = (0..<9).map { _ in Decimator(filter: filter) }
        flags = [UInt8](repeating: 0, count: delay + factor + 1)
        let outputRate = rate / Double(factor)
        block = TraceBlock(
            capacity: WindowLength.seconds(configuration.block).samples(at: outputRate), rate: outputRate,
            signals: signals)
    }

    /// One sample of all signals. Returns true when a block is complete.
    mutating func push(_ planes: borrowing Planes, _ i: Int, inEvent: Bool) -> Bool {
        if inEvent { eventInBlock = true }
        var bits: UInt8 = 0
        for axis in 0..<3 where planes.triggered[axis * Planes.capacity + i] != 0 { bits |= 1 << UInt8(axis) }
        flags[flagPlace] = bits
        flagPlace = flagPlace + 1 == flags.count ? 0 : flagPlace + 1
        var index: Int?
        if wait == 0 {
            index = extend(pushed - delay)
            wait = factor
        }
        wait -= 1
        for axis in 0..<3 {
            let at = axis * Planes.capacity + i
            if signals.contains(.raw) { run(.raw, axis, planes.raw[at], index) }
            if signals.contains(.filtered) { run(.filtered, axis, planes.filtered[at], index) }
            if signals.contains(.rms) { run(.rms, axis, planes.rms[at], index) }
        }
        pushed += 1
        return block.isFull
    }

    private mutating func run(_ signal: TraceBlock.Signal, _ axis: Int, _ value: Double, _ index: Int?) {
        guard let output = decimators[axis * 3 + signal.rawValue].push(value), let index else { return }
        block.set(signal, axis: axis, at: index, output)
    }

    /// Makes room for the output that lies at sample `centre`, and sets its trigger flags.
    private mutating func extend(_ centre: Int) -> Int? {
        if block.count == 0 {
            blockStart = centre
            block.gap = gapPending
            gapPending = false
        }
        guard let index = block.extend() else { return nil }
        guard signals.contains(.triggered) else { return index }
        var bits: UInt8 = 0
        for k in max(0, centre - factor + 1)...centre { bits |= flags[k % flags.count] }
        for axis in 0..<3 { block.setTriggered(axis: axis, at: index, bits & (1 << UInt8(axis)) != 0) }
        return index
    }

    /// Sends the block as it is, unless it is empty or not wanted, and begins the next.
    mutating func send(
        _ messenger: inout Messenger, clock: SampleClock, quality: TimeQuality, to sink: PublicationSink
    ) {
        if block.count > 0, !onlyInEvents || eventInBlock {
            messenger.send(block, time: clock.time(blockStart), quality: quality, to: sink)
        }
        block.removeAll()
        eventInBlock = false
    }

    /// Lets out what the filters still hold: outputs up to the last sample, continued by its value. Calls `send` for
    /// every block that this fills; the last one stays to be sent by the caller.
    mutating func drain(_ send: (inout TraceBuilder) -> Void) {
        guard pushed > 0 else { return }
        let end = pushed
        let lastFlags = flags[(pushed - 1) % flags.count]
        for _ in 0..<delay {
            flags[pushed % flags.count] = lastFlags
            let centre = pushed - delay
            let index = centre >= 0 && centre % factor == 0 && centre < end ? extend(centre) : nil
            for k in decimators.indices {
                guard let signal = TraceBlock.Signal(rawValue: k % 3), uses(signal) else { continue }
                let output = decimators[k].repeatLast()
                if let output, let index { block.set(signal, axis: k / 3, at: index, output) }
            }
            pushed += 1
            if block.isFull { send(&self) }
        }
    }

    private func uses(_ signal: TraceBlock.Signal) -> Bool {
        switch signal {
        case .raw: signals.contains(.raw)
        case .filtered: signals.contains(.filtered)
        case .rms: signals.contains(.rms)
        }
    }

    /// Forgets all samples; the next block says that there was a gap.
    mutating func reset(gap: Bool) {
        for k in decimators.indices { decimators[k].reset() }
        block.removeAll()
        pushed = 0
        flagPlace = 0
        wait = delay
        gapPending = gap
    }
}
