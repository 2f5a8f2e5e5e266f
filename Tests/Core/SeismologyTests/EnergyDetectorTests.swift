import SignalProcessing
import Testing

@testable import Seismology

@Suite struct EnergyDetectorTests {
    private static let rate = 100.0

    private func settings(_ change: (inout DetectionConfiguration.Energy) -> Void = { _ in })
        -> DetectionConfiguration.Energy
    {
        var settings = DetectionConfiguration.Energy()
        (settings.enabled, settings.window, settings.average, settings.threshold) = (true, 0.5, 3, 6)
        change(&settings)
        return settings
    }

    /// Noise of three axes with a burst from sample 900 on, each axis with another share of it.
    private static let samples: [[Double]] = {
        var state: UInt64 = 5
        return (0..<3).map { axis in
            (0..<1500).map { i in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                let noise = (Double(state >> 40) / Double(1 << 24) - 0.5) * 0.01
                return noise * (i >= 900 && i < 1100 ? 6 - 2.5 * Double(axis) : 1)
            }
        }
    }()

    private struct Run: Equatable {
        var ratios: [[Double]]
        var axes: [UInt8] = []
        var on: [UInt8] = []
        var readings: [Double] = []
    }

    /// The samples through a bank with this detector alone, cut into pieces.
    private func run(
        _ settings: DetectionConfiguration.Energy, _ samples: [[Double]] = samples, cuts: [Int] = [128],
        changed: DetectionConfiguration.Energy? = nil, at change: Int = .max
    ) throws -> Run {
        func bank(_ settings: DetectionConfiguration.Energy) throws -> DetectorBank {
            var detection = DetectionConfiguration()
            detection.disableAll()
            detection.energy = settings
            return try DetectorBank(detection, DetectorContext(rate: Self.rate, thresholds: (1, 1, 1)))
        }
        let (capacity, number) = (1500, DetectionConfiguration.names.firstIndex(of: "energy") ?? 0)
        let signals = UnsafeMutablePointer<Double>.allocate(capacity: 3 * capacity)
        let values = UnsafeMutablePointer<Double>.allocate(capacity: (1 + DetectorBank.count) * 3 * capacity)
        values.initialize(repeating: 0, count: (1 + DetectorBank.count) * 3 * capacity)
        let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: (4 + DetectorBank.count) * capacity)
        bytes.initialize(repeating: 0, count: (4 + DetectorBank.count) * capacity)
        let off = DetectorReading(axes: 0, value: 0, threshold: 0)
        let readings = UnsafeMutablePointer<DetectorReading>.allocate(capacity: DetectorBank.count)
        readings.initialize(repeating: off, count: DetectorBank.count)
        defer {
            signals.deallocate()
            values.deallocate()
            bytes.deallocate()
            readings.deallocate()
        }
        let memory = DetectorMemory(
            on: bytes, axes: bytes + capacity, values: values + 3 * capacity, stride: capacity)
        var detectors = try bank(settings)
        var found = Run(ratios: [[], [], []])
        var (start, turn) = (0, 0)
        while start < samples[0].count {
            if let changed, start == change {
                var next = try bank(changed)
                next.takeOver(detectors, inputGoesOn: true)
                detectors = next
            }
            let limit = start < change ? min(samples[0].count, change) : samples[0].count
            let count = min(cuts[turn % cuts.count], limit - start)
            for axis in 0..<3 { for i in 0..<count { signals[axis * capacity + i] = samples[axis][start + i] } }
            detectors.process(
                DetectorChunk(
                    count: count, stride: capacity, raw: signals, offsetRemoved: signals, filtered: signals,
                    rms: signals, triggered: bytes + (1 + DetectorBank.count) * capacity, scratch: values,
                    validFrom: 0, axisValidFrom: (0, 0, 0)), memory)
            for i in 0..<count {
                for axis in 0..<3 { found.ratios[axis].append(memory.values[(3 * number + axis) * capacity + i]) }
                found.axes.append(memory.axes[number * capacity + i])
                found.on.append(memory.on[i] >> UInt8(number))
                guard memory.on[i] != 0 else { continue }
                detectors.read(memory, at: i, into: readings)
                found.readings.append(readings[number].value)
            }
            start += count
            turn += 1
        }
        return found
    }

    /// The same by the plain formula, from the filtered samples.
    private func plain(_ power: [Double], window: Int, average: Int) -> [Double] {
        power.indices.map { i in
            guard i + 1 >= window + average else { return 0 }
            let energy = power[(i + 1 - window)...i].reduce(0, +)
            let before = power[(i + 1 - window - average)..<(i + 1 - window)].reduce(0, +)
            return (energy / Double(window)) / (before / Double(average))
        }
    }

    private func filtered(_ specification: FilterSpecification) throws -> [[Double]] {
        let design = try specification.design(rate: Self.rate)
        var filter = AxisFilter(design, design, design)
        var (x, y, z) = (Self.samples[0], Self.samples[1], Self.samples[2])
        x.withUnsafeMutableBufferPointer { x in
            y.withUnsafeMutableBufferPointer { y in
                z.withUnsafeMutableBufferPointer { z in
                    guard let x = x.baseAddress, let y = y.baseAddress, let z = z.baseAddress else { return }
                    filter.process(x, y, z, count: 1500)
                }
            }
        }
        return [x, y, z]
    }

    @Test(arguments: DetectorSignal.allCases) func agreesWithThePlainFormula(signal: DetectorSignal) throws {
        let settings = settings { $0.signal = signal }
        let found = try run(settings)
        let motion = try filtered(try #require(settings.filter))
        func power(_ axes: [Int]) -> [Double] {
            (0..<1500).map { i in axes.reduce(0) { $0 + motion[$1][i] * motion[$1][i] } }
        }
        let signals: [[Int]] =
            switch signal {
            case .each: [[0], [1], [2]]
            case .x: [[0]]
            case .y: [[1]]
            case .z: [[2]]
            case .h: [[0, 1]]
            case .v3: [[0, 1, 2]]
            }
        var largest = [Double](repeating: 0, count: 1500)
        for (plane, axes) in signals.enumerated() {
            let wanted = plain(power(axes), window: 50, average: 300)
            #expect(zip(found.ratios[plane], wanted).allSatisfy { abs($0 - $1) <= 1e-12 * max(1, $1) })
            #expect(found.ratios[plane][..<349].allSatisfy { $0 == 0 } && found.ratios[plane][349] > 0)
            largest = zip(largest, wanted).map { max($0, $1) }
        }
        #expect(found.on == largest.map { $0 >= 6 ? 1 : 0 })
        #expect(zip(found.readings, largest.filter { $0 >= 6 }).allSatisfy { abs($0 - $1) <= 1e-12 * $1 })
        // The axis with a sixth of the burst's amplitude is never on by itself.
        #expect(found.on.contains(1) == (signal != .z))
        if signal == .each { #expect(Set(found.axes) == [0, 1, 2, 3]) }
    }

    @Test(arguments: [DetectorSignal.each, .v3], [nil, FilterSpecification.none])
    func anyCutGivesTheSameBits(signal: DetectorSignal, filter: FilterSpecification?) throws {
        let settings = settings { ($0.signal, $0.filter) = (signal, filter) }
        let whole = try run(settings, cuts: [1500])
        for cuts in [[1], [128], [3, 4], [3, 1, 3], [1, 127, 500, 2, 49, 50, 51]] {
            #expect(try run(settings, cuts: cuts) == whole, "\(cuts)")
        }
        #expect(whole.on.contains(1) && whole.on.contains(0))
    }

    @Test func goesOnWithAnotherThresholdAndBeginsAnewWithOtherLengths() throws {
        let plain = try run(settings())
        let threshold = try run(settings(), changed: settings { $0.threshold = 9 }, at: 700)
        #expect(threshold.ratios == plain.ratios && threshold.on != plain.on)
        let length = try run(settings(), changed: settings { $0.average = 2 }, at: 700)
        #expect(length.ratios[0][700..<949].allSatisfy { $0 == 0 } && length.ratios[0][949] > 0)
    }

    @Test func silenceHasNoRatio() throws {
        let silence = [[Double]](repeating: [Double](repeating: 0, count: 1000), count: 3)
        let found = try run(settings(), silence)
        #expect(found.ratios[0].allSatisfy { $0 == 0 } && !found.on.contains(1))
    }

    @Test func anAverageShorterThanTheWindowIsAProblem() {
        #expect(settings { $0.average = 0.4 }.problems.map(\.key) == ["average_s"])
        #expect(settings { $0.average = 0.5 }.problems.isEmpty)
    }
}
