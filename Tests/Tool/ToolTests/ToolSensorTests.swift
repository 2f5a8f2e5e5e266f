import Foundation
import TestSupport
import Testing

/// Whether an agent stands in the tool's way.
@Suite struct ToolSensorTests {
    private static let selfTest = ["selftest", "--set", "sensor.driver=i2c", "--set", "sensor.i2c.bus=250"]

    /// Any process called seismoted counted as having the sensor; the unit that was named does not exist.
    @Test func onlyAnAgentWithASensorIsInTheWay() throws {
        let broker = try Broker()
        let agent = try AgentProcess(
            settings: """
                station: {id: simulated}
                sensor: {driver: simulate}
                mqtt: {uri: "mqtt://127.0.0.1:\(broker.port)"}
                """)
        #expect(eventually(within: 20) { agent.child.errors.contains("simulate") }, "\(agent.child.errors)")
        let free = try Tool(Self.selfTest)
        #expect(free.status == 69 && !free.errors.contains("is using the sensor"), "\(free.errors)")
        _ = agent

        // Another program of that name, with a file of an IIO device's name open.
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seismote-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (program, device) = (
            folder.appendingPathComponent("seismoted"), folder.appendingPathComponent("iio:device0")
        )
        try FileManager.default.copyItem(atPath: "/bin/sleep", toPath: program.path)
        try Data().write(to: device)
        let holder = try ChildProcess("/bin/sh", ["-c", "exec '\(program.path)' 60 <'\(device.path)'"])
        defer { holder.signal(SIGKILL) }
        #expect(eventually(within: 20) { (try? Tool(Self.selfTest))?.errors.contains("is using the sensor") == true })
        let held = try Tool(Self.selfTest)
        #expect(
            held.status == 69 && held.errors.hasSuffix("is using the sensor; stop it with: systemctl stop seismote\n"))
    }
}
