import Foundation
import Messages
import Platform
import TestSupport

@testable import MQTT

/// A link to a real broker, as an agent would have it, that remembers what was reported.
final class RealLink: Sendable {
    let link: Link
    /// As it was made.
    let options: LinkOptions
    private let heard: Reports
    private final class Reports: Sendable {
        let all = Mutex<[LinkEvent]>([])
        let messages = Mutex<[InboundMessage]>([])
    }

    init(
        port: Int, id: String = "board", tls: Bool = false, _ change: (inout LinkOptions) -> Void = { _ in }
    ) throws {
        var options = LinkOptions(
            brokers: [BrokerAddress(host: "127.0.0.1", port: port, tls: tls)], clientID: id,
            presence: .init(topic: "seismote/\(id)/state/online"))
        options.connection.mqtt.protocolVersion = .v5
        options.connection.mqtt.willDelay = 0
        options.connection.mqtt.keepalive = 5
        options.connection.mqtt.reconnectMinimum = 0.1
        options.connection.mqtt.reconnectMaximum = 0.5
        options.stateOrder = ["online", "info", "config", "config/schema", "summary", "health"].map {
            "seismote/\(id)/state/\($0)"
        }
        change(&options)
        self.options = options
        let reports = Reports()
        heard = reports
        link = try Link(
            options: options, report: { event in reports.all.withLock { $0.append(event) } },
            receive: { message in reports.messages.withLock { $0.append(message) } })
        try link.start()
    }

    deinit { _ = link.stop(within: 1) }

    var reports: [LinkEvent] { heard.all.withLock { $0 } }
    var received: [InboundMessage] { heard.messages.withLock { $0 } }
    var attempts: Int { reports.count { if case .connecting = $0 { true } else { false } } }

    func publish(
        _ topic: String, _ text: String, qos: Int = 1, retain: Bool = false, expiry: UInt32? = nil,
        _ priority: Priority = .trace
    ) {
        let header = PublicationHeader(topic: topic, qos: qos, retain: retain, expiry: expiry, priority: priority)
        Array(text.utf8).withUnsafeBytes { link.publish(header, $0) }
    }

    /// Goes on with the options of the beginning and these differences.
    @discardableResult func change(_ change: (inout LinkOptions) -> Void = { _ in }) throws -> UInt64 {
        var options = self.options
        change(&options)
        return try link.change(to: options)
    }

    func connected(within seconds: Double = 15) -> Bool { eventually(within: seconds) { link.statistics.connected } }
    func disconnected(within seconds: Double = 15) -> Bool {
        eventually(within: seconds) { !link.statistics.connected }
    }
    func acked(_ count: UInt64, within seconds: Double = 45) -> Bool {
        eventually(within: seconds) { link.statistics.acked >= count }
    }
}

/// Processor time of this process's thread of a name, in seconds, summed over all such threads.
func cpuSeconds(ofThreadsNamed name: String) -> Double {
    var total = 0.0
    for thread in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? [] {
        guard let text = try? String(contentsOfFile: "/proc/self/task/\(thread)/stat", encoding: .utf8),
            let start = text.firstIndex(of: "("), let end = text.lastIndex(of: ")"),
            text[text.index(after: start)..<end] == name
        else { continue }
        let fields = text[text.index(after: end)...].split(separator: " ")
        guard fields.count > 13, let user = Double(fields[11]), let system = Double(fields[12]) else { continue }
        total += (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }
    return total
}

/// What the link's threads do from now on: a loop that spins takes all the time there is.
struct LinkEffort {
    private let before = cpuSeconds(ofThreadsNamed: "link")
    private let start = ContinuousClock.now

    /// Processor time in seconds.
    var used: Double { cpuSeconds(ofThreadsNamed: "link") - before }

    /// Less than so many seconds, or than a third of the time that has passed: on a machine that is busy, or emulated, all
    /// takes longer.
    func isBelow(_ seconds: Double) -> Bool {
        let elapsed = (ContinuousClock.now - start).components
        return used < max(seconds, Double(elapsed.seconds) / 3)
    }
}
