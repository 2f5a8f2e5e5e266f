import Instruments
import MiniSEED
import SignalProcessing

/// A sensor without hardware: test signals and scenarios, paced like a real one.
public struct SimulateSensor: SensorDriver, Sendable {
    fileprivate struct Session: Sendable {
        var source: ScenarioSource
        var timeline: SampleTimeline
        var pacer: Pacer
        var delivered = 0
    }

    private let settings: SensorConfiguration
    private let speed: Double
    private let clock: any SensorClock
    private var session: Session?
    private var simulate: SimulateSettings { settings.simulate }

    /// - Parameters:
    ///   - speed: times real time; 0 is as fast as possible.
    ///   - clock: its wall time at `open` is the time of the first sample.
    public init(
        _ settings: SensorConfiguration, speed: Double = 1, clock: any SensorClock = SystemSensorClock()
    ) {
        self.settings = settings
        self.speed = speed
        self.clock = clock
    }

    public mutating func open() throws(SensorError) -> SensorDescription {
        close()
        try check()
        session = Session(
            source: ScenarioSource(settings.simulate, rate: settings.rate, range: settings.range),
            timeline: SampleTimeline(start: clock.wall(), rate: settings.rate),
            pacer: Pacer(clock: clock, rate: settings.rate, speed: speed))
        return SensorDescription(
            driver: "simulate", chip: simulate.scenario.rawValue, rate: settings.rate, range: settings.range,
            clock: .host)
    }

    public mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard session != nil else { throw SensorError(.fault, "the simulated sensor is not open") }
        session?.fill(&block)
        return .samples
    }

    public mutating func close() { session = nil }

    /// Its samples come by the host's clock itself.
    public var condition: SensorCondition {
        var condition = SensorCondition()
        if session != nil { condition.rate = MeasuredRate(rate: settings.rate, uncertainty: 0) }
        return condition
    }

    /// Settings that make no signal.
    private func check() throws(SensorError) {
        func require(_ good: Bool, _ name: String, _ value: Double, _ allowed: String) throws(SensorError) {
            guard good else { throw SensorError(.fault, "simulate: \(name) \(value): allowed are \(allowed)") }
        }
        let rate = settings.rate
        try require(rate >= 1 && rate <= 100_000, "rate", rate, "1 to 100000 Hz")
        try require(simulate.noise >= 0 && simulate.noise.isFinite, "noise", simulate.noise, "0 m/s² and more")
        try require(settings.range > 0, "range", settings.range, "more than 0 m/s²")
        try require(simulate.amplitude.isFinite, "amplitude", simulate.amplitude, "finite numbers")
        if simulate.scenario == .sine {
            let frequency = simulate.frequency
            try require(
                frequency > 0 && frequency < rate / 2, "frequency", frequency, "more than 0, below half the rate")
        }
    }
}

extension SimulateSensor.Session {
    fileprivate mutating func fill(_ block: inout SampleBlock) {
        block.time = timeline.time(of: delivered)
        block.gapBefore = delivered == 0
        var source = self.source
        block.withPlanes(count: block.capacity) { x, y, z, count in
            for index in 0..<count { (x[index], y[index], z[index]) = source.next() }
        }
        self.source = source
        delivered += block.count
        pacer.wait(samples: delivered)
    }
}
