import Messages
import Sensors

/// Whether a sensor's FIFO runs over again and again. Once is a gap and nothing more: the machine was busy.
struct OverrunWatch {
    /// So many within this time (ns) of each other are an alert, which is over after that time without.
    private static let least = 3
    private static let time: Int64 = 60_000_000_000

    /// As the driver counted at the last look.
    private var counted = 0
    private var recent = 0
    private var last: Int64?
    /// Samples per second that the bus carries, as they are told: a number that wavers would be news all the time.
    private var told: Double?

    /// - Parameters:
    ///   - condition: nil while no sensor is open.
    ///   - rate: of the sensor, samples per second.
    ///   - now: of the monotonic clock.
    mutating func look(_ condition: SensorCondition?, rate: Double?, now: Int64) -> AlertBoard.Fault? {
        if let last, now - last > Self.time { (recent, self.last, told) = (0, nil, nil) }
        guard let condition, let rate else {
            counted = 0
            return recent >= Self.least ? fault(rate: rate ?? 0) : nil
        }
        // Opened anew it counts from zero.
        let new = condition.overruns >= counted ? condition.overruns - counted : condition.overruns
        counted = condition.overruns
        if new > 0 { (recent, last) = (recent + new, now) }
        guard recent >= Self.least else { return nil }
        if let carried = condition.busRate, told.map({ abs(carried / $0 - 1) > 0.2 }) ?? true { told = carried }
        return fault(rate: rate)
    }

    private func fault(rate: Double) -> AlertBoard.Fault {
        var details: [Value.Member] = [.init("overruns", .int(Int64(recent))), .init("rate_hz", .double(rate))]
        guard let told else {
            return ("the sensor's FIFO overflows and samples are lost: it is read too late", .object(details))
        }
        details.append(.init("bus_hz", .double(told.rounded())))
        let (carried, made) = (Int(told.rounded(.down)), Int(rate.rounded()))
        let rates = "the bus carries about \(carried) samples/s and the sensor makes \(made)"
        let remedy = told < rate ? "lower sensor.rate_hz, or raise the clock of the bus" : "the host reads it too late"
        return ("the sensor's FIFO overflows and samples are lost: \(rates); \(remedy)", .object(details))
    }
}
