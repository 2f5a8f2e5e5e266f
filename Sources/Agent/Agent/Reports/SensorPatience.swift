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
