import CMeasure
import Settings
import SignalProcessing
import Station

/// The chain in C with the settings of a configuration: only what the defaults use.
final class Chain {
    private let chain: OpaquePointer
    private let taps: UnsafeMutableBufferPointer<Double>
    private(set) var outputs = chain_outputs()

    /// What is written as text.
    enum Messages: Int32 { case none, all, summary }

    init(_ configuration: Configuration, sensor: StationSensor, messages: Messages) throws {
        let rate = sensor.rate
        func sections(_ filter: FilterSpecification?) throws -> [chain_section] {
            try (filter ?? .none).design(rate: rate).sections.map {
                chain_section(b0: $0.b0, b1: $0.b1, b2: $0.b2, a1: $0.a1, a2: $0.a2)
            }
        }
        func samples(_ seconds: Double) -> Int32 { Int32((seconds * rate).rounded()) }
        guard case .highpass(let corner, 2) = configuration.conditioning.offset,
            let settle = configuration.conditioning.settle
        else {
            throw Failure(description: "the chain in C is for the default offset removal and a known settling time")
        }
        let highpass = { (corner: Double) in
            try sections(.butterworth(.init(band: .highpass, corners: [corner], order: 2)))
        }
        let (axis, detection) = (configuration.axes.x, configuration.detection)
        let (filter, ratio) = (try sections(axis.filter), try sections(detection.staLTA.filter))
        let decimation = DecimationFilter(factor: Int((rate / configuration.trace.rate).rounded()))
        guard filter.count == 2, ratio.count == 2, decimation.stages.count == 1 else {
            throw Failure(description: "the chain in C is for band passes of order 2 and one stage of decimation")
        }
        taps = .allocate(capacity: decimation.stages[0].coefficients.count)
        _ = taps.initialize(from: decimation.stages[0].coefficients)
        var settings = chain_settings()
        (settings.rate, settings.interval, settings.full_scale) = (rate, 1 / rate, (sensor.range ?? 1e9) * 0.999)
        settings.offset = try highpass(corner)[0]
        settings.filter = (filter[0], filter[1])
        settings.ground = try highpass(0.075)[0]
        settings.ratio = (ratio[0], ratio[1])
        settings.window = Int32(axis.detection.window.samples(at: rate))
        settings.hold = Int32(axis.detection.hold.samples(at: rate))
        settings.threshold = axis.detection.threshold
        settings.sta_weight = 1 / Double(samples(detection.staLTA.sta))
        settings.lta_weight = 1 / Double(samples(detection.staLTA.lta))
        (settings.on, settings.off) = (detection.staLTA.on, detection.staLTA.off)
        let guarding = detection.staLTA.guard
        (settings.guard_axes, settings.guard_block) = (
            Int32(guarding.axes), Int32(max(1, (rate / 32).rounded(.toNearestOrEven)))
        )
        (settings.guard_ratio, settings.guard_clip, settings.guard_jump) = (
            guarding.ratio, guarding.clip, guarding.jump
        )
        settings.lta_samples = samples(detection.staLTA.lta)
        settings.settle = samples(settle)
        settings.buckets = Int32(configuration.intensity.window)
        settings.history = samples(detection.event.preEvent)
        settings.post_event = samples(detection.event.postEvent)
        settings.dead_time = samples(detection.event.deadTime)
        settings.factor = Int32(decimation.factor)
        settings.half = Int32(decimation.delay)
        settings.block = Int32((configuration.trace.block * rate).rounded()) / settings.factor
        settings.taps = UnsafePointer(taps.baseAddress)
        let least = axis.detection.threshold * Double(settings.window).squareRoot() / 4
        settings.spike_least = (least, least, least)
        settings.spike_mean = samples(1)
        settings.messages = messages.rawValue
        guard let chain = chain_new(&settings) else { throw Failure(description: "no memory") }
        self.chain = chain
    }

    deinit {
        chain_free(chain)
        taps.deallocate()
    }

    func process(_ block: borrowing SampleBlock) {
        _ = block.withPlanes { x, y, z, count in chain_process(chain, x, y, z, Int32(count), &outputs) }
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}
