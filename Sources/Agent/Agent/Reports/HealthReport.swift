import Instruments
import MQTT
import Messages
import Platform
import Sensors

/// Gathers `state/health` from what the threads say of themselves.
struct HealthReport {
    private let start: Int64
    private var lastCPU: (time: Int64, seconds: Double)

    /// - Parameter now: of the monotonic clock (ns).
    init(now: Int64) {
        start = now
        lastCPU = (now, HostStatus.cpuSeconds())
    }

    /// State of the sensor as the interface names it. The end of a recording is a stall that is no fault.
    /// - Parameter stallTime: nanoseconds without a block that are too long.
    static func sensorState(_ status: SamplingStatus, now: Int64, stallTime: Int64) -> HealthMessage.SensorState {
        let words = status.now
        if words.ended { return .stalled }
        switch words.problem {
        case .sensor(let error): return error.code == .missing || error.code == .permission ? .missing : .fault
        case .settings: return .fault
        case nil: break
        }
        guard words.sensor != nil else { return .missing }
        if now - status.lastBlock.load(ordering: .relaxed) > stallTime { return .stalled }
        if !words.faults.faults.isDisjoint(with: [.stuck, .implausible]) { return .fault }
        return status.settling.load(ordering: .relaxed) ? .settling : .ok
    }

    /// One message; lateness and processor time start anew with each.
    /// - Parameter now: of the monotonic clock (ns).
    mutating func message(
        _ status: SamplingStatus, _ link: LinkStatistics, _ stored: StorageStatus.Words,
        sensor: HealthMessage.SensorState, time: TimeQuality, alerts: [String], now: Int64
    ) -> HealthMessage {
        var health = HealthMessage(sensor: sensor, time: time)
        health.samples = status.samples.load(ordering: .relaxed)
        health.gaps = status.gaps.load(ordering: .relaxed)
        health.lostSamples = status.lostSamples.load(ordering: .relaxed)
        health.clipped = status.clippedSamples.load(ordering: .relaxed)
        take(status.condition, of: status.now.sensor, into: &health)
        health.loopLateMs = Double(status.worstLateness.exchange(0, ordering: .relaxed)) / 1e6
        let cpu = HostStatus.cpuSeconds()
        let elapsed = Double(now - lastCPU.time) / 1e9
        if elapsed > 0.1 {
            health.cpuPercent = ((cpu - lastCPU.seconds) / elapsed * 100_000).rounded() / 1000
            lastCPU = (now, cpu)
        }
        health.rssBytes = HostStatus.residentBytes()
        health.hostTemperature = Self.hostTemperature()
        health.uptime = (Double(now - start) / 1e6).rounded() / 1e3
        health.outbox = Self.outbox(link, stored)
        health.mqtt.connects = Int(clamping: link.connects)
        health.mqtt.published = Int(clamping: link.published)
        health.mqtt.acked = Int(clamping: link.acked)
        health.mqtt.replaced = Int(clamping: link.replaced)
        health.mqtt.refused = Self.refusals(link)
        health.alerts = alerts
        return health
    }

    /// The highest of the kernel's thermal zones in °C. Zones that are off give nothing, some give what cannot be.
    static func hostTemperature(below folder: String = "/sys/class/thermal") -> Double? {
        let zones = (0..<8).compactMap { zone in
            Int((SmallFile.text("\(folder)/thermal_zone\(zone)/temp", limit: 4096) ?? "").prefix { $0 != "\n" })
        }
        return zones.filter { abs($0) < 150_000 }.max().map { Double($0) / 1000 }
    }

    /// Messages waiting in memory and on disk; one that is in both counts once.
    private static func outbox(_ link: LinkStatistics, _ stored: StorageStatus.Words) -> HealthMessage.Outbox {
        var outbox = HealthMessage.Outbox()
        let disk = stored.statistics
        outbox.messages = waiting(link, stored)
        outbox.bytes = link.queueBytes + max(0, disk.bytes.total - stored.bytesInMemory)
        let oldest = disk.oldestMade.map { Double(max(0, HostClock.wall() - $0)) / 1e9 } ?? 0
        outbox.oldest = (max(link.oldest, oldest) * 1000).rounded() / 1000
        outbox.dropped = link.dropped + disk.dropped
        (outbox.deletedForAge, outbox.deletedForRoom) = (disk.deletedForAge, disk.deletedForRoom)
        return outbox
    }

    /// Number of messages that wait.
    static func waiting(_ link: LinkStatistics, _ stored: StorageStatus.Words) -> Int {
        link.queueMessages + max(0, stored.statistics.messages.total - stored.inMemory)
    }

    /// By the broker's reason, and what is refused before it gets there.
    private static func refusals(_ link: LinkStatistics) -> [NamedCount] {
        var refused = link.refused.map { NamedCount("\($0.reason)", Int(clamping: $0.count)) }
        if link.tooLarge > 0 { refused.append(.init("too_large", Int(clamping: link.tooLarge))) }
        if link.abandoned > 0 { refused.append(.init("connection_broken", Int(clamping: link.abandoned))) }
        return refused
    }

    /// Copies the driver's measurements and counters.
    private func take(_ condition: SensorCondition?, of sensor: SensorDescription?, into health: inout HealthMessage) {
        guard let condition, let sensor else { return }
        if let rate = condition.rate {
            health.rate = rate.rate
            health.rateErrorPpm = (rate.rate / sensor.rate - 1) * 1e6
            health.rateUncertaintyPpm = rate.uncertainty / rate.rate * 1e6
        }
        health.temperature = condition.temperature
        if sensor.isHardware { health.driver = condition }
    }
}

extension SensorDescription {
    /// Whether there is a chip behind it.
    var isHardware: Bool { driver != "simulate" && driver != "replay" }
}

/// Whether it is too early to complain of a sensor. Pure.
enum SensorPatience {
    /// An agent that begins so soon after the machine, nanoseconds, was started by the boot.
    private static let bootTime: Int64 = 120_000_000_000
    /// Nanoseconds that such an agent gives its first sensor to come. (Not from the start of the machine: a slow board may
    /// come to its services only after half a minute.)
    private static let patience: Int64 = 30_000_000_000

    /// Whether there is a sensor. One that was just opened still has with it what was wrong before, until its first block
    /// has come: that is neither an alert nor the end of the wait.
    static func hasSensor(_ words: SamplingStatus.Words) -> Bool { words.sensor != nil && words.problem == nil }

    /// Whether it is too early for an alert. At boot the agent may come before udev has made the device's file or given it
    /// to its group: then it waits for its first sensor quietly.
    /// - Parameters:
    ///   - hadSensor: there has been one since the agent was started.
    ///   - begun: when the agent began, ns since the start of the machine.
    ///   - sinceBoot: now, ns since the start of the machine.
    static func waits(
        _ problem: SamplingStatus.Problem?, hadSensor: Bool, begun: Int64, sinceBoot: Int64
    ) -> Bool {
        guard !hadSensor, begun < bootTime, sinceBoot - begun < patience, case .sensor(let error) = problem else {
            return false
        }
        return error.code == .permission || error.code == .missing
    }
}
