import Messages
import Settings
import SignalProcessing

/// Brings the acceleration, without offset and gravity, to OpenEEW's rate and sends 32 values of each axis at a time, at
/// times that are the same for all stations. (An object: most stations have none.)
final class OpenEEWSender {
    private var message: OpenEEWMessage
    private var resampler: Resampler
    /// Nanoseconds from one sample to the next, and from the last to the one around which all is known.
    private let (period, lead): (Double, Int64)
    private var grid: TimeGrid?
    /// The next place of the grid.
    private var place = 0
    private var values = [Float](repeating: 0, count: 3 * OpenEEWMessage.count)
    private var count = 0

    /// Nil where it is not wanted.
    /// - Parameter rate: of the sensor (Hz).
    init?(_ configuration: Configuration, rate: Double) {
        let wanted = configuration.mqtt.openEEW
        guard wanted.enabled else { return nil }
        message = OpenEEWMessage(
            topic: wanted.topic, country: wanted.country, device: configuration.station.id)
        resampler = Resampler(ratio: rate / OpenEEWMessage.rate, chunk: 1)
        period = 1e9 / rate
        lead = Int64((Double(resampler.reach) * period).rounded())
    }

    /// Forgets all samples: what follows does not continue them.
    func reset() {
        resampler.reset()
        (grid, count) = (nil, 0)
    }

    /// Takes samples of the chunk.
    func take(_ planes: borrowing Planes, from start: Int, count samples: Int, to sink: PublicationSink) {
        let (signal, capacity) = (planes.offsetRemoved, Planes.capacity)
        for i in start..<start + samples {
            resampler.push(signal[i], signal[capacity + i], signal[2 * capacity + i])
            let centre = resampler.count - 1 - resampler.reach
            guard centre > 0 else { continue }
            let time = planes.times[i] - lead
            // (From a multiple of four seconds, which hold a whole number of values, so that all stations have one grid.)
            let grid = grid ?? TimeGrid(near: time - time % 4_000_000_000, rate: OpenEEWMessage.rate)
            if self.grid == nil { (self.grid, place) = (grid, grid.index(from: time)) }
            while grid.time(place) <= time {
                let back = min(1, Double(time - grid.time(place)) / period)
                add(resampler.value(at: centre - 1, 1 - back), grid.time(place), to: sink)
                place += 1
            }
        }
    }

    private func add(_ value: (x: Double, y: Double, z: Double), _ time: Int64, to sink: PublicationSink) {
        let most = OpenEEWMessage.count
        (values[count], values[most + count], values[2 * most + count]) = (
            Float(value.x), Float(value.y), Float(value.z)
        )
        count += 1
        guard count == most else { return }
        count = 0
        message.send(values, time: time, to: sink)
    }
}
