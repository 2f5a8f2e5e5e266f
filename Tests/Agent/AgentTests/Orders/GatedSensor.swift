import Commands
import Foundation
import Instruments
import Messages
import Platform
import Sensors
import Settings
import SignalProcessing
import TestSupport
import Values

@testable import Agent

/// A sensor of at least 100 Hz that gives a block of 16 samples when the test says so: at rest, or shaken from a sample on.
struct GatedSensor: SensorDriver {
    /// What the test holds of it.
    final class Gate: Sendable {
        private let blocks = DispatchSemaphore(value: 0)
        private let isOpen = Atomic<Bool>(false)
        private let shaken = Atomic<Bool>(false)
        /// Shaken by an earthquake rather than by a machine.
        let isQuake = Atomic<Bool>(false)
        /// The first sample alone.
        let isSpike = Atomic<Bool>(false)
        /// How many opens will fail.
        let missing = Atomic<Int>(0)
        private let plan = Mutex(Plan())
        struct Plan: Sendable {
            /// With this range it has this rate, whatever the settings say.
            var odd: (range: Double, rate: Double)?
            var selfTest: SelfTestReport?
            var blocksToTheEnd: Int?
        }

        func give(_ count: Int) { for _ in 0..<count { blocks.signal() } }
        func shake(_ on: Bool = true) { shaken.store(on, ordering: .relaxed) }
        func change(_ body: (inout Plan) -> Void) { plan.withLock { body(&$0) } }
        /// All blocks come from now on, so that a thread can end.
        func open() {
            isOpen.store(true, ordering: .relaxed)
            blocks.signal()
        }

        fileprivate var now: Plan { plan.withLock { $0 } }
        fileprivate var isShaken: Bool { shaken.load(ordering: .relaxed) }
        /// False at the end of a recording.
        fileprivate func wait() -> Bool {
            if !isOpen.load(ordering: .relaxed) { blocks.wait() } else { usleep(1000) }
            return plan.withLock { plan in
                guard let left = plan.blocksToTheEnd else { return true }
                plan.blocksToTheEnd = left - 1
                return left > 0
            }
        }
        fileprivate func takeMissing() -> Bool {
            guard missing.load(ordering: .relaxed) > 0 else { return false }
            missing.wrappingSubtract(1, ordering: .relaxed)
            return true
        }
    }

    let gate: Gate
    let settings: SensorConfiguration
    private var rate = 0.0
    private var time: Int64 = 1_700_000_000_000_000_000
    private var count = 0
    private var noise: UInt64 = 1
    /// Samples since the shaking began.
    private var since = 0

    init(_ gate: Gate, _ settings: SensorConfiguration) {
        self.gate = gate
        self.settings = settings
    }

    mutating func open() throws(SensorError) -> SensorDescription {
        if gate.takeMissing() { throw SensorError(.missing, "no such sensor") }
        rate = settings.rate
        if let odd = gate.now.odd, odd.range == settings.range { rate = odd.rate }
        return SensorDescription(driver: "gated", chip: "c", rate: rate, resolution: 1e-3, clock: .host)
    }

    mutating func read(into block: inout SampleBlock) throws(SensorError) -> ReadOutcome {
        block.removeAll()
        guard gate.wait() else { return .end }
        block.time = time
        time += Int64(16e9 / rate)
        let shaken = gate.isShaken
        let isQuake = gate.isQuake.load(ordering: .relaxed)
        let isSpike = gate.isSpike.load(ordering: .relaxed)
        for _ in 0..<16 {
            noise = noise &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let small = (Double(noise >> 40) / Double(1 << 24) - 0.5) * 2e-3
            since = shaken ? since + 1 : 0
            if shaken, isQuake {
                block.append(0.1 + small + quake(0), small + quake(1), 9.8 + small + quake(2))
            } else if isSpike {
                block.append(0.1 + small + (since == 1 ? 5 : 0), small, 9.8 + small)
            } else {
                let large = shaken ? sin(Double(count) * 0.3) : 0
                block.append(0.1 + small + large, small - large, 9.8 + small)
            }
            count += 1
        }
        return .samples
    }

    /// Several frequencies that grow within a second.
    private func quake(_ phase: Double) -> Double {
        let t = Double(since) / rate
        return [1.3, 2.7, 4.1].enumerated().reduce(0) {
            $0 + 0.5 * min(1, t) * sin(2 * .pi * $1.element * t + phase * Double($1.offset + 1))
        }
    }

    mutating func close() {}

    mutating func selfTest() throws(SensorError) -> SelfTestReport {
        guard let report = gate.now.selfTest else { throw SensorError(.unsupported, "this chip has no self-test") }
        return report
    }
}

/// A sampling thread with such a sensor, and all that it sends.
final class GatedThread {
    let gate = GatedSensor.Gate()
    let status: SamplingStatus
    let orders: OrderBook<SamplingWork>
    let collected = SamplingThreadTests.Collected()
    let ring = SegmentQueue(wake: nil)
    let configuration: Configuration
    private var number = 0
    private var outcomes: [(number: Int, outcome: OrderOutcome)] = []

    init(_ change: (inout Configuration) -> Void = { _ in }, gate prepare: (GatedSensor.Gate) -> Void = { _ in }) throws
    {
        var configuration = Configuration()
        configuration.station.id = "test"
        configuration.intensity.scales = [.worden12]
        configuration.spectrum.window = 2
        configuration.conditioning.settle = 0
        change(&configuration)
        self.configuration = configuration
        status = try SamplingStatus()
        orders = OrderBook(answered: nil, wake: status.wake)
        let gate = self.gate
        prepare(gate)
        let thread = SamplingThread(
            configuration: configuration, boot: "b", driver: GatedSensor(gate, configuration.sensor),
            choose: { GatedSensor(gate, $0) }, status: status, orders: orders, ring: ring, sink: collected.sink)
        try thread.start()
    }

    deinit {
        let status = self.status
        status.requestStop()
        gate.open()
        _ = eventually { status.now.finished }
    }

    /// Lets so many blocks come, and waits until they have gone through.
    func blocks(_ count: Int) -> Bool {
        let wanted = status.samples.load(ordering: .relaxed) + 16 * count
        gate.give(count)
        return eventually { self.status.samples.load(ordering: .relaxed) >= wanted }
    }

    func put(_ order: SamplingOrder) -> Int { put(.command(order)) }
    func put(_ step: SettingsStep) -> Int { put(.settings(step)) }

    private func put(_ work: SamplingWork) -> Int {
        number += 1
        _ = orders.put(work, number: number)
        return number
    }

    /// Prepares settings and has them put into force at the same border of a block.
    /// - Returns: the number of the latter order.
    func change(_ new: Configuration, revision: Int, reopens: Bool = false) -> Int {
        _ = put(.prepare(new, revision: revision, reopens: reopens))
        return put(.commit(nil))
    }

    /// The next outcome of an order that has not been asked for.
    func outcome(_ number: Int) -> OrderOutcome? {
        var found: OrderOutcome?
        _ = eventually {
            self.outcomes += self.orders.takeOutcomes()
            guard let i = self.outcomes.firstIndex(where: { $0.number == number }) else { return false }
            found = self.outcomes.remove(at: i).outcome
            return true
        }
        return found
    }

    /// Puts an order, lets a block come, and gives what became of it.
    func carryOut(_ order: SamplingOrder) -> OrderOutcome? { carriedOut(put(order)) }
    func carryOut(_ step: SettingsStep) -> OrderOutcome? { carriedOut(put(step)) }

    private func carriedOut(_ number: Int) -> OrderOutcome? {
        gate.give(1)
        return outcome(number)
    }

    var samples: Int { status.samples.load(ordering: .relaxed) }
    var gaps: Int { status.gaps.load(ordering: .relaxed) }
}

extension OrderOutcome {
    var done: Value? { if case .done(let value) = self { value } else { nil } }
    var began: Value? { if case .began(let value) = self { value } else { nil } }
    var error: CodedError? { if case .failed(let error) = self { error } else { nil } }
}
