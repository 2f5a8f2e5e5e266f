import Seismology
import Settings
import SignalProcessing
import Station

/// All settings of a grid on one recording, sample by sample, with the agent's own filters, detectors and rule of
/// events.
final class Trials {
    private let configuration: Configuration
    private let rate: Double
    private var bands: [Band] = []
    private var windows: [Window] = []
    private var machines: [EventMachine]
    /// Samples without detection after a start or a gap, of each setting.
    private var settle: [Int]
    /// Onsets of each setting in seconds from the first sample.
    private(set) var onsets: [[Double]]
    /// Unbroken stretches of the recording in seconds.
    private(set) var stretches: [(begin: Double, end: Double)] = []
    private(set) var shaking: Shaking
    /// Seconds after a start or a gap until every setting can detect.
    let warmUp: Double

    private static let capacity = 1024
    private let on = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
    private let scratch = UnsafeMutablePointer<Double>.allocate(capacity: capacity)
    private let planes = UnsafeMutablePointer<Double>.allocate(capacity: 6 * capacity)

    /// STA/LTA settings with the same filter and signal.
    private struct Band {
        var filter: AxisFilter?
        var signals: [(signal: DetectorSignal, trials: [(index: Int, detectors: [STALTA], guarding: TriggerGuard?)])]

        mutating func add(_ index: Int, _ settings: DetectionConfiguration.STALTA, rate: Double) {
            let signal = settings.signal
            let detector = STALTA(STALTA.Settings(settings, rate: rate))
            let detectors = [STALTA](repeating: detector, count: signal == .each ? 3 : 1)
            let guarding = TriggerGuard.Settings(settings, rate: rate).map { TriggerGuard($0) }
            if let known = signals.firstIndex(where: { $0.signal == signal }) {
                signals[known].trials.append((index, detectors, guarding))
            } else {
                signals.append((signal, [(index, detectors, guarding)]))
            }
        }
    }
    /// Level settings with the same window.
    private struct Window {
        var rms: [SlidingRMS]
        var trials: [(index: Int, axes: DetectionConfiguration.Level.Axes, detectors: [LevelDetector])]
    }

    /// - Throws: what of the filters does not fit the rate.
    init(_ settings: [TuneSetting], _ configuration: Configuration, rate: Double) throws(FilterDesignError) {
        self.configuration = configuration
        self.rate = rate
        let event = configuration.detection.event
        func samples(_ seconds: Double) -> Int { Int((seconds * rate).rounded()) }
        machines = settings.map { _ in
            EventMachine(
                .init(
                    votes: 1, postEvent: samples(event.postEvent), maximum: samples(event.maximum),
                    deadTime: samples(event.deadTime)))
        }
        onsets = settings.map { _ in [] }
        shaking = try Shaking(rate: rate)
        var common = try OffsetRemoval(configuration.conditioning.offset, rate: rate).settlingTime
        for axis in 0..<3 {
            common = max(common, try configuration.axes[axis].filter.design(rate: rate).settlingTime(rate: rate))
        }
        settle = []
        var filters: [FilterSpecification?] = []
        var lengths: [WindowLength] = []
        var longest = 0.0
        for (index, setting) in settings.enumerated() {
            var own = common
            switch setting {
            case .ratio(let s):
                if !filters.contains(s.filter) {
                    filters.append(s.filter)
                    bands.append(Band(filter: try Self.filter(s.filter, rate), signals: []))
                }
                if let filter = s.filter { own = max(own, try filter.design(rate: rate).settlingTime(rate: rate)) }
                bands[filters.firstIndex(of: s.filter) ?? 0].add(index, s, rate: rate)
                longest = max(longest, s.lta)
            case .level(let axes, let s):
                let window = s.window.samples(at: rate)
                if !lengths.contains(s.window) {
                    lengths.append(s.window)
                    windows.append(
                        Window(rms: [SlidingRMS](repeating: SlidingRMS(window: window), count: 3), trials: []))
                }
                let detector = LevelDetector(threshold: s.threshold, hold: s.hold.samples(at: rate))
                windows[lengths.firstIndex(of: s.window) ?? 0].trials.append(
                    (index, axes, [LevelDetector](repeating: detector, count: 3)))
            }
            let seconds = configuration.conditioning.settle ?? max(1, own)
            settle.append(samples(seconds))
            longest = max(longest, seconds)
        }
        warmUp = longest
    }

    deinit {
        on.deallocate()
        scratch.deallocate()
        planes.deallocate()
    }

    private static func filter(_ own: FilterSpecification?, _ rate: Double) throws(FilterDesignError) -> AxisFilter? {
        guard let own else { return nil }
        let design = try own.design(rate: rate)
        return AxisFilter(design, design, design)
    }

    /// The next chunk of the pipeline's signals; `time` is that of its first sample, from the recording's first.
    func add(_ chunk: SeriesChunk, time: Double) {
        precondition(chunk.count <= Self.capacity)
        let starts = chunk.firstIndex == 0
        if starts { reset() }
        let index = Int64((time * rate).rounded())
        let end = time + Double(chunk.count) / rate
        if starts || stretches.isEmpty {
            stretches.append((time, end))
        } else {
            stretches[stretches.count - 1].end = end
        }
        shaking.add(
            chunk.offsetRemoved, stride: chunk.stride, count: chunk.count, time: time, rate: rate,
            startsStretch: starts)
        for b in bands.indices { run(&bands[b], chunk, index) }
        for w in windows.indices { run(&windows[w], chunk, index) }
    }

    private func reset() {
        for b in bands.indices {
            bands[b].filter?.reset()
            for s in bands[b].signals.indices {
                for t in bands[b].signals[s].trials.indices {
                    for d in bands[b].signals[s].trials[t].detectors.indices {
                        bands[b].signals[s].trials[t].detectors[d].reset()
                    }
                    bands[b].signals[s].trials[t].guarding?.reset()
                }
            }
        }
        for w in windows.indices {
            for axis in 0..<3 { windows[w].rms[axis].reset() }
            for t in windows[w].trials.indices {
                for axis in 0..<3 { windows[w].trials[t].detectors[axis].reset() }
            }
        }
    }

    private func run(_ band: inout Band, _ chunk: SeriesChunk, _ index: Int64) {
        let (count, capacity) = (chunk.count, Self.capacity)
        let (x, y, z) = (planes, planes + capacity, planes + 2 * capacity)
        let source = band.filter == nil ? chunk.filtered : chunk.offsetRemoved
        for axis in 0..<3 { (planes + axis * capacity).update(from: source + axis * chunk.stride, count: count) }
        band.filter?.process(x, y, z, count: count)
        for plane in [x, y, z] {
            for i in 0..<count { plane[i] *= plane[i] }
        }
        let vector = planes + 3 * capacity
        for s in band.signals.indices {
            let powers: [UnsafeMutablePointer<Double>]
            switch band.signals[s].signal {
            case .each: powers = [x, y, z]
            case .x: powers = [x]
            case .y: powers = [y]
            case .z: powers = [z]
            case .h:
                for i in 0..<count { vector[i] = x[i] + y[i] }
                powers = [vector]
            case .v3:
                for i in 0..<count { vector[i] = x[i] + y[i] + z[i] }
                powers = [vector]
            }
            for t in band.signals[s].trials.indices {
                on.update(repeating: 0, count: count)
                for (d, power) in powers.enumerated() {
                    scratch.update(from: power, count: count)
                    band.signals[s].trials[t].detectors[d].process(scratch, on, bit: 1, count: count)
                }
                band.signals[s].trials[t].guarding?.process(
                    power: planes, stride: capacity, raw: chunk.raw, rawStride: chunk.stride, on, count: count)
                judge(band.signals[s].trials[t].index, chunk, index)
            }
        }
    }

    private func run(_ window: inout Window, _ chunk: SeriesChunk, _ index: Int64) {
        let count = chunk.count
        for axis in 0..<3 {
            window.rms[axis].process(
                chunk.filtered + axis * chunk.stride, planes + axis * Self.capacity, count: count)
        }
        for t in window.trials.indices {
            for i in 0..<count {
                var bits: UInt8 = 0
                for axis in 0..<3 where window.trials[t].detectors[axis].step(planes[axis * Self.capacity + i]) {
                    bits |= 1 << axis
                }
                on[i] = window.trials[t].axes.holds(bits) ? 1 : 0
            }
            judge(window.trials[t].index, chunk, index)
        }
    }

    /// Events of a setting from where its detector is on.
    private func judge(_ trial: Int, _ chunk: SeriesChunk, _ index: Int64) {
        let first = min(chunk.count, max(0, settle[trial] - chunk.firstIndex))
        for i in 0..<first { on[i] = 0 }
        // Nothing happens to an idle machine while nothing is on.
        guard machines[trial].isActive || (first..<chunk.count).contains(where: { on[$0] != 0 }) else { return }
        for i in 0..<chunk.count {
            let now = index + Int64(i)
            if machines[trial].step(on: Int(on[i]), index: now) == .begin {
                onsets[trial].append(Double(now) / rate)
            }
        }
    }
}
