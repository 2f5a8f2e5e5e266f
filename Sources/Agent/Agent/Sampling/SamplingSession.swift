import Instruments
import Sensors
import SignalProcessing

/// State of the sensor that the sampling thread reads, beside the pipeline's.
struct SamplingSession {
    let sensor: SensorDescription
    /// Samples per second: the true ones once they are known to be others.
    var rate: Double
    var block: SampleBlock
    var watch: SampleWatch
    /// No block has come since the sensor was opened.
    var isFirst = true
    /// Times by the monotonic clock (ns): the last block, and when to ask next how the sensor is.
    var lastTime: Int64 = 0
    var conditionDue: Int64 = 0

    /// - Parameter seconds: of samples that are read together.
    init(_ sensor: SensorDescription, block seconds: Double) {
        self.sensor = sensor
        rate = sensor.rate
        block = SampleBlock(capacity: SamplingThread.blockSize(rate: sensor.rate, seconds: seconds))
        watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
    }

    /// Time after the last sample of the block, ns of UTC.
    var end: Int64 { block.time + Int64(Double(block.count) * 1e9 / rate) }

    mutating func restartWatch() {
        watch = SampleWatch(rate: sensor.rate, range: sensor.range, resolution: sensor.resolution)
    }
}
