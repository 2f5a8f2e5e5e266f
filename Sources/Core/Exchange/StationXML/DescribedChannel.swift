import Messages
import MiniSEED
import SignalProcessing

/// One channel of a station: where its numbers come from and what they mean.
public struct DescribedChannel: Sendable, Equatable {
    public var source: SourceIdentifier
    /// Direction in which positive numbers point: degrees clockwise from true north, and down from the horizontal.
    public var azimuth: Double
    public var dip: Double
    /// Samples per second.
    public var rate: Double
    /// From the ground's acceleration to the numbers.
    public var stages: [ResponseStage]

    /// Counts for 1 m/s² of slow motion.
    public var sensitivity: Double {
        stages.reduce(1) { if case .sensor(let gain, _) = $1 { $0 * gain } else { $0 } }
    }
}

/// A stage of a channel's response.
public enum ResponseStage: Sendable, Equatable {
    /// The chip with its converter: counts per m/s², the same at all frequencies as far as its data sheet says.
    case sensor(gain: Double, rate: Double)
    /// A symmetric low pass with decimation, whose delay has been taken off the time; at the rate of its input.
    case decimation(DecimationStage, rate: Double)
    /// A recursive low pass with decimation; of its delay in samples, that of low frequencies has been taken off the time.
    case recursive([Section], factor: Int, delay: Double, rate: Double)
}

extension DescribedStation {
    /// The channels of raw acceleration: of the waveforms at the full rate, and of the traces where they have another rate.
    ///
    /// (Traces at the sensor's own rate have the names of the waveforms, so that only one of both can be described.)
    public var channels: [DescribedChannel] {
        let full = acceleration(rate: rate, stages: [.sensor(gain: 1 / unitPerCount, rate: rate)])
        guard let trace, rate > 0 else { return full }
        let factor = trace.factor(at: rate)
        guard factor > 1 else { return full }
        let filter = DecimationFilter(factor: factor, phase: trace.filter)
        var stages = [ResponseStage.sensor(gain: 1 / CountScale().unitPerCount, rate: rate)]
        var reached = rate
        for stage in filter.stages {
            stages.append(.decimation(stage, rate: reached))
            reached /= Double(stage.factor)
        }
        if !filter.sections.isEmpty {
            stages.append(
                .recursive(filter.sections, factor: factor, delay: Double(filter.delay) + filter.fraction, rate: rate))
        }
        return full + acceleration(rate: rate / Double(factor), stages: stages)
    }

    private func acceleration(rate: Double, stages: [ResponseStage]) -> [DescribedChannel] {
        let codes = codes
        // Of x, y and z, with z up.
        return [(north + 90, 0.0), (north, 0), (0, -90)].enumerated().map { axis, place in
            let turned = place.0.truncatingRemainder(dividingBy: 360)
            return DescribedChannel(
                source: codes.source(.acceleration, axis: axis, rate: rate),
                azimuth: turned < 0 ? turned + 360 : turned,
                dip: place.1, rate: rate, stages: stages)
        }
    }
}
